"""Results in a terminal, in a notebook and as CSV: nothing is cut, units and intervals are there."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import polars as pl
import pytest

import fourhop
from fourhop.result import Result
from fourhop.shown import Shown
from tests.conftest import Command


@pytest.fixture(scope="module")
def result() -> Result:
    return fourhop.run(fourhop.Scenario.parallel_chains(hops=1, duration="5s"), runs=3)


def test_a_summary_prints_every_column_with_its_interval(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    printed = str(result.summary)
    head, *rows = printed.splitlines()
    assert "…" not in printed
    assert re.split(r"\s{2,}", head) == [
        "flow", "src", "dst", "hops", "transport", "runs", "interval", "goodput kbit/s", "throughput kbit/s",
        "sent packets", "retransmitted packets", "timeouts", "fast retransmits", "rtt mean ms",
    ]  # fmt: skip
    interval = result.goodput("flow-2")
    assert interval.half_width is not None
    assert f"{interval.mean / 1e3:.1f} ± {interval.half_width / 1e3:.1f}" in rows[1]
    assert "half-width of the 95 % interval" in rows[-1]
    assert repr(result.summary) == printed


@pytest.mark.parametrize("width", [30, 60, 100])
def test_a_narrow_terminal_turns_the_table_and_cuts_nothing(
    result: Result, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    wide = set(re.split(r"\s{2,}|\n", str(result.summary)))
    monkeypatch.setenv("COLUMNS", str(width))
    lines = str(result.summary).splitlines()
    assert set(re.split(r"\s{2,}|\n", "\n".join(lines))) - {""} == wide
    # The names and one row are the least there can be; they need forty.
    assert all(len(line) <= max(width, 40) for line in lines[:-1])


def test_a_notebook_shows_the_same(result: Result) -> None:
    page = result._repr_html_()
    assert page.count("<tr>") == 3
    for text in ("goodput kbit/s", "rtt mean ms", " ± ", "flow-1", "aggregate goodput"):
        assert text in page
    assert "<b>" not in Shown({"flow": ["<b>"]})._repr_html_()


def test_what_is_shown_is_a_data_frame_as_before(result: Result) -> None:
    assert result.summary.equals(pl.DataFrame(result.summary.to_dict()))
    assert result.summary.columns[7:9] == ["goodput_bps_mean", "goodput_bps_half_width"]


def test_a_sweep_prints_whole_as_well() -> None:
    swept = fourhop.sweep(fourhop.Scenario.chain(hops=1, duration="2s"), {"tcp.window": range(1, 13)}, runs=2)
    printed = str(swept.summary)
    assert "…" not in printed
    assert printed.count("±") == 12 + 1
    assert "aggregate goodput kbit/s" in printed
    assert swept._repr_html_().count("<tr>") == 13


def test_long_tables_say_how_many_rows_are_left() -> None:
    assert str(Shown({"a": range(130)})).splitlines()[-1] == "and 30 more rows"


def test_csv_has_names_with_units_and_exact_numbers(result: Result, tmp_path: Path) -> None:
    (_, second) = csv.DictReader(io.StringIO(result.to_csv()))
    assert float(second["goodput_bps_mean"]) == result.goodput("flow-2").mean
    assert second["transport"] == "newreno"
    assert result.to_csv(tmp_path / "flows.csv", "flows") is None
    read = pl.read_csv(tmp_path / "flows.csv")
    assert read["goodput_bps"].to_list() == result.flows["goodput_bps"].to_list()
    assert "batch_goodput_bps" not in read.columns
    with pytest.raises(fourhop.FourhopError, match="table: found 'points', allowed: summary, flows"):
        result.to_csv(table="points")  # type: ignore[arg-type]
    with pytest.raises(fourhop.FourhopError, match="cannot be written: No such file"):
        result.to_csv(tmp_path / "nowhere" / "flows.csv")


def test_the_command_prints_csv_and_nothing_else(fourhop: Command, chain: Path, tmp_path: Path) -> None:
    ran = fourhop("run", chain, "--runs", "2", "--csv")
    assert (ran.returncode, ran.stderr) == (0, "")
    (flow,) = csv.DictReader(io.StringIO(ran.stdout))
    assert (flow["flow"], flow["runs"]) == ("flow-1", "2")
    sweep = tmp_path / "s.toml"
    sweep.write_text('scenario = "chain.toml"\nruns = 2\n[over]\ntcp.window = [2, 4]\n', encoding="utf-8")
    swept = fourhop("sweep", sweep, "--csv", "--out", "kept")
    rows = list(csv.DictReader(io.StringIO(swept.stdout)))
    assert [row["tcp.window"] for row in rows] == ["2", "4"]
    assert fourhop("results", "kept", "--csv").stdout == swept.stdout
    assert len(fourhop("results", "kept", "--csv", "--table", "flows").stdout.splitlines()) == 5
    assert "--table: needs --csv" in fourhop("results", "kept", "--table", "flows").stderr
    assert (
        "table: found 'tables', allowed: points, runs"
        in fourhop("results", "kept", "--csv", "--table", "tables").stderr
    )
    assert "--json and --csv: give only one of them" in fourhop("run", chain, "--csv", "--json").stderr
