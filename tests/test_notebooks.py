"""Scenarios, intervals and estimates in a notebook; a sweep as labelled arrays."""

from __future__ import annotations

import math
from html.parser import HTMLParser

import pytest

import fourhop
from fourhop.errors import FourhopError
from fourhop.stats import Interval
from fourhop.study.estimate import Sample
from fourhop.sweeps.result import SweepResult


class Tags(HTMLParser):
    """Checks that every opened tag is closed; collects the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        self.tags.add(tag)
        if tag not in ("br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "br":
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, _attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_scenario_shows_its_network_and_every_key() -> None:
    scenario = fourhop.Scenario.chain(hops=3, name="a <b> chain")
    shown = Tags(scenario._repr_html_())
    assert {"img", "pre"} <= shown.tags
    assert "b" not in shown.tags
    assert "a <b> chain, chain, 1 flow (newreno), 100s, profile ns2" in shown.text
    assert "4 nodes, 3 links, 1 flow; seed 1" in shown.text
    assert "hops = 3" in shown.text
    large = fourhop.Scenario.random(nodes=400, width="2km", height="2km", pairs=1)
    assert "img" not in Tags(large._repr_html_()).tags


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(0.2013, 0.00818, 5, "replications"), "0.2013 ± 0.0082, 95 % interval [0.1931, 0.2095] over 5 runs"),
        (
            Interval(123456.7, 2345.6, 10, "batch means"),
            "123457 ± 2346, 95 % interval [121111, 125802] over 10 batches",
        ),
        (Interval(5.0, 0.0, 3, "replications"), "5.000 ± 0.000, 95 % interval [5.000, 5.000] over 3 runs"),
        (Interval(7.25, None, 1, "none"), "7.25 (no interval: 1 value)"),
        (Interval(math.nan, None, 2, "none"), "nan (no interval: 2 values)"),
    ],
)
def test_an_interval_shows_the_digits_that_it_supports(interval: Interval, text: str) -> None:
    assert Tags(interval._repr_html_()).text == text


def test_an_estimate_says_how_its_interval_was_made() -> None:
    slow, fast = Sample((10.0, 12.0, 14.0), (1, 2, 3), "kbit/s"), Sample((20.0, 24.0, 28.0), (1, 2, 3), "kbit/s")
    shown = Tags((fast - slow)._repr_html_()).text
    assert shown.startswith("12 [7.03, 17] kbit/s 95 % interval, ")
    assert "paired" in shown


@pytest.fixture(scope="module")
def swept() -> SweepResult:
    base = fourhop.Scenario.parallel_chains(hops=1, duration="2s")
    return fourhop.sweep(base, {"transport": ["tcp-ap", "newreno"], "topology.hops": [2, 1]}, runs=2)


def test_a_sweep_is_a_dataset_with_an_axis_for_each_key(swept: SweepResult) -> None:
    pytest.importorskip("xarray", reason="the extra `dev` is not installed")
    runs = swept.xarray()
    assert dict(runs.sizes) == {"transport": 2, "topology.hops": 2, "seed": 2}
    assert runs["transport"].values.tolist() == ["tcp-ap", "newreno"], "in the order of the sweep"
    assert runs["topology.hops"].values.tolist() == [2, 1]
    for row in swept.runs.iter_rows(named=True):
        place = {key: row[key] for key in ("transport", "topology.hops", "seed")}
        assert float(runs["aggregate_goodput_bps"].sel(place)) == row["aggregate_goodput_bps"]
    assert runs["aggregate_goodput_bps"].attrs["units"] == "bit/s"
    flows = swept.xarray("flows")
    assert dict(flows.sizes) == {"transport": 2, "topology.hops": 2, "seed": 2, "flow": 2}
    assert flows["rtt_mean_s"].attrs["units"] == "s"
    summary = swept.xarray("summary")
    assert dict(summary.sizes) == {"transport": 2, "topology.hops": 2}
    assert summary["aggregate_goodput_bps_half_width"].attrs["units"] == "bit/s"
    with pytest.raises(
        FourhopError, match="table: found 'drops', allowed: runs, flows, batches, summary, flow_summary"
    ):
        swept.xarray("drops")  # type: ignore[arg-type]


def test_points_that_were_not_run_are_no_numbers_and_one_point_has_no_axes() -> None:
    pytest.importorskip("xarray", reason="the extra `dev` is not installed")
    base = fourhop.Scenario.chain(hops=1, duration="2s")
    together = fourhop.sweep(
        fourhop.Sweep(base, zipped={"transport": ["newreno", "vegas"], "topology.hops": [1, 2]}, runs=1)
    )
    goodput = together.xarray()["aggregate_goodput_bps"]
    assert goodput.isnull().sum() == 2, "of four combinations two were run"
    single = fourhop.sweep(fourhop.Sweep(base, runs=2)).xarray("summary")
    assert dict(single.sizes) == {}
    assert float(single["aggregate_goodput_bps_mean"]) > 0.0
