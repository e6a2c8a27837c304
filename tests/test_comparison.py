"""Comparison over the same seeds: the pairs, their interval, refused input, and the command."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest

import fourhop
from fourhop import FourhopError, comparison, stats
from fourhop.study.estimate import Sample
from fourhop.study.measures import MEASURES
from tests.conftest import Command


@pytest.fixture(scope="module")
def base() -> fourhop.Scenario:
    return fourhop.Scenario.parallel_chains(hops=2, duration="10s")


@pytest.fixture(scope="module")
def found(base: fourhop.Scenario) -> fourhop.Comparison:
    return fourhop.compare(base, {"transport": ["newreno", "tcp-ap"], "topology.hops": [2, 3]}, runs=4, seed=7)


def difference(ours: list[float], theirs: list[float]) -> fourhop.Difference:
    seeds = tuple(range(1, len(ours) + 1))
    one, other = (Sample(tuple(values), seeds, "kbit/s") for values in (ours, theirs))
    return fourhop.Difference({}, "b", "a", MEASURES["goodput"], one, other)


def test_the_interval_is_students_t_over_the_pairs() -> None:
    # Both change by ten with the seed, so the pairs show what the means do not.
    each = difference([112.0, 121.0, 132.0], [102.0, 110.0, 121.0])
    pairs = stats.student_interval([10.0, 11.0, 11.0])
    assert each.n == 3
    ends = (each.difference.low, each.difference.value, each.difference.high)
    assert ends == pytest.approx((pairs.low, pairs.mean, pairs.high))
    assert each.ratio.value == pytest.approx((112 + 121 + 132) / (102 + 110 + 121))
    assert each.differs
    means = [stats.student_interval(values) for values in ([112.0, 121.0, 132.0], [102.0, 110.0, 121.0])]
    assert means[0].overlaps(means[1])
    assert difference([112.0, 101.0, 121.0], [102.0, 110.0, 121.0]).differs is False


def test_every_place_is_compared_with_the_same_seeds(found: fourhop.Comparison) -> None:
    assert (found.by, found.against) == ("transport", "newreno")
    assert [(each.place, each.name, each.measured.column) for each in found.differences] == [
        ({"topology.hops": hops}, "tcp-ap", column)
        for hops in (2, 3)
        for column in ("goodput_bps", "jain", "rtt_mean_s", "retransmitted_packets")
    ]
    runs = found.result.runs
    for each in found.differences[::4]:
        assert each.ours.units == each.theirs.units == (7, 8, 9, 10)
        for sample, transport in ((each.ours, "tcp-ap"), (each.theirs, "newreno")):
            rows = runs.filter(
                (runs["transport"] == transport) & (runs["topology.hops"] == each.place["topology.hops"])
            ).sort("seed")
            assert sample.values == pytest.approx([value / 1e3 for value in rows["aggregate_goodput_bps"]])


def test_the_table_is_in_the_units_of_the_names(found: fourhop.Comparison) -> None:
    row, each = found.table.row(0, named=True), found.differences[0]
    assert list(row) == [
        "topology.hops", "transport", "against", "measure", "n", "mean", "against_mean",
        "difference", "difference_low", "difference_high", "ratio", "ratio_low", "ratio_high",
    ]  # fmt: skip
    assert each.difference.low is not None
    assert row["difference_low"] == pytest.approx(1e3 * each.difference.low)
    assert row["difference"] == pytest.approx(row["mean"] - row["against_mean"])
    assert row["ratio"] == pytest.approx(row["mean"] / row["against_mean"])
    assert next(csv.DictReader(io.StringIO(found.to_csv())))["measure"] == "goodput_bps"


def test_what_is_printed_marks_differences_within_their_interval(
    found: fourhop.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    lines = str(found).splitlines()
    assert lines[0].split() == [
        "hops", "transport", "measure", "n", "mean", "of", "newreno", "difference", "ratio",
    ]  # fmt: skip
    for line, each in zip(lines[1:], found.differences, strict=False):
        assert ("(+" in line or "(-" in line) == (not each.differs)
        assert each.measured.title in line
    assert "paired by seed (7 to 10)" in str(found)
    assert found._repr_html_().count("<tr>") == 1 + len(found.differences)


def test_scenarios_by_name_and_sweeps_that_ran(base: fourhop.Scenario) -> None:
    faster = base.with_(**{"radio.rate": "11Mbps"})
    named = fourhop.compare({"slow": base, "fast": faster}, runs=2)
    assert {(each.name, each.against) for each in named.differences} == {("fast", "slow")}
    assert named.differences[0].ratio.value > 1.5
    over: dict[str, list[Any]] = {"topology.hops": [2, 3], "transport": ["newreno", "vegas"]}
    swept = fourhop.sweep(base, over, runs=2)
    again = fourhop.compare(swept, by="transport", against="vegas")
    assert {(each.name, each.against, each.place["topology.hops"]) for each in again.differences} == {
        ("newreno", "vegas", 2),
        ("newreno", "vegas", 3),
    }
    # A chain has one flow, so fairness is not compared.
    mixed = fourhop.compare({"two": base, "one": fourhop.Scenario.chain(hops=2, duration="10s")}, runs=2)
    assert "jain" not in {each.measured.column for each in mixed.differences}


def test_only_seeds_that_both_have_are_paired() -> None:
    ours, theirs = Sample((1.0, 2.0, 3.0), (1, 2, 3)), Sample((5.0, 7.0, 9.0, 11.0), (2, 3, 4, 5))
    one, other = comparison._paired(ours, theirs)
    assert (one.values, other.values, one.units) == ((2.0, 3.0), (5.0, 7.0), (2, 3))
    assert not math.isnan((one - other).value)


def test_what_cannot_be_compared_is_said(base: fourhop.Scenario) -> None:
    with pytest.raises(FourhopError, match="runs: found 1, allowed: 2 to"):
        fourhop.compare(base, {"transport": ["newreno", "vegas"]}, runs=1)
    with pytest.raises(FourhopError, match="nothing to compare: give two scenarios"):
        fourhop.compare(base, runs=2)
    with pytest.raises(FourhopError, match=r"tcp.window has one value \(4\): give two or more"):
        fourhop.compare(base, {"tcp.window": [4]}, runs=2)
    once = fourhop.sweep(base, {"tcp.window": [2, 4]})
    with pytest.raises(FourhopError, match="share fewer than two seeds"):
        fourhop.compare(once)
    with pytest.raises(FourhopError, match="against: found 8, allowed: 2, 4"):
        fourhop.compare(once, against=8)
    with pytest.raises(FourhopError, match="this sweep has already run: leave out the keys"):
        fourhop.compare(once, {"tcp.window": [2]})


def test_the_command(fourhop: Command, chain: Path, tmp_path: Path) -> None:
    ran = fourhop("compare", chain, "--vary", "transport=newreno,tcp-ap", "--runs", "3", "--out", "kept")
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["tcp-ap"] * 3
    assert all(" ± " in line for line in lines[1:4])
    # The runs are stored as a sweep and can be compared the other way round.
    printed = json.loads(fourhop("compare", "kept", "--against", "tcp-ap", "--json").stdout)
    assert (printed["by"], printed["against"], printed["rows"][0]["transport"]) == ("transport", "tcp-ap", "newreno")
    other = tmp_path / "other.toml"
    other.write_text(chain.read_text(encoding="utf-8"), encoding="utf-8")
    same = fourhop("compare", chain, other, "--vary", "tcp.window={from=2,to=3}", "--runs", "2", "--csv")
    rows = list(csv.DictReader(io.StringIO(same.stdout)))
    assert [row["tcp.window"] for row in rows] == ["2"] * 3 + ["3"] * 3
    # The same scenario with the same seeds gives identical results to the last bit.
    assert {(row["variant"], row["against"], float(row["difference"])) for row in rows} == {("other", "chain", 0.0)}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chain.toml"], "give two scenarios, or a key to vary"),
        (["chain.toml", "chain.toml"], "a file is given twice"),
        (["chain.toml", "--vary", "transport"], "--vary: found 'transport', allowed: KEY=VALUES"),
        (["chain.toml", "--vary", "tcp.window=[2"], "--vary: tcp.window: "),
        (["chain.toml", "--vary", "tcp.window={from=2}"], "found a range without to"),
        (["chain.toml", "--vary", "tcp.window=2,none", "--against", "8"], "against: found '8', allowed: 2, none"),
        (["chain.toml", "--vary", "transport=newreno,newrno"], "newrno"),
        (["."], "sweep"),
        ([".", "--runs", "3"], "--runs: . already has its runs"),
        (["chain.toml", "--json", "--csv"], "--json and --csv"),
    ],
)
def test_the_command_refuses(fourhop: Command, chain: Path, arguments: list[str], said: str) -> None:
    assert chain.name == "chain.toml"
    more = [] if "--runs" in arguments or arguments == ["."] else ["--runs", "2"]
    result = fourhop("compare", *arguments, *more)
    assert (result.returncode, result.stdout) == (2, ""), result.stderr
    assert "Traceback" not in result.stderr
    assert said in result.stderr
