"""Results: tables, intervals, folders, figures, and the stop rule."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fourhop
from fourhop import plots, recorded, rundata, stats
from fourhop.result import Result
from fourhop.sweeps import schedule
from fourhop.sweeps.schedule import Prefix, Rule


@pytest.fixture(scope="module")
def scenario() -> fourhop.Scenario:
    return fourhop.Scenario.parallel_chains(hops=2, duration="10s", sample_every="500ms")


@pytest.fixture(scope="module")
def result(scenario: fourhop.Scenario) -> Result:
    return fourhop.run(scenario, runs=3, seed=11)


def test_flows_have_a_row_for_each_seed_and_flow(result: Result) -> None:
    assert result.seeds == (11, 12, 13)
    assert result.flows.select("seed", "flow").rows() == [
        (seed, flow) for seed in result.seeds for flow in ("flow-1", "flow-2")
    ]
    assert (result.flows["goodput_bps"] <= result.flows["throughput_bps"]).all()
    assert (result.flows["retransmitted_packets"] <= result.flows["sent_packets"]).all()


def test_summary_is_made_of_the_flows(result: Result) -> None:
    assert result.summary["flow"].to_list() == ["flow-1", "flow-2"]
    assert result.summary["interval"].to_list() == ["replications"] * 2
    values = result.flows.filter(pl.col("flow") == "flow-2")["goodput_bps"].to_list()
    interval = stats.student_interval(values)
    assert result.goodput("flow-2") == interval
    row = result.summary.row(1, named=True)
    assert (row["goodput_bps_mean"], row["goodput_bps_half_width"]) == (interval.mean, interval.half_width)


def test_aggregate_and_fairness(result: Result) -> None:
    sums = result.flows.group_by("seed", maintain_order=True).agg(pl.col("goodput_bps").sum())["goodput_bps"]
    assert result.aggregate.mean == pytest.approx(sums.mean())
    assert result.jain is not None
    assert 0.5 <= result.jain.mean <= 1.0
    for run in result.runs:
        assert run["jain"] == pytest.approx(stats.jain([flow["goodput_bps"] for flow in run["flows"]]))


def test_packets_are_conserved_at_each_layer(result: Result) -> None:
    for run in result.runs:
        assert run["conservation"]
        for layer, counts in run["conservation"].items():
            assert counts["in"] == counts["out"] + counts["dropped"] + counts["held"], layer


def test_series_are_long_tables(result: Result) -> None:
    assert result.series.columns[:10] == [
        "seed",
        "flow",
        "time_s",
        "goodput_bps",
        "cwnd_segments",
        "srtt_s",
        "rtt_s",
        "delay_s",
        "variation",
        "pacing_interval_s",
    ]
    one = result.series.filter((pl.col("seed") == 11) & (pl.col("flow") == "flow-1"))
    assert one["time_s"].is_sorted()
    assert one.height == 20
    assert result.queues["node"].n_unique() == 6


def test_saving_streams_the_series_and_tidies_up(tmp_path: Path) -> None:
    scenario = fourhop.Scenario.chain(hops=2, duration="5s", sample_every="500ms")
    saved = fourhop.run(scenario, runs=2, seed=3, out=tmp_path)
    kept = fourhop.run(scenario, runs=2, seed=3)
    assert not list(tmp_path.glob(f"{recorded.STAGING}*/*.csv"))
    assert pl.read_parquet(tmp_path / "series.parquet").equals(kept.series)
    assert saved.series.equals(kept.series)
    assert saved.scan("queues").select(pl.len()).collect().item() == 2 * 10 * 3
    # Save it again over itself, and elsewhere.
    saved.save(tmp_path)
    assert pl.read_parquet(saved.save(tmp_path / "copy") / "queues.parquet").equals(kept.queues)
    # Another result in the same folder is not mistaken for this one, which keeps its own.
    other = fourhop.run(scenario, seed=9, out=tmp_path)
    assert pl.read_parquet(tmp_path / "series.parquet").equals(other.series)
    assert saved.scan("series").collect().equals(kept.series)
    del saved, other
    assert not list(tmp_path.glob(f"{recorded.STAGING}*"))


def test_series_files_go_with_the_result() -> None:
    result = fourhop.run(fourhop.Scenario.chain(hops=1, duration="2s", sample_every="1s"))
    assert isinstance(result.recorded, recorded.Recorded)
    folder = result.recorded.folder
    assert sorted(path.name for path in folder.iterdir()) == ["seed-1.flows.csv", "seed-1.queues.csv"]
    assert result.series.height == 2
    del result
    assert not folder.exists()


_MEASURE = """
import resource, sys, tempfile
from pathlib import Path
from fourhop._core import Run, check
scenario = check(sys.argv[1], overrides=[f"duration={sys.argv[2]}"])
with tempfile.TemporaryDirectory() as folder:
    run = Run(scenario, 1, None, Path(folder))
    while run.poll(1.0) is None:
        pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_the_memory_of_a_run_does_not_grow_with_its_samples() -> None:
    text = (
        'profile = "standard"\nduration = "1s"\nwarmup = "0s"\nsample_every = "1ms"\n[topology]\nkind = "chain"\n'
        'hops = 1\n[[flows]]\nfrom = 0\nto = 1\ntransport = "ping"\ninterval = "1s"\n'
    )

    def peak_kib(duration: str) -> int:
        command = [sys.executable, "-c", _MEASURE, text, duration]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    # As vectors, those of the second run would take 24 MB, and their JSON twice that.
    assert peak_kib("400s") < peak_kib("2s") + 8 * 1024


def test_no_series_unless_asked_for() -> None:
    result = fourhop.run(fourhop.Scenario.chain(hops=1, duration="2s"))
    assert result.series.is_empty()
    assert result.queues.is_empty()
    with pytest.raises(fourhop.FourhopError, match="sample_every"):
        plots.time_series(result)


def test_frames_open_in_pandas(result: Result) -> None:
    frame = result.flows.to_pandas()
    assert list(frame.columns) == result.flows.columns
    assert frame["goodput_bps"].mean() == pytest.approx(result.flows["goodput_bps"].mean())


def test_one_run_has_batch_means(scenario: fourhop.Scenario) -> None:
    result = fourhop.run(scenario)
    batches = result.flows["batch_goodput_bps"][0].to_list()
    interval = result.goodput("flow-1")
    assert len(batches) == 10
    assert interval.method == "batch means"
    assert interval.half_width == pytest.approx(stats.batch_means(batches).half_width)
    assert interval.mean == pytest.approx(result.flows["goodput_bps"][0])
    assert result.note is not None


def test_to_json_is_strict(result: Result) -> None:
    parsed = json.loads(result.to_json(), parse_constant=lambda constant: pytest.fail(f"{constant} in JSON"))
    assert parsed["seeds"] == [11, 12, 13]
    assert parsed["scenario"] == result.scenario.resolved


def test_save_and_read_back(result: Result, tmp_path: Path) -> None:
    folder = result.save(tmp_path / "out")
    assert sorted(path.name for path in folder.iterdir()) == [
        "conservation.parquet",
        "counters.parquet",
        "drops.parquet",
        "flows.parquet",
        "link_drops.parquet",
        "queues.parquet",
        "run.json",
        "scenario.toml",
        "series.parquet",
        "summary.parquet",
        "wires.parquet",
    ]
    assert pl.read_parquet(folder / "flows.parquet").equals(result.flows)
    assert pl.read_parquet(folder / "series.parquet").equals(result.series)
    assert fourhop.Scenario.from_toml(folder / "scenario.toml") == result.scenario
    manifest = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert manifest["fourhop"] == fourhop.__version__
    assert manifest["seeds"] == [11, 12, 13]
    assert manifest["result"] == result.to_dict()


def test_a_result_replaces_an_older_one(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path)
    without_series = fourhop.run(fourhop.Scenario.chain(hops=1, duration="2s"), out=tmp_path)
    assert not (tmp_path / "series.parquet").exists()
    assert pl.read_parquet(tmp_path / "flows.parquet").equals(without_series.flows)


def test_figures(result: Result, tmp_path: Path) -> None:
    for quantity in ("goodput_bps", "cwnd_segments", "srtt_s", "pacing_interval_s"):
        axes = plots.time_series(result, quantity, seed=12)
        assert [line.get_label() for line in axes.lines] == ["flow-1", "flow-2"]
        assert axes.get_xlabel() == "time (s)"
        assert "(" in axes.get_ylabel()
        assert not axes.get_title()
        for path in plots.save(axes, tmp_path / quantity):
            assert path.stat().st_size > 1000


def test_a_figure_over_hops_draws_means_and_intervals() -> None:
    points = [(hops, stats.Interval(1e6 / hops, 1e4 * hops, 5, "replications")) for hops in (1, 2, 4)]
    axes = plots.over_hops({"a": points, "b": points[:1]})
    first, second = axes.containers
    assert first[0].get_xydata().tolist() == [[1.0, 1000.0], [2.0, 500.0], [4.0, 250.0]]
    (bars,) = first[2]
    ends = [float(end[1]) for segment in bars.get_segments() for end in segment]
    assert ends == pytest.approx([990.0, 1010.0, 480.0, 520.0, 210.0, 290.0])
    assert first[0].get_color() != second[0].get_color()
    assert axes.get_ylim()[0] == 0.0


def run_of(seed: int, *goodputs: float) -> rundata.RunData:
    flows = [{"name": f"flow-{i}", "goodput_bps": goodput} for i, goodput in enumerate(goodputs)]
    return {"seed": seed, "flows": flows, "aggregate_goodput_bps": math.fsum(goodputs)}  # type: ignore[typeddict-item]


def prefix(runs: list[rundata.RunData], target: float, **rule: Any) -> Prefix:
    made = Prefix(1, Rule(least=3, most=9, target=target, **rule))
    for run in runs:
        made.add(run["seed"], run)
    return made


def test_the_stop_rule_ignores_the_order_in_which_runs_finish() -> None:
    runs = [run_of(seed, value) for seed, value in enumerate([10.0, 12.0, 11.0, 11.0, 11.0, 11.0], start=1)]
    in_order = prefix(runs, 0.2)
    late = prefix(runs[1:], 0.2)
    assert (late.count, late.met) == (0, False)
    late.add(1, runs[0])
    assert (in_order.count, in_order.met) == (late.count, late.met) == (4, True)
    assert in_order.precision == late.precision


def test_the_stop_rule_takes_at_least_three_runs() -> None:
    same = [run_of(seed, 5.0) for seed in (1, 2, 3)]
    rule = prefix(same[:2], 0.5)
    assert rule.precision == 0.0
    assert not rule.met
    rule.add(3, same[2])
    assert rule.met


def test_the_stop_rule_may_look_every_few_runs_only() -> None:
    # Three runs scatter; from the fourth on they are close enough, and the next look is at the fifth.
    runs = [run_of(seed, value) for seed, value in enumerate([10.0, 12.0, 11.0, 11.0, 11.0, 11.0, 11.0], start=1)]
    assert prefix(runs, 0.2, step=2).count == 5


def test_the_stop_rule_over_flows_waits_for_the_worst() -> None:
    runs = [run_of(1, 90.0, 10.0), run_of(2, 80.0, 20.0), run_of(3, 70.0, 30.0)]
    flows = prefix(runs, 0.05, judged=schedule.flow_goodputs)
    assert prefix(runs, 0.05).met
    assert not flows.met
    # Mean 20, sample deviation 10, t(2) = 4.30265.
    assert flows.precision == pytest.approx(4.30265 * 10.0 / math.sqrt(3.0) / 20.0, rel=1e-5)


def test_the_stop_rule_over_flows_does_not_drop_one_that_is_unknown() -> None:
    runs = [run_of(seed, 90.0, math.nan) for seed in (1, 2, 3)]
    flows = prefix(runs, 0.05, judged=schedule.flow_goodputs)
    assert (flows.count, flows.precision, flows.met) == (3, None, False)


def test_progress_is_reported_from_the_calling_thread() -> None:
    reports: list[fourhop.Progress] = []
    fourhop.run(fourhop.Scenario.chain(hops=2, duration="5s"), runs=4, progress=reports.append)
    assert reports[-1].done == reports[-1].wanted == 4
    assert reports[-1].fraction == 1.0
    assert all(0.0 <= report.fraction <= 1.0 for report in reports)
    assert [report.done for report in reports] == sorted(report.done for report in reports)


def test_seeds_give_different_runs_and_the_same_seed_the_same() -> None:
    scenario = fourhop.Scenario.chain(hops=4, duration="20s")
    first, again = (fourhop.run(scenario, runs=3, seed=4) for _ in range(2))
    assert first.flows.equals(again.flows)
    assert first.counters.equals(again.counters)
    assert first.flows["goodput_bps"].n_unique() == 3


def test_the_seed_of_the_scenario_is_the_first() -> None:
    scenario = fourhop.Scenario.chain(hops=1, duration="2s", seed=40)
    assert fourhop.run(scenario, runs=2).seeds == (40, 41)
    assert fourhop.run(scenario, runs=2, seed=7).seeds == (7, 8)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"runs": 0}, "runs: found 0"),
        ({"precision": "5"}, "precision"),
        ({"precision": "5%", "max_runs": 1}, "max_runs"),
        ({"seed": 2**53}, "seed"),
        ({"jobs": -1}, "jobs"),
        ({"precision": "5%", "precision_of": "delay"}, "precision_of"),
    ],
)
def test_arguments_that_make_no_sense(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(fourhop.FourhopError, match=said):
        fourhop.run(fourhop.Scenario.chain(hops=1, duration="2s"), **arguments)  # type: ignore[arg-type]
