"""One flow in detail: what it measured, what followed, and its figure."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import fourhop
from fourhop import Scenario
from tests.conftest import ROOT, Command

CONTENTION = Scenario.from_toml(ROOT / "scenarios" / "contention.toml", overrides=["duration=60s", "flows[1].stop=50s"])


@pytest.fixture(scope="module")
def seen() -> fourhop.Explanation:
    return fourhop.explain(CONTENTION)


def test_the_interval_is_the_delay_stretched_by_the_variation(seen: fourhop.Explanation) -> None:
    assert (seen.flow, seen.transport, seen.seed) == ("tcp", "tcp-ap", 1)
    rows = seen.series.drop_nulls("delay_s")
    assert rows.height > 300
    stretched = rows["delay_s"] * (1.0 + 2.0 * rows["variation"])
    assert ((rows["pacing_interval_s"] / stretched - 1.0).abs() < 1e-4).all()


def test_others_on_the_channel_show_in_the_variation_and_slow_the_flow_down(seen: fourhop.Explanation) -> None:
    assert seen.others == (("udp", 30.0, 50.0),)

    def median(column: str, since: float, until: float) -> float:
        value = seen.series.filter(pl.col("time_s").is_between(since, until))[column].median()
        assert isinstance(value, float)
        return value

    assert median("variation", 35, 50) > 1.2 * median("variation", 10, 30)
    assert median("pacing_interval_s", 35, 50) > 1.2 * median("pacing_interval_s", 10, 30)


def test_the_text_has_the_medians_with_units(seen: fourhop.Explanation) -> None:
    assert f"{seen.medians['rtt_s']:.4g} ms" in seen.text


def test_goodput_is_that_of_the_same_run_and_the_ratio_that_of_the_numbers_above_it(seen: fourhop.Explanation) -> None:
    measured = fourhop.run(CONTENTION, seed=1).goodput("tcp").mean
    assert seen.text.startswith(f"tcp (tcp-ap), seed 1: goodput {measured / 1e3:.1f} kbit/s; medians over time:\n")
    assert "  goodput" not in seen.text
    stated = {key: float(re.search(rf"^  {key} +([\d.]+)", seen.text, re.M)[1]) for key in ("n-hop delay", "interval")}  # type: ignore[index]
    ratio = float(seen.text.split("median interval / median n-hop delay: ")[1].split("\n")[0])
    assert ratio == pytest.approx(stated["interval"] / stated["n-hop delay"], abs=0.006)


def test_the_figure_has_a_panel_for_each_quantity_there_is(seen: fourhop.Explanation) -> None:
    labels = [axes.get_ylabel().split("\n")[0] for axes in seen.figure().axes]
    assert labels == ["round trip", "n-hop delay", "cov", "interval", "window", "goodput"]
    plain = fourhop.explain(Scenario.chain(hops=2, transport="newreno", duration="5s"))
    assert plain.stretched is None
    assert [axes.get_ylabel().split("\n")[0] for axes in plain.figure().axes] == ["window", "goodput"]


@pytest.mark.parametrize(("kind", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_same_run_gives_the_same_file(seen: fourhop.Explanation, tmp_path: Path, kind: str, magic: bytes) -> None:
    one, two = (seen.save(tmp_path / name / f"flow.{kind}").read_bytes() for name in "ab")
    assert one == two
    assert one.startswith(magic)


def test_what_cannot_be_shown_is_named(seen: fourhop.Explanation, tmp_path: Path) -> None:
    with pytest.raises(fourhop.FourhopError, match=r"figure: found 'a\.gif', allowed: .* \.png, \.svg or \.pdf"):
        seen.save(tmp_path / "a.gif")
    with pytest.raises(fourhop.FourhopError, match="flow: found 'up', allowed: tcp, udp"):
        fourhop.explain(CONTENTION.with_(duration="31s", **{"flows[1].stop": "31s"}), flow="up")
    with pytest.raises(fourhop.FourhopError, match="flow: 'udp' uses udp: choose a flow over TCP"):
        fourhop.explain(CONTENTION, flow="udp")
    datagrams = Scenario.chain(hops=1, transport="udp", traffic={"rate": "10kbps"}, duration="2s")
    with pytest.raises(fourhop.FourhopError, match="no flow uses TCP"):
        fourhop.explain(datagrams)


def test_a_full_disk_is_a_message(chain: Path, fourhop: Command, tmp_path: Path) -> None:
    (tmp_path / "full.png").symlink_to("/dev/full")
    done = fourhop("explain", chain, "--out", "full.png")
    assert (done.returncode, done.stderr) == (2, "error: full.png: cannot be written: No space left on device\n")


def test_the_command_prints_the_medians_and_names_the_figure(chain: Path, fourhop: Command) -> None:
    done = fourhop("explain", chain, "--set", "transport=tcp-ap", "--seed", "3", "--out", "flow.svg")
    assert done.returncode == 0, done.stderr
    assert "flow-1 (tcp-ap), seed 3" in done.stdout
    assert "figure: flow.svg" in done.stdout
    assert (chain.parent / "flow.svg").is_file()
    refused = fourhop("explain", chain, "--flow", "none")
    assert (refused.returncode, refused.stderr) == (2, "error: flow: found 'none', allowed: flow-1\n")
