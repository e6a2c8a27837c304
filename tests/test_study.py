"""Studies from the file to the verdict, with networks small enough for a test."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgba
from matplotlib.markers import CARETDOWN, CARETUP

import fourhop
from fourhop import Scenario
from fourhop.errors import FourhopError
from fourhop.study import (
    STEADY,
    Cells,
    Chart,
    Claim,
    Data,
    Sample,
    Study,
    Variants,
    above,
    bars,
    curves,
    draw,
    execute,
    find,
    groups,
    lines,
    series,
    shares,
    table,
    table_by,
)
from fourhop.study.chart import Line
from fourhop.study.drawing import describe
from fourhop.sweeps.describe import Sweep
from fourhop.sweeps.result import SweepResult
from tests.conftest import ROOT, Command, environment
from tests.test_sweep_runs import kept

TINY = '''\
"""One and two hops."""

from fourhop import Scenario, Sweep
from fourhop.study import Chart, Claim, Data, Profile, Study, about, above, lines

study = Study("Tiny", source="nowhere, figure 1", assumed=["Everything <b>."])


@study.sweep
def chain(profile: Profile) -> Sweep:
    base = Scenario.chain(hops=1, profile=profile, duration="4s", warmup="1s", sample_every="1s")
    return Sweep(base, {"topology.hops": [1, 2]}, runs=3)


@study.chart
def goodput(data: Data) -> Chart:
    """Goodput, with intervals."""
    return lines(data.chain, x="hops")


@study.check("One hop carries more than two", paper="about twice as much")
def more(data: Data) -> Claim:
    return above(data.chain.goodput(hops=1) / data.chain.goodput(hops=2), 1.2)


@study.check(
    "Two hops carry nothing", paper="nothing", why={"standard": "because they do"}, because={"ns2": "something"}
)
def nothing(data: Data) -> Claim:
    return about(data.chain.goodput(hops=2), 0.001)


@study.cause("Two hops carry something")
def something(data: Data) -> Claim:
    return above(data.chain.goodput(hops=2), 1.0)


@study.cause("Two hops carry more than one")
def faster(data: Data) -> Claim:
    return above(data.chain.goodput(hops=2) / data.chain.goodput(hops=1), 1.0)


@study.check("One hop carries nothing", paper="nothing", why="never shown", because=["something", "faster"])
def empty(data: Data) -> Claim:
    return about(data.chain.goodput(hops=1), 0.001)
'''


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A folder of papers with one tiny study."""
    folder = tmp_path / "papers"
    (folder / "some-paper").mkdir(parents=True)
    (folder / "some-paper" / "tiny.py").write_text(TINY, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def parallel(tmp_path_factory: pytest.TempPathFactory) -> SweepResult:
    """Two flows, two transports, three runs, time series."""
    base = Scenario.parallel_chains(hops=2, duration="6s", warmup="2s", sample_every="1s")
    return fourhop.sweep(
        base,
        {"transport": ["newreno", "vegas"], "radio.rate": ["2Mbps"]},
        runs=3,
        out=tmp_path_factory.mktemp("parallel"),
    )


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> SweepResult:
    """One run, cut by packets."""
    base = Scenario.parallel_chains(hops=1, packets=330, duration="60s")
    return fourhop.sweep(base, {"transport": ["vegas"]}, out=tmp_path_factory.mktemp("single"))


def record(out: Path, name: str = "some-paper/tiny") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "figures" / f"{name}.json").read_text(encoding="utf-8"))
    return found


# What a sweep measured, as a study asks for it.


def test_cells_are_chosen_by_short_names(parallel: SweepResult) -> None:
    cells = Cells.of(parallel, "parallel")
    assert (len(cells), cells.keys, cells.flows) == (2, ("transport", "radio.rate"), ["flow-1", "flow-2"])
    assert len(cells.where(transport="vegas", rate="2Mbps")) == 1
    assert cells.values("transport") == ["newreno", "vegas"]
    with pytest.raises(
        FourhopError, match="sweep parallel: found no point with transport='reno', allowed: transport: n"
    ):
        cells.where(transport="reno")
    with pytest.raises(FourhopError, match=r"found no varied key named 'hops', allowed: transport, radio\.rate"):
        cells.where(hops=1)
    with pytest.raises(FourhopError, match="found 2 points, allowed: one; say also transport"):
        cells.goodput()
    with pytest.raises(FourhopError, match="found no flow 'upper', allowed: flow-1, flow-2"):
        cells.goodput("upper", transport="vegas")


def test_cells_say_what_the_tables_say(parallel: SweepResult) -> None:
    cells = Cells.of(parallel).where(transport="vegas")
    rows = parallel.flows.filter(pl.col("transport") == "vegas")
    upper = rows.filter(pl.col("flow") == "flow-1")["goodput_bps"].to_list()
    assert cells.goodput("flow-1").values == pytest.approx([x / 1e3 for x in upper])
    whole = parallel.runs.filter(pl.col("transport") == "vegas")
    assert cells.goodput().values == pytest.approx([x / 1e3 for x in whole["aggregate_goodput_bps"].to_list()])
    assert cells.fairness().values == pytest.approx(whole["jain"].to_list())
    assert cells.goodput().units == cells.fairness().units == (1, 2, 3)
    assert cells.share("flow-1").value == pytest.approx(cells.goodput("flow-1").mean / cells.goodput().mean)
    assert cells.column("timeouts").mean == pytest.approx(rows["timeouts"].sum() / 3)
    assert cells.column("rtt_mean_s", "flow-2").unit == "s"
    with pytest.raises(FourhopError, match="found several flows, allowed: one, named by flow="):
        cells.column("rtt_mean_s")
    seeds = cells.measure(lambda run: float(run.seed))
    assert seeds.values == (1.0, 2.0, 3.0)


def test_time_series_are_averaged_between_two_times(parallel: SweepResult) -> None:
    cells = Cells.of(parallel).where(transport="newreno")
    mean = cells.over_time("goodput_bps", "flow-1", 2.0, 5.0)
    table = parallel.series.filter(
        (pl.col("transport") == "newreno") & (pl.col("flow") == "flow-1") & pl.col("time_s").is_in([3.0, 4.0, 5.0])
    ).collect()
    means = table.group_by("seed").agg(pl.col("goodput_bps").mean() / 1e3).sort("seed")["goodput_bps"]
    assert mean.values == pytest.approx(means.to_list())
    assert mean.unit == "kbit/s"
    largest = cells.over_time("goodput_bps", "flow-1", 2.0, 5.0, lambda rate: rate.max())
    assert largest.values == tuple(table.group_by("seed").agg(pl.col("goodput_bps").max()).sort("seed")["goodput_bps"])
    assert largest.unit == ""


def test_one_run_has_batches_and_its_index_as_a_whole(single: SweepResult) -> None:
    cells = Cells.of(single)
    goodput, index = cells.goodput(), cells.fairness()
    assert (goodput.method, len(goodput.values)) == ("batch means", 10)
    assert goodput.mean == pytest.approx(single.runs["aggregate_goodput_bps"][0] / 1e3)
    assert index.mean == pytest.approx(single.runs["jain"][0])
    assert index.interval.half_width is not None
    # The delta method, against the same thing done with small steps.
    flows = single.flows["goodput_bps"].to_list()
    batches = single.batches.pivot("flow", index="batch", values="goodput_bps").drop("batch").rows()
    usual = [math.fsum(column) / len(batches) for column in zip(*batches, strict=True)]
    jain = fourhop.stats.jain
    for value, batch in zip(index.values, batches, strict=True):
        step = 1e-6
        moved = jain([x + step * (b - m) for x, b, m in zip(flows, batch, usual, strict=True)])
        assert moved is not None
        assert value - index.mean == pytest.approx((moved - index.mean) / step, rel=1e-3, abs=1e-6)
    # Batches of two flows of the same run belong together, those of different runs do not.
    assert cells.goodput("flow-1").units == cells.goodput("flow-2").units


# Charts.


def test_charts_hold_what_was_measured(parallel: SweepResult) -> None:
    cells = Cells.of(parallel)
    chart = bars(cells, by="transport", labels={"vegas": "Vegas"}, flows={"flow-1": "upper", "flow-2": "lower"})
    assert [line.x for line in chart.lines] == [["upper", "lower"]] * 2
    assert chart.lines[1].label.startswith("Vegas (fairness ")
    interval = cells.goodput("flow-1", transport="vegas").interval
    assert (chart.lines[1].y[0], chart.lines[1].low[0]) == (interval.mean, interval.low)
    assert chart.y_label == "goodput (kbit/s)"
    assert Chart.from_dict(json.loads(json.dumps(chart.to_dict()))) == chart
    over = series(cells, "srtt_s", by="transport")
    assert [line.label for line in over.lines][:2] == ["newreno, flow-1", "newreno, flow-2"]
    assert over.y_label == "smoothed RTT (ms)"
    shown = table(["a", "b"], [("x", cells.goodput(transport="vegas"))])
    assert re.fullmatch(r"\d+(\.\d+)? \[.+, .+\] kbit/s", shown.rows[0][1])
    with pytest.raises(FourhopError, match="has not 2 values"):
        table(["a", "b"], [("x",)])
    both = table_by(cells, "transport", {"sum": "goodput", "timed out": "timeouts"}, {"vegas": "Vegas"}, heading="by")
    assert (both.columns, len(both.rows)) == (("by", "sum", "timed out"), 1)
    assert both.rows[0] == ("Vegas", shown.rows[0][1], str(cells.column("timeouts", transport="vegas").estimate))
    assert table_by(cells, "transport", {"sum": "goodput"}).columns == ("transport", "sum")


def test_curves_and_groups_are_drawn_as_given(parallel: SweepResult) -> None:
    cells = Cells.of(parallel).by("transport")
    points = {name: {2: each.goodput()} for name, each in cells.items()}
    drawn = curves(points, "hops", "goodput (kbit/s)")
    assert [(line.label, line.x, line.y) for line in drawn.lines] == [
        (name, [2], [each.goodput().mean]) for name, each in cells.items()
    ]
    assert (drawn.kind, drawn.x_label, drawn.y_label) == ("lines", "hops", "goodput (kbit/s)")
    bar = groups({"all": {"sum": cells["vegas"].goodput()}}, y_max=9.0)
    assert (bar.kind, bar.y_label, bar.y_max, bar.lines[0].x) == ("bars", "goodput (kbit/s)", 9.0, ["sum"])
    assert bar.y_min == 0.0


def test_gains_are_drawn_in_percent_and_may_be_losses() -> None:
    much, little = (Sample((value,) * 3, (1, 2, 3)) for value in (40.0, 20.0))
    gains = {"Vegas": {"chain": much / little, "cross": little / much}}
    for made in (
        groups(gains, "gain (%)"),
        curves({"Vegas": {1: much / little, 2: little / much}}, "hops", "gain (%)"),
    ):
        (line,) = made.lines
        assert (line.y, line.low, line.high) == ([100.0, -50.0],) * 3
        axis = describe(made).y
        assert axis.low < -50.0 < 100.0 < axis.high
    # Bars stand on 0 even if all gain, and one wide interval does not flatten them.
    wide = Chart("bars", (Line("Vegas", ["a", "b"], [10.0, 20.0], [5.0, -900.0], [15.0, 900.0]),), y_min=None)
    assert (describe(wide).y.low, describe(wide).y.high) == (-20.0, 40.0)
    assert describe(wide).curves[0].cut_low == (1,)


def test_shares_are_those_of_each_flow_and_of_all() -> None:
    class Uneven:
        """Two flows that share unevenly, by variant."""

        mean = 0.8

        def by(self, key: str) -> dict[str, Any]:
            assert key == "variant"
            return {"ap": self}

        def goodput(self, flow: str | None = None) -> Sample:
            return Sample(({"flow-1": 3.0, "flow-2": 1.0, None: 4.0}[flow],), (1,))

        def fairness(self) -> Uneven:
            return self

    (line,) = shares(Uneven(), {"flow-2": "low", "flow-1": "up"}, {"ap": "TCP-AP"}).lines  # type: ignore[arg-type]
    assert (line.label, line.x, line.y) == ("TCP-AP (fairness 0.80)", ["low", "up", "all"], [1.0, 3.0, 4.0])


def test_a_chart_over_time_needs_time_series(single: SweepResult) -> None:
    with pytest.raises(FourhopError, match="found no time series, allowed: a scenario with sample_every"):
        series(Cells.of(single))


def chart_of(kind: str) -> Chart:
    x: list[float] | list[str] = ["a", "b", "c"] if kind == "bars" else [1.0, 2.0, 3.0]
    first = Line("one & two", x, [1.0, None, 3.0], [0.5, None, None], [1.5, None, None])
    return Chart(kind, (first, Line("three", x, [2.0, 2.0, 2.0], [None] * 3, [None] * 3)), "x (s)", "y (kbit/s)")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["lines", "series", "bars"])
def test_figures_are_vectors_that_take_the_ink_of_the_page(kind: str) -> None:
    text = draw.svg(chart_of(kind), "here")
    assert "y (kbit/s)" in text
    assert "one &amp; two" in text
    assert "currentColor" in text
    assert not re.search(r"\d\.\d{3}|\s\s|font-family", text), "nothing that nobody sees"
    assert "#010203" not in text
    assert "<image" not in text
    head = text[: text.index(">")]
    assert "viewBox" in head
    assert " width=" not in head
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert all(each.startswith("here-") for each in ids)
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', text)) == set(ids)
    assert draw.svg(chart_of(kind), "here") == text, "the same data give the same figure"


def test_one_wide_interval_does_not_flatten_the_curves() -> None:
    line = Line("x", [1.0, 2.0], [10.0, 20.0], [9.0, -500.0], [11.0, 540.0])
    axes = draw.figure(Chart("lines", (line,), "x", "y")).axes[0]
    assert axes.get_ylim() == (0.0, 40.0)


@pytest.mark.parametrize("kind", ["lines", "bars"])
def test_a_value_without_an_interval_is_open_and_has_no_whisker(kind: str) -> None:
    chart = chart_of(kind)
    (curve, _), (axes,) = describe(chart).curves, draw.figure(chart).axes
    assert (curve.y, curve.low, curve.high) == ((1.0, None, 3.0), (0.5, None, None), (1.5, None, None))
    segments = [each for drawn in axes.collections for each in drawn.get_segments()]  # type: ignore[attr-defined]
    assert [each.tolist()[0][1] for each in segments if len(each)] == [0.5], "one whisker"
    if kind == "bars":
        open_ = [bar.get_facecolor() == to_rgba(draw._PAPER) for bar in axes.patches]
        assert open_ == [False, True, True, True, True, True]
    else:
        unfilled = [line for line in axes.lines if line.get_markerfacecolor() == draw._PAPER]
        drawn = [[y for y in np.asarray(line.get_ydata()) if not math.isnan(y)] for line in unfilled]
        assert drawn == [[3.0], [2.0] * 3]
        closed = axes.containers[0][0]
        assert all(line.get_zorder() > closed.get_zorder() for line in unfilled)


@pytest.mark.parametrize("kind", ["lines", "bars"])
def test_an_arrow_says_that_an_interval_leaves_the_axis(kind: str) -> None:
    x: list[float] | list[str] = [1.0, 2.0, 3.0] if kind == "lines" else ["a", "b", "c"]
    line = Line("", x, [10.0, 20.0, 10.0], [9.0, -500.0, 8.0], [11.0, 540.0, 40.0])
    chart = Chart(kind, (line,), "x", "y")  # type: ignore[arg-type]
    (curve,) = describe(chart).curves
    assert (curve.cut_low, curve.cut_high) == ((1,), (1,)), "an interval that ends on the axis stays on it"
    (axes,) = draw.figure(chart).axes
    arrows = [line for line in axes.lines if line.get_marker() in (CARETUP, CARETDOWN) and len(line.get_xdata())]  # type: ignore[arg-type]
    ends = sorted((line.get_ydata()[0], line.get_marker()) for line in arrows)  # type: ignore[index]
    assert ends == [(0.0, CARETDOWN), (40.0, CARETUP)]


def test_ticks_stand_where_something_was_measured_unless_they_would_cover_each_other() -> None:
    def labels(places: list[float], *, x_log: bool = False) -> list[str]:
        line = Line("", places, [1.0] * len(places), [None] * len(places), [None] * len(places))
        return [label for _, label in describe(Chart("lines", (line,), "hops", "y", x_log=x_log)).x.ticks]

    assert labels([1.0, 2.0, 4.0, 16.0]) == ["1", "2", "4", "16"]
    assert labels([float(x) for x in range(1, 41)]) == ["0", "10", "20", "30", "40"], "whole numbers stay whole"
    assert labels([0.1, 0.2, 0.3, 100.0]) == ["0", "20", "40", "60", "80", "100"]
    assert labels([0.1, 1.0, 1.01, 100.0], x_log=True) == ["0.1", "1", "100"]


def test_what_is_counted_over_time_has_whole_ticks() -> None:
    def labels(kind: str, *y: float) -> list[str]:
        line = Line("", [float(t) for t in range(len(y))], [*y], [None] * len(y), [None] * len(y))
        return [label for _, label in describe(Chart(kind, (line,), "x", "y")).y.ticks]  # type: ignore[arg-type]

    assert labels("series", 0.0, 1.0, 3.0) == ["0", "1", "2", "3"]
    assert "0.5" in labels("series", 0.0, 0.5, 3.0)
    assert "0.5" in labels("lines", 0.0, 1.0, 3.0), "means over runs lie between"


def test_names_of_groups_stand_apart() -> None:
    def labels(*groups: str) -> list[str]:
        line = Line("", list(groups), [1.0] * len(groups), [None] * len(groups), [None] * len(groups))
        return [label for _, label in describe(Chart("bars", (line,), "", "y")).x.ticks]

    assert labels("chain", "cross", "parallel") == ["chain", "cross", "parallel"]
    assert labels("into the mesh", "out of the mesh", "") == ["into the mesh", "out of the mesh"]
    several = ("chain", "cross", "parallel", "grid", "random", "gateway", "moving")
    assert labels(*several) == ["chain", "\ncross", "parallel", "\ngrid", "random", "\ngateway", "moving"]
    # Drawn, none covers another.
    line = Line("", list(several), [1.0] * 7, [None] * 7, [None] * 7)
    drawn = draw.figure(Chart("bars", (line,), "", "y"))
    drawn.draw_without_rendering()
    boxes = [label.get_window_extent() for label in drawn.axes[0].get_xticklabels()]
    ends = [(box.x0, box.x1) for box in boxes]
    assert all(one[1] + 2.0 < other[0] for one, other in zip(ends, ends[2:], strict=False)), "two lines are enough"
    assert any(one[1] + 8.0 > other[0] for one, other in itertools.pairwise(ends)), "less than a blank apart on one"


def test_a_transport_has_one_colour_in_every_chart() -> None:
    def styles(kind: str, *labels: str) -> dict[str, tuple[str | None, tuple[float, ...]]]:
        x: list[float] | list[str] = ["a"] if kind == "bars" else [1.0]
        chart = Chart(kind, tuple(Line(label, x, [1.0], [None], [None]) for label in labels), "x", "y")  # type: ignore[arg-type]
        return {curve.label: (curve.colour, curve.dash) for curve in describe(chart).curves}

    one = styles("lines", "NewReno", "NewReno + delayed ACK", "TCP-AP (fairness 0.9)", "Vegas", "each HELLO")
    other = styles("lines", "Vegas", "TCP-AP", "NewReno")
    assert one["NewReno"] == other["NewReno"]
    assert one["Vegas"] == other["Vegas"]
    assert one["TCP-AP (fairness 0.9)"] == other["TCP-AP"]
    assert one["NewReno + delayed ACK"][0] == one["NewReno"][0]
    assert len(set(one.values())) == 5, "what shares a colour has another dash"
    assert one["each HELLO"][0] not in {one[name][0] for name in ("NewReno", "Vegas", "TCP-AP (fairness 0.9)")}
    # Bars have no dash, but are paler.
    assert len({colour for colour, _ in styles("bars", "RBP", "RBP 1", "RBP 2", "RBP 3").values()}) == 4
    assert len({colour for colour, _ in styles("bars", "RBP", "RBP, signal-strength AODV", "Vegas").values()}) == 3
    variant, plain = styles("bars", "TCP-GAP without goodput control (fairness 0.9)", "TCP-GAP (fairness 1)").values()
    assert plain[0] == other["TCP-AP"][0] != variant[0], "whichever comes first"
    assert len(set(styles("lines", *(f"flow-{n}" for n in range(9))).values())) == 9
    # A label may name its transport in brackets, and another one after it.
    (mixed,) = styles("lines", "flow-2 (NewReno)").values()
    assert mixed[0] == one["NewReno"][0]
    assert styles("bars", "TCP-GAP, CUBIC")["TCP-GAP, CUBIC"][0] == other["TCP-AP"][0]
    assert styles("bars", "standard TCP")["standard TCP"][0] == one["NewReno"][0]


@pytest.mark.parametrize("kind", ["lines", "series", "bars"])
def test_a_single_curve_says_what_it_is(kind: str) -> None:
    def shown(label: str) -> list[str]:
        drawn = draw.figure(Chart(kind, (Line(label, [1.0, 2.0], [1.0, 2.0], [None] * 2, [None] * 2),), "x", "y"))  # type: ignore[arg-type]
        return [text.get_text() for legend in drawn.legends for text in legend.get_texts()]

    assert shown("C3TCP") == ["C3TCP"]
    assert shown("") == []


def test_charts_beside_each_other_have_the_same_scales() -> None:
    def chart(kind: str, places: list[float] | list[str], high: float) -> Chart:
        y: list[float | None] = [high] * len(places)
        return Chart(kind, (Line("Vegas", places, y, [None] * len(y), [None] * len(y)),), "x", "y")  # type: ignore[arg-type]

    few, many = chart("lines", [10.0, 30.0], 50.0), chart("lines", [5.0, 20.0, 30.0], 100.0)
    alone, beside, other = describe(few), describe(few, [few, many]), describe(many, [few, many])
    assert (beside.x, beside.y) == (other.x, other.y) != (alone.x, alone.y)
    assert [label for _, label in beside.x.ticks] == ["5", "10", "20", "30"]
    assert describe(few, [few], [few, many]).y == other.y
    assert describe(few, [few], [few, many]).x == alone.x, "what shows the same quantity need not have the same places"
    # A bar that only one of them has leaves a gap in the other.
    some, all_ = chart("bars", ["lower"], 1.0), chart("bars", ["upper", "lower"], 1.0)
    one, both = (describe(each, [all_, some]) for each in (some, all_))
    assert one.x == both.x
    assert (one.curves[0].x, both.curves[0].x) == ((1.0,), (0.0, 1.0))


def test_limits_leave_room_and_hold_what_was_asked_for() -> None:
    line = Line("x", [1.0, 2.0], [10.0, 12.0], [9.0, 11.0], [11.0, 13.0])
    for chart, limits in (
        (Chart("lines", (line,), "x", "y"), (0.0, 13.65)),
        (Chart("lines", (line,), "x", "y", y_max=12.0), (0.0, 12.0)),
        (Chart("lines", (line,), "x", "y", y_min=None), (8.8, 13.2)),
        (Chart("series", (), "x", "y"), (0.0, 1.05)),
    ):
        axis = describe(chart).y
        assert (axis.low, axis.high) == limits
        assert all(axis.low <= place <= axis.high for place, _ in axis.ticks)
        assert len(axis.ticks) >= 3


# Studies.


def test_a_study_is_found_by_being_there(papers: Path) -> None:
    (papers / "some-paper" / "_common.py").write_text("HOPS = [1]\n", encoding="utf-8")
    shared = TINY.replace("from fourhop import", "from ._common import HOPS\nfrom fourhop import").replace(
        "[1, 2]", "HOPS"
    )
    (papers / "some-paper" / "other.py").write_text(shared, encoding="utf-8")
    assert find.names(papers) == ["some-paper/other", "some-paper/tiny"]
    assert find.chosen(papers, "some-paper") == find.chosen(papers, None) == find.names(papers)
    assert find.chosen(papers, "some-paper/tiny") == ["some-paper/tiny"]
    other = find.load(papers, "some-paper/other")
    assert len(other.study.made("ns2")["chain"].points) == 1
    assert other.text == "One and two hops."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_there", "line 1: ModuleNotFoundError"),
        ("x = 1\nx(", "line 2: SyntaxError"),
        ("x = 1", "found no study, allowed: study = Study"),
        ("from fourhop.study import Study\nstudy = Study('t', source='s')", "found a study without a sweep"),
        (TINY.replace("def nothing", "def more"), "found two checks named 'more'"),
    ],
)
def test_a_broken_study_is_named(papers: Path, text: str, message: str) -> None:
    (papers / "some-paper" / "tiny.py").write_text(text, encoding="utf-8")
    with pytest.raises(FourhopError, match=re.escape(message)) as caught:
        find.load(papers, "some-paper/tiny")
    assert str(papers / "some-paper" / "tiny.py") in str(caught.value)


def test_an_unknown_study_is_named_with_those_there_are(papers: Path) -> None:
    with pytest.raises(FourhopError, match=r"found 'some-papr', allowed: some-paper \(did you mean 'some-paper'\?\)"):
        find.chosen(papers, "some-papr")
    with pytest.raises(FourhopError, match="allowed: some-paper/tiny"):
        find.chosen(papers, "some-paper/huge")


def test_a_profile_that_cannot_be_is_named(papers: Path) -> None:
    path = papers / "some-paper" / "tiny.py"
    path.write_text(TINY.replace('"4s"', '"4"'), encoding="utf-8")
    with pytest.raises(FourhopError, match=r"tiny\.py: profile ns2: .*the unit is missing"):
        execute.jobs(find.load(papers, "some-paper/tiny"), quick=False)


def test_quick_studies_are_short_and_keep_what_they_are_about() -> None:
    study = Study("t", source="s", quick={"radio.rate": "11Mbps"})

    @study.sweep
    def steady(profile: str) -> Sweep:
        return Sweep(Scenario.chain(hops=2, profile=profile, **STEADY), {"topology.hops": [1, 2]}, precision="1%")

    @study.sweep
    def later(profile: str) -> Sweep:
        base = Scenario.chain(hops=2, profile=profile, duration="300s")
        late = base.flow(0, 2, transport="newreno", start="30s", stop="60s")
        return Sweep(variants={"late": late, "usual": base}, runs=20)

    made = study.made("ns2", quick=True)
    point = made["steady"].points[1].scenario.resolved
    assert (point["packets"], point["duration"], point["radio"]["rate"]) == (110, "10s", "11Mbps")
    assert (made["steady"].runs, made["steady"].target) == (1, None)
    late, usual = (point.scenario.resolved for point in made["later"].points)
    assert (late["duration"], late["warmup"], usual["duration"]) == ("75s", "7500ms", "10s")
    assert (usual["warmup"], made["later"].runs) == ("1s", 2)
    assert study.made("ns2")["steady"].points[1].scenario.packets == 55_000


def test_what_differs_in_one_thing_is_registered_in_one_place() -> None:
    study = Study("t", source="s")

    @study.sweep_each({"short": 1, "long": 8})
    def chains(profile: str, hops: int) -> Sweep:
        return Sweep(Scenario.chain(hops=hops, profile=profile))

    @study.chart_each({"first": (1, "One."), "second": (2, "Two.")})
    def drawn(data: Data, place: int) -> Chart:
        return table([data.profile], [(place,)])

    @study.check_each(
        {"ap": "TCP-AP", "ap-code": "the code"}, "{} is fair", paper="p", why="a", why_of={"ap-code": "b"}, main=True
    )
    def fair(data: Data, name: str) -> Claim:
        return above(Sample((float(len(name)), float(len(data.profile))), (1, 2)), 1.0)

    assert [made.base.resolved["topology"]["hops"] for made in study.made("ns2").values() if made.base] == [1, 8]
    assert list(study.sweeps) == ["short", "long"]
    data = Data("ns2", {})
    assert [(name, caption, draw(data).rows) for name, (caption, draw) in study.charts.items()] == [
        ("first", "One.", (("1",),)),
        ("second", "Two.", (("2",),)),
    ]
    said = [(check.name, check.statement, check.why, check.main) for check in study.checks.values()]
    assert said == [("fair_ap", "TCP-AP is fair", "a", True), ("fair_ap_code", "the code is fair", "b", False)]
    assert [check.evaluate(data).value for check in study.checks.values()] == [2.5, 5.0]
    with pytest.raises(FourhopError, match="found two charts named 'first'"):
        study.chart_each({"first": (1, "")})(lambda _, place: table([], [(place,)]))


def test_variants_are_the_same_network_with_another_transport() -> None:
    variants = Variants({"reno": ("Reno", "reno", {}), "limit": ("limit", "newreno", {"tcp.window": 1})})
    assert variants.labels == {"reno": "Reno", "limit": "limit"}
    base = (
        Scenario.parallel_chains(hops=2)
        .flow(0, 2, transport="vegas")
        .flow(3, 5, transport="udp", app="cbr", rate="1Mbps")
    )
    flows = {name: [flow["transport"] for flow in of.resolved["flows"]] for name, of in variants.compared(base).items()}
    assert flows == {"reno": ["reno", "udp"], "limit": ["newreno", "udp"]}
    assert list(variants.compared(base, "limit")) == ["limit"]
    two = base.flow(0, 2, transport="vegas")
    assert [flow["transport"] for flow in variants.of(two, "reno", 2).resolved["flows"]] == ["vegas", "udp", "reno"]
    assert variants.of(Scenario.chain(hops=1), "limit").resolved["traffic"]["transport"] == "newreno"
    assert variants.of(Scenario.chain(hops=1), "limit").resolved["tcp"]["window"] == 1


def test_data_names_its_sweeps(parallel: SweepResult) -> None:
    data = Data("ns2", {"parallel": Cells.of(parallel)})
    assert len(data.parallel) == 2
    with pytest.raises(FourhopError, match="found no sweep 'chain', allowed: parallel"):
        _ = data.chain


def test_a_check_that_fails_to_answer_is_an_error_unless_quick(parallel: SweepResult) -> None:
    study = Study("t", source="s")

    @study.check("x", paper="y")
    def broken(data: Data) -> Any:
        return data.parallel.goodput(transport="none")

    @study.check("x", paper="y")
    def no_claim(data: Data) -> Any:
        return data.parallel.goodput(transport="vegas")

    data = Data("ns2", {"parallel": Cells.of(parallel)})
    with pytest.raises(FourhopError, match=r"check broken, profile ns2: .*found no point"):
        execute.outcome(study.checks["broken"], data)
    with pytest.raises(FourhopError, match="found a Sample, allowed: a claim"):
        execute.outcome(study.checks["no_claim"], data)
    assert execute.outcome(study.checks["broken"], data, quick=True)["verdict"] == "not judged"


def test_captions_say_what_was_run(parallel: SweepResult, single: SweepResult) -> None:
    assert execute.ran(parallel) == "Each point: 3 runs of 6 s, seeds 1–3."
    assert execute.ran(single) == "Each point: 1 run until 330 packets arrived, seed 1."
    study = Study("t", source="s")

    @study.chart
    def both(data: Data) -> Chart:
        """What is drawn."""
        data.single.goodput()
        return lines(data["parallel"], x="transport", y="fairness")

    @study.chart
    def one(data: Data) -> Chart:
        return table(["a"], [(data.parallel.goodput(transport="vegas"),)])

    results = {"parallel": parallel, "single": single}
    data = Data("ns2", {name: Cells.of(result) for name, result in results.items()})
    found = find.Found("paper", "figure", Path("figure.py"), study, "")
    captions = [
        execute._chart(name, draw, caption, data, results, found).caption
        for name, (caption, draw) in study.charts.items()
    ]
    assert captions == [
        "What is drawn. Each point: 1 run until 330 packets arrived, seed 1. Each point: 3 runs of 6 s, seeds 1–3.",
        "Each point: 3 runs of 6 s, seeds 1–3.",
    ]


def test_a_cause_that_no_study_has_is_named(papers: Path) -> None:
    path = papers / "some-paper" / "tiny.py"
    path.write_text(TINY.replace('because=["something", "faster"]', 'because="smth"'), encoding="utf-8")
    found = find.load(papers, "some-paper/tiny")
    with pytest.raises(FourhopError, match="check empty: because: found no cause 'smth', allowed: something, faster"):
        execute.jobs(found, quick=False)


def test_the_verdict_on_a_figure() -> None:
    assert execute.overall([]) is None
    assert execute.overall(["reproduced", "reproduced"]) == "reproduced"
    assert execute.overall(["reproduced", "not reproduced"]) == "partly"
    assert execute.overall(["not reproduced"]) == "not reproduced"


# The command.


def test_reproduce_runs_judges_and_computes_nothing_twice(papers: Path, fourhop: Command) -> None:
    out = papers.parent / "report"
    first = fourhop("reproduce", "--jobs", "2")
    assert first.returncode == 0, first.stderr
    assert "1 figure, 12 runs" in first.stderr
    assert re.search(
        r"some-paper/tiny +One hop carries more than two +about twice as much .*reproduced +reproduced", first.stdout
    )
    made = record(out)
    assert made["quick"] is False
    for profile in ("ns2", "standard"):
        more, nothing, empty = made["profiles"][profile]["outcomes"]
        assert (empty["verdict"], empty["because"], empty["why"]) == ("not reproduced", ["something"], "")
        assert [each["verdict"] for each in made["profiles"][profile]["causes"]] == ["reproduced", "not reproduced"]
        assert (more["verdict"], nothing["verdict"]) == ("reproduced", "not reproduced")
        assert more["low"] > 1.2
        assert nothing["why"] == ("because they do" if profile == "standard" else "")
        assert nothing["because"] == (["something"] if profile == "ns2" else [])
        assert nothing["reason"].startswith("asked: 0.001 ± 15%; the interval says otherwise")
        assert made["profiles"][profile]["verdict"] == "partly"
        (sweep,) = made["profiles"][profile]["sweeps"]
        assert (sweep["runs"], sweep["seeds"], sweep["reused"]) == (6, [1, 3], 0)
        for file in sweep["files"]:
            path = out / "data" / "some-paper" / "tiny" / file
            frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)
            assert frame.height == 6
        drawn = pl.read_csv(out / "data" / "some-paper" / "tiny" / f"{profile}-goodput.csv")
        assert drawn.columns == ["line", "hops", "goodput (kbit/s)", "low", "high"]
    assert (out / "index.html").is_file()
    again = fourhop("reproduce", "some-paper/tiny", "--strict")
    assert again.returncode == 1
    assert "not reproduced: some-paper/tiny" in again.stderr
    repeated = record(out)
    assert [each["sweeps"][0]["reused"] for each in repeated["profiles"].values()] == [6, 6]
    assert repeated["profiles"]["ns2"]["outcomes"] == made["profiles"]["ns2"]["outcomes"]


def test_reproduce_quick_judges_nothing(papers: Path, fourhop: Command) -> None:
    done = fourhop("reproduce", "--quick", "--strict", "--papers", papers)
    assert done.returncode == 0, done.stderr
    assert "8 runs, quick" in done.stderr
    verdicts = {each["verdict"] for each in record(papers.parent / "report-quick")["profiles"]["ns2"]["outcomes"]}
    assert verdicts == {"not judged"}


def test_studies_of_other_profiles_stand_in_one_table(papers: Path, fourhop: Command) -> None:
    standard = TINY.replace('Study("Tiny", ', 'Study("Tiny", profiles=("standard",), ', 1)
    assert standard != TINY
    (papers / "some-paper" / "radio.py").write_text(standard, encoding="utf-8")
    done = fourhop("reproduce", "--quick", "--papers", papers)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^some-paper/radio .* - +not judged$", done.stdout, re.M), done.stdout
    assert re.search(r"^some-paper/tiny .*not judged +not judged$", done.stdout, re.M), done.stdout


def test_reproduce_lists(papers: Path, fourhop: Command) -> None:
    done = fourhop("reproduce", "--list")
    assert done.returncode == 0
    assert re.search(r"some-paper/tiny +3 +ns2, standard +Tiny", done.stdout)
    assert not (papers.parent / "report").exists()
    unknown = fourhop("reproduce", "other-paper")
    assert unknown.returncode == 2
    assert "error: study: found 'other-paper', allowed: some-paper" in unknown.stderr


def test_an_unknown_figure_is_told_those_of_its_paper() -> None:
    with pytest.raises(FourhopError) as told:
        find.chosen(ROOT / "papers", "tcp-ap/f10_responsivenes")
    message = str(told.value)
    assert message.endswith("(did you mean 'tcp-ap/f10_responsiveness'?)")
    listed = message.split("allowed: ")[1].split(" (")[0].split(", ")
    assert len(listed) > 10
    assert all(name.startswith("tcp-ap/") for name in listed)
    with pytest.raises(FourhopError, match=r"'tcp-ap/nope', allowed: (tcp-ap/\w+(, )?)+ \(did you mean 'tcp-ap/"):
        find.chosen(ROOT / "papers", "tcp-ap/nope")


def test_a_killed_reproduction_goes_on(papers: Path, fourhop: Command) -> None:
    path = papers / "some-paper" / "tiny.py"
    path.write_text(TINY.replace('"4s"', '"1000s"').replace("runs=3", "runs=4"), encoding="utf-8")
    command = [sys.executable, "-m", "fourhop.cli", "reproduce", "--jobs", "1"]
    process = subprocess.Popen(command, cwd=papers.parent, env=environment(), stderr=subprocess.PIPE, text=True)
    store = papers.parent / "report" / "store"
    deadline = time.monotonic() + 60.0
    while len(kept(store)) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on from there" in told
    stored = len(kept(store))
    assert 2 <= stored < 16
    again = fourhop("reproduce")
    assert again.returncode == 0, again.stderr
    reused = sum(each["sweeps"][0]["reused"] for each in record(papers.parent / "report")["profiles"].values())
    assert reused == stored


# The recipe.


def test_the_recipe_works_word_by_word(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "papers" / "_template", tmp_path / "papers" / "_template")
    text = (ROOT / "docs" / "add-a-figure.md").read_text(encoding="utf-8")
    commands = re.findall(r"^ *```sh\n(.*?)^ *```", text, re.S | re.M)
    assert len(commands) >= 3
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    script = "set -e\n" + "\n".join(commands)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**environment(), "PATH": path},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert "mine/goodput" in done.stdout
    made = record(tmp_path / "report-quick", "mine/goodput")
    assert made["quick"]
    # The bigger example of the same page is a study too.
    (example,) = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    (tmp_path / "papers" / "mine" / "parallel.py").write_text(example, encoding="utf-8")
    found = find.load(tmp_path / "papers", "mine/parallel")
    results = {(job.profile, job.name): execute.run(job, tmp_path / "out") for job in execute.jobs(found, quick=True)}
    made = execute.record(found, results, tmp_path / "out", quick=True)
    assert [chart["kind"] for chart in made["profiles"]["ns2"]["charts"]] == ["bars", "series", "table"]


def test_the_papers_of_this_repository_load_and_name_their_sources() -> None:
    papers = ROOT / "papers"
    for found in find.load_all(papers, find.names(papers)):
        assert found.text, found.path
        assert found.study.charts, found.path
        for check in found.study.checks.values():
            assert check.paper, f"{found.path}: {check.name}"


def test_a_claim_needs_an_interval_not_a_mean(single: SweepResult) -> None:
    cells = Cells.of(single)
    assert above(cells.throughput(), 0.0).holds is None, "one run, one value"
    assert above(cells.goodput(), 0.0).holds is True


def test_lines_take_any_measure(parallel: SweepResult) -> None:
    cells = Cells.of(parallel)
    chart = lines(cells, "transport", y=lambda cell: cell.share("flow-1"), y_label="share", y_max=1.0)
    assert chart.lines[0].x == ["newreno", "vegas"]
    assert chart.y_max == 1.0


def test_quantities_are_numbers_on_an_axis(parallel: SweepResult) -> None:
    chart = lines(Cells.of(parallel).where(transport="vegas"), "rate", x_label="rate (Mbit/s)")
    assert chart.lines[0].x == [2.0]


def test_the_best_of_several_is_picked_by_what_was_measured(parallel: SweepResult) -> None:
    cells = Cells.of(parallel)
    means = {name: cell.goodput().mean for name, cell in cells.by("transport").items()}
    assert cells.best().goodput().mean == max(means.values())
    worst = cells.best(of=lambda cell: cell.measure(lambda run: -run.columns["aggregate_goodput_bps"]))
    assert worst.goodput().mean == min(means.values())


def test_one_failing_study_does_not_stop_the_others(papers: Path, fourhop: Command) -> None:
    broken = TINY.replace("return above(", "return above(1 / 0 * ", 1)
    (papers / "some-paper" / "broken.py").write_text(broken, encoding="utf-8")
    done = fourhop("reproduce")
    assert done.returncode == 2
    assert "error: some-paper/broken: check more, profile ns2: ZeroDivisionError" in done.stderr
    assert "failed: some-paper/broken" in done.stderr
    assert "some-paper/tiny" in done.stdout
    assert (papers.parent / "report" / "index.html").is_file()
