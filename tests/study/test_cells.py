"""Measurements of a sweep, as studies request them."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

import fourhop
from fourhop.errors import FourhopError
from fourhop.study import (
    Cells,
    above,
)
from fourhop.study.cells import Cell, Run
from fourhop.sweeps.result import SweepResult


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
    with pytest.raises(FourhopError, match="found 2 points, allowed: one; also select transport"):
        cells.goodput()
    with pytest.raises(FourhopError, match="found no flow 'upper', allowed: flow-1, flow-2"):
        cells.goodput("upper", transport="vegas")
    assert cells.among("transport", ["vegas"]).values("transport") == ["vegas"]
    with pytest.raises(FourhopError, match="found no point with transport='reno'"):
        cells.among("transport", ["vegas", "reno"])


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
    assert cells.column("sent_packets").mean == pytest.approx(rows["sent_packets"].sum() / 3)
    assert cells.throughput().mean == pytest.approx(1e-3 * math.fsum(rows["throughput_bps"]) / 3)
    assert cells.column("rtt_mean_s", "flow-2").unit == "s"
    with pytest.raises(FourhopError, match="found several flows, allowed: one, named by flow="):
        cells.column("rtt_mean_s")
    seeds = cells.measure(lambda run: float(run.seed))
    assert seeds.values == (1.0, 2.0, 3.0)


def test_what_was_read_of_a_sweep_is_not_read_again(parallel: SweepResult, scanned: list[list[str]]) -> None:
    def read() -> list[str]:
        return ["".join(Path(paths[0]).suffixes) for paths in scanned]

    cells = Cells.of(SweepResult.load(parallel.store.folder))
    assert read() == [".parquet"]
    first, again = (cells.where(transport="vegas").series() for _ in range(2))
    assert first.equals(again)
    cells.where(transport="vegas").over_time("goodput_bps", "flow-2", 2.0, 5.0)
    assert read() == [".parquet", ".series.parquet"]
    other = cells.where(transport="newreno").series()
    assert read() == [".parquet", *2 * [".series.parquet"]]
    assert other["transport"].unique().to_list() == ["newreno"]


def test_keys_choose_a_cell_for_whatever_is_asked(parallel: SweepResult) -> None:
    cells = Cells.of(parallel)
    vegas = cells.where(transport="vegas")
    assert cells.share("flow-1", transport="vegas") == vegas.share("flow-1")
    over_time = cells.over_time("goodput_bps", "flow-1", 2.0, 5.0, transport="vegas")
    assert over_time.values == vegas.over_time("goodput_bps", "flow-1", 2.0, 5.0).values
    sent = cells.counter("mac", ["data_sent", "acks_sent"], transport="vegas")
    counted = parallel.counters.filter(
        (pl.col("transport") == "vegas") & (pl.col("layer") == "mac") & pl.col("name").is_in(["data_sent", "acks_sent"])
    )
    assert sent.values == tuple(counted.group_by("seed").agg(pl.col("count").sum()).sort("seed")["count"])


def test_one_batch_is_a_run_without_an_interval(single: SweepResult) -> None:
    run = Run(1, {"flow-1": {"goodput_bps": 2e3, "batches": [2e3]}}, {})
    goodput = Cells([Cell(0, {}, (run,))], single).goodput()
    assert (goodput.values, goodput.method, goodput.interval.half_width) == ((2.0,), "none", None)


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
    # The delta method, compared with small steps.
    flows = single.flows["goodput_bps"].to_list()
    batches = single.batches.pivot("flow", index="batch", values="goodput_bps").drop("batch").rows()
    assert goodput.values == pytest.approx([1e-3 * math.fsum(batch) for batch in batches])
    usual = [math.fsum(column) / len(batches) for column in zip(*batches, strict=True)]
    jain = fourhop.stats.jain
    for value, batch in zip(index.values, batches, strict=True):
        step = 1e-6
        moved = jain([x + step * (b - m) for x, b, m in zip(flows, batch, usual, strict=True)])
        assert moved is not None
        assert value - index.mean == pytest.approx((moved - index.mean) / step, rel=1e-3, abs=1e-6)
    # Batches of two flows belong together within a run, not across runs.
    assert cells.goodput("flow-1").units == cells.goodput("flow-2").units


def test_a_claim_needs_an_interval_not_a_mean(single: SweepResult) -> None:
    cells = Cells.of(single)
    assert above(cells.throughput(), 0.0).holds is None, "one run, one value"
    assert above(cells.goodput(), 0.0).holds is True


def test_the_best_of_several_is_picked_by_what_was_measured(parallel: SweepResult) -> None:
    cells = Cells.of(parallel)
    means = {name: cell.goodput().mean for name, cell in cells.by("transport").items()}
    assert cells.best().goodput().mean == max(means.values())
    worst = cells.best(of=lambda cell: cell.measure(lambda run: -run.columns["aggregate_goodput_bps"]))
    assert worst.goodput().mean == min(means.values())
