"""Sweeps: points, files, refusals and tables."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fourhop
from fourhop import FourhopError, FourhopWarning, Scenario, Sweep, stats
from fourhop.sweeps import columns, document, runfile
from fourhop.sweeps.result import TABLES

SHORT = Scenario.chain(hops=1, duration="2s")


def test_over_is_every_combination_and_zipped_goes_side_by_side() -> None:
    sweep = Sweep(
        SHORT,
        {"topology.hops": range(1, 3), "transport": ["newreno", "vegas"]},
        {"tcp.window": np.array([4, 8]), "radio.rate": ["2Mbps", "11Mbps"]},
    )
    rows = [tuple(point.parameters.values()) for point in sweep.points]
    assert sweep.keys == ("topology.hops", "transport", "tcp.window", "radio.rate")
    assert len(rows) == 8
    assert rows[:3] == [(1, "newreno", 4, "2Mbps"), (1, "newreno", 8, "11Mbps"), (1, "vegas", 4, "2Mbps")]
    last = sweep.points[-1].scenario.resolved
    assert (last["topology"]["hops"], last["traffic"]["transport"], last["tcp"]["window"]) == (2, "vegas", 8)


def test_transport_is_that_of_every_tcp_flow() -> None:
    flows = [
        {"from": 0, "to": 2, "transport": "newreno"},
        {"from": 2, "to": 0, "transport": "udp", "rate": "10kbps"},
        {"from": 1, "to": 2, "transport": "sack"},
    ]
    base = Scenario.chain(hops=2, duration="2s", flows=flows, traffic={"transport": "newreno"})
    made = Sweep(base, {"transport": ["vegas"]}).points[0].scenario.resolved
    assert made["traffic"]["transport"] == "vegas"
    assert [flow["transport"] for flow in made["flows"]] == ["vegas", "udp", "vegas"]


def test_a_key_of_every_flow() -> None:
    flows = [{"from": 0, "to": 1, "transport": "newreno"}, {"from": 1, "to": 0, "transport": "vegas"}]
    made = Sweep(
        SHORT.from_dict({**SHORT.resolved, "traffic": {"transport": "newreno"}, "flows": flows}),
        {"flows[*].window": [3]},
    )
    assert [flow["window"] for flow in made.points[0].scenario.resolved["flows"]] == [3, 3]


def test_variants_are_points_that_are_no_key() -> None:
    sweep = Sweep(variants={"line": SHORT, "grid": Scenario.grid(2, 2, duration="2s")}, over={"tcp.window": [2, 4]})
    assert [(p.parameters["variant"], p.parameters["tcp.window"]) for p in sweep.points] == [
        ("line", 2),
        ("line", 4),
        ("grid", 2),
        ("grid", 4),
    ]
    result = fourhop.sweep(sweep)
    assert result.summary["variant"].to_list() == ["line", "line", "grid", "grid"]
    assert result.flows.filter(pl.col("variant") == "grid")["flow"].n_unique() == 4


def test_every_point_has_the_same_seeds() -> None:
    result = fourhop.sweep(SHORT, {"topology.hops": [1, 2]}, runs=3, seed=40)
    assert result.runs.select("point", "seed").rows() == [(p, s) for p in (0, 1) for s in (40, 41, 42)]


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"topology.hops": [0]}, "sweep: over.topology.hops: found 0, allowed: a whole number from 1 to"),
        ({"tcp.windw": [2]}, "sweep: over.tcp.windw: found an unknown key"),
        ({"tcp.window": []}, "sweep: over.tcp.window: found no value, allowed: at least one"),
        ({"tcp.window": 5}, "sweep: over.tcp.window: found 5, allowed: a list or a range of values"),
        ({"tcp.window": [2, 2]}, "sweep: over.tcp.window: found a value twice, allowed: each value once"),
        ({"tcp.window": [None]}, "sweep: over.tcp.window: found a NoneType, allowed: strings"),
        ({"seed": [1, 2]}, "sweep: over.seed: found a key that cannot be varied"),
        ({"flows[*].window": [2]}, "found a scenario without [[flows]]"),
        (
            {"transport": ["vegas"], "traffic.transport": ["reno"]},
            "sweep: traffic.transport: found traffic.transport, which another key also varies, allowed: each key once",
        ),
    ],
)
def test_what_cannot_be_varied_is_named(over: dict[str, object], message: str) -> None:
    with pytest.raises(fourhop.FourhopError) as raised:
        Sweep(SHORT, over)  # type: ignore[arg-type]
    assert message in str(raised.value)


def test_a_mistake_is_said_once_and_not_for_every_point() -> None:
    hops = {"topology.hops": range(1, 9)}
    for over in ({"transport": ["newreno", "tahoe"], **hops}, {**hops, "transport": ["newreno", "tahoe"]}):
        with pytest.raises(fourhop.FourhopError) as raised:
            Sweep(SHORT, over)
        (said,) = str(raised.value).splitlines()
        assert said.startswith('sweep: over.transport: found "tahoe", allowed: "newreno" or ')
    # A key that is not varied, but invalid with some values of another.
    slow = SHORT.with_(**{"duration": "9s", "warmup": "5s"})
    with pytest.raises(fourhop.FourhopError) as raised:
        Sweep(slow, {"duration": ["3s", "4s"], **hops})
    assert [line.partition("(at ")[2] for line in str(raised.value).splitlines()] == [
        "duration=3s, topology.hops=1 and 7 more points)",
        "duration=4s, topology.hops=1 and 7 more points)",
    ]
    for several, at in (([1], "topology.hops=1)"), ([1, 2], "topology.hops=1 and 1 more point)")):
        with pytest.raises(fourhop.FourhopError) as raised:
            Sweep(slow, {"duration": ["3s"], "topology.hops": several})
        assert f"(at duration=3s, {at}" in str(raised.value)


def test_other_contradictions_are_named() -> None:
    with pytest.raises(fourhop.FourhopError, match="base, variants: found neither"):
        Sweep()
    # Variants must be passed by name: a fourth argument could be anything.
    with pytest.raises(TypeError):
        Sweep(None, {}, {}, {"line": SHORT})  # type: ignore[call-arg]
    with pytest.raises(fourhop.FourhopError, match=r"lists of different lengths: 2 of tcp\.window, 1 of radio\.rate"):
        Sweep(SHORT, {}, {"tcp.window": [1, 2], "radio.rate": ["2Mbps"]})
    with pytest.raises(fourhop.FourhopError, match="a key that is also in over"):
        Sweep(SHORT, {"tcp.window": [1]}, {"tcp.window": [1]})
    with pytest.raises(fourhop.FourhopError, match="runs: found 0"):
        Sweep(SHORT, runs=0)
    with pytest.raises(fourhop.FourhopError, match=r'^sweep: precision_of: found "all", allowed: "aggregate", "flows"'):
        Sweep(SHORT, precision="5%", precision_of="all")  # type: ignore[arg-type]
    with pytest.raises(fourhop.FourhopError, match="seed: found -1"):
        Sweep(SHORT, seed=-1)
    with pytest.raises(fourhop.FourhopError, match="the Sweep already has its keys"):
        fourhop.sweep(Sweep(SHORT), runs=3)


def test_the_key_is_of_what_a_result_depends_on() -> None:
    def key(scenario: Scenario, seed: int = 1, engine: str = "e") -> str:
        return runfile.key(scenario.resolved_json, seed, engine)

    assert key(SHORT) == key(SHORT.with_(name="another")) == key(SHORT.with_(seed=9))
    assert re.fullmatch(r"\d+\.\d+\.\d+.*\+[0-9a-f]{16}", runfile.engine())
    # Writing out a default gives the same scenario.
    assert key(SHORT) == key(Scenario.from_dict(SHORT.resolved))
    different = {key(SHORT), key(SHORT, 2), key(SHORT, engine="f"), key(SHORT.with_(duration="3s"))}
    assert len(different) == 4
    # The form is the same however it is assembled, so stored runs are found again.
    bare = {name: value for name, value in SHORT.resolved.items() if name not in ("name", "seed")}
    content = {"engine": "e", "layout": runfile._LAYOUT, "scenario": bare, "seed": 1}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    assert key(SHORT) == hashlib.sha256(text.encode()).hexdigest()[:40]


def test_a_point_is_what_run_yields() -> None:
    base = Scenario.parallel_chains(hops=2, duration="5s", sample_every="1s")
    result = fourhop.sweep(base, {"topology.hops": [1, 2]}, runs=2, seed=5)
    alone = fourhop.run(base.with_(**{"topology.hops": 2}), runs=2, seed=5)
    point = result.point(1)
    for stored, run in zip(point.runs, alone.runs, strict=True):
        assert {**stored, "wall_s": 0.0} == {**run, "wall_s": 0.0}
    assert point.flows.equals(alone.flows)
    assert result.flow_summary.filter(pl.col("point") == 1).select(alone.summary.columns).equals(alone.summary)
    series = result.series.filter(pl.col("point") == 1).collect()
    assert series.select(alone.series.columns).equals(alone.series)
    queues = result.queues.filter(pl.col("point") == 1).collect()
    assert queues.select(alone.queues.columns).equals(alone.queues)
    assert result.aggregate(1) == alone.aggregate
    row = result.summary.row(1, named=True)
    assert alone.jain is not None
    assert (row["jain_mean"], row["jain_half_width"]) == (alone.jain.mean, alone.jain.half_width)
    drops = alone.drops.filter(pl.col("layer") != "radio").group_by("seed").agg(pl.col("count").sum()).sort("seed")
    assert result.runs.filter(pl.col("point") == 1)["dropped_packets"].to_list() == drops["count"].to_list()


def test_one_run_a_point_has_batch_means() -> None:
    base = Scenario.parallel_chains(hops=1, duration="5s")
    result = fourhop.sweep(base, {"tcp.window": [2, 4]})
    alone = fourhop.run(base.with_(**{"tcp.window": 4}))
    assert result.summary["interval"].to_list() == ["batch means"] * 2
    interval = result.aggregate(1)
    assert (interval.mean, interval.half_width) == pytest.approx((alone.aggregate.mean, alone.aggregate.half_width))
    batches = result.batches.filter((pl.col("point") == 1) & (pl.col("flow") == "flow-2"))["goodput_bps"].to_list()
    assert stats.batch_means(batches).half_width == alone.goodput("flow-2").half_width
    assert result.note is not None


def test_a_varied_key_does_not_hide_what_a_flow_used() -> None:
    base = Scenario.chain(
        hops=1,
        duration="2s",
        flows=[
            {"from": 0, "to": 1, "transport": "newreno"},
            {"from": 1, "to": 0, "transport": "udp", "rate": "10kbps"},
        ],
    )
    result = fourhop.sweep(base, {"transport": ["vegas"]})
    assert result.flows.select("transport", "flow_transport").rows() == [("vegas", "vegas"), ("vegas", "udp")]
    assert result.flow_summary.select("transport", "flow_transport").rows() == [("vegas", "vegas"), ("vegas", "udp")]


def test_columns_of_parameters_have_the_kind_of_their_values() -> None:
    result = fourhop.sweep(
        SHORT, {"tcp.window": [2, "none"], "mac.rts_threshold": ["0B"], "tcp.limited_transmit": [True, False]}
    )
    kinds = dict(zip(result.points.columns, result.points.dtypes, strict=True))
    assert kinds["tcp.window"] == pl.String
    assert kinds["tcp.limited_transmit"] == pl.Boolean
    assert kinds["point"] == pl.Int64
    assert result.points["tcp.window"].unique().sort().to_list() == ["2", "none"]


def test_tables_open_in_pandas_and_say_what_they_hold(tmp_path: Path) -> None:
    result = fourhop.sweep(
        Scenario.parallel_chains(hops=1, duration="2s"), {"tcp.window": [2, 4]}, runs=2, out=tmp_path
    )
    assert list(result.pandas("flows").columns) == result.flows.columns
    with pytest.MonkeyPatch.context() as without:
        without.setitem(sys.modules, "pandas", None)
        with pytest.raises(
            FourhopError, match=r"pandas: a package is not installed \(.*\): pip install pandas pyarrow"
        ):
            result.pandas("flows")
    for name in TABLES:
        frame = pl.read_parquet(tmp_path / f"{name}.parquet")
        assert frame.equals(getattr(result, name))
        about = json.loads(pl.read_parquet_metadata(tmp_path / f"{name}.parquet")["fourhop"])
        assert list(about["columns"]) == frame.columns
        assert all(text and text != column for column, text in about["columns"].items()), name
        if name not in ("points", "summary", "flow_summary"):
            assert {"point", "tcp.window", "seed"} <= set(frame.columns), name
    assert set(columns.RUN_COLUMNS) == set(runfile.SCHEMA.names())


def test_a_result_is_read_back(tmp_path: Path) -> None:
    result = fourhop.sweep(
        None, {"tcp.window": [2, 4]}, variants={"a": SHORT, "b": SHORT.with_(duration="3s")}, runs=2, out=tmp_path
    )
    again = fourhop.SweepResult.load(tmp_path)
    assert again.sweep.keys == result.sweep.keys
    for name in TABLES:
        assert getattr(again, name).equals(getattr(result, name)), name
    assert again.point(3).scenario.duration_s == 3.0
    with pytest.raises(fourhop.FourhopError, match=r"sweep\.json: cannot be read"):
        fourhop.SweepResult.load(tmp_path / "nowhere")


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_the_same_sweep_as_in_python(tmp_path: Path, chain: Path) -> None:
    file = write(
        tmp_path / "mine.toml",
        f"""
        scenario = "{chain.name}"
        runs = 4
        seed = 3
        [set]
        duration = "20s"
        [over]
        topology.hops = {{ from = 1, to = 3 }}
        "topology.spacing" = {{ from = "150m", to = "200m", step = "25m" }}
        transport = ["newreno", "vegas"]
        [zipped]
        tcp.window = [4, 8]
        radio.rate = ["2Mbps", "11Mbps"]
        """,
    )
    read = document.load(file)
    base = Scenario.from_toml(chain).with_(duration="20s")
    made = Sweep(
        base,
        {"topology.hops": [1, 2, 3], "topology.spacing": ["150m", "175m", "200m"], "transport": ["newreno", "vegas"]},
        {"tcp.window": [4, 8], "radio.rate": ["2Mbps", "11Mbps"]},
        runs=4,
        seed=3,
        name="mine",
    )
    assert read == made
    assert [point.scenario for point in read.points] == [point.scenario for point in made.points]


def test_millions_of_points_are_refused_before_there_is_one() -> None:
    keys = {f"tcp.{name}": range(1, 10_001) for name in ("window", "dupthresh", "max_timeouts")}
    tracemalloc.start()
    with pytest.raises(FourhopError, match="sweep: found 1000000000000 points, allowed: at most 1000000"):
        Sweep(Scenario.chain(hops=1), keys)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10e6, "the values themselves, and not their combinations"


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("{ from = 3, to = 1 }", [3, 2, 1]),
        ("{ from = 1, to = 6, step = 2 }", [1, 3, 5]),
        ("{ from = 0.1, to = 0.5, step = 0.1 }", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ('{ from = "0.5s", to = "1.5s", step = "0.5s" }', ["0.5s", "1s", "1.5s"]),
        ("[1, 2]", [1, 2]),
    ],
)
def test_ranges_include_their_ends(given: str, values: list[object]) -> None:
    assert document.values(tomllib.loads(f"x = {given}")["x"]) == values


BASE = 'scenario = "chain.toml"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "s.toml: scenario, variants: found neither, allowed: one of the two"),
        (BASE + "rnus = 5", "s.toml: rnus: found an unknown key, allowed: max_runs, name, over, precision, "),
        (BASE + "rnus = 5", '(did you mean "runs"?)'),
        (BASE + "runs = 0", "s.toml: runs: found 0, allowed: 1 to"),
        (BASE + 'runs = "5"', 's.toml: runs: found "5", allowed: a whole number'),
        (BASE + "runs = true", "s.toml: runs: found true, allowed: a whole number"),
        (BASE + 'runs = 5\nprecision = "5%"', "s.toml: runs, precision: found both"),
        (BASE + "max_runs = 5", "s.toml: max_runs: found this key without precision"),
        (BASE + 'precision = "500%"', "s.toml: precision: found '500%', allowed: a share"),
        ("runs = \n", "s.toml:1:8: found text that is not TOML, allowed: a sweep in TOML (Invalid value)"),
        (
            'scenario = "nowhere.toml"',
            's.toml: scenario: found "nowhere.toml", allowed: a scenario file in the folder of s.toml',
        ),
        (BASE + "[over]\ntcp.window = 5", "s.toml: over.tcp.window: found 5, allowed: a list, or { from"),
        (BASE + "[over]\ntcp.window = { from = 1 }", "s.toml: over.tcp.window: found a range without to"),
        (BASE + "[over]\ntcp.window = { from = 1, to = 3, step = 0 }", "s.toml: over.tcp.window: found step 0"),
        (
            BASE + '[over]\ntcp.window = { from = 1, to = "3m" }',
            "found a range of different units (no unit, m, no unit)",
        ),
        (BASE + "[over]\ntcp.window = [0, 1]", "s.toml: over.tcp.window: found 0, allowed: a whole number from 1"),
        (BASE + "[over]\ntcp.windw = [1]", "s.toml: over.tcp.windw: found an unknown key"),
        (BASE + "[set]\ntcp.window = 0", "s.toml: set.tcp.window: found 0, allowed: a whole number from 1"),
        (
            BASE + "[zipped]\ntcp.window = [1]\nduration = ['1s', '2s']",
            "s.toml: zipped: found lists of different lengths",
        ),
        ("[scenario]\nprofile = 'ns3'\nduration = '1s'", 's.toml: scenario.profile: found "ns3", allowed: "ns2"'),
    ],
)
@pytest.mark.usefixtures("chain")
def test_errors_of_a_file_are_named(text: str, message: str, tmp_path: Path) -> None:
    file = write(tmp_path / "s.toml", text)
    with pytest.raises(fourhop.FourhopError) as raised:
        document.load(file)
    assert message in str(raised.value).replace(f"{tmp_path}/", "")


def test_a_mistake_in_the_scenario_file_is_named_there(tmp_path: Path) -> None:
    write(tmp_path / "bad.toml", 'profile = "ns2"\nduration = "10"\n')
    file = write(tmp_path / "s.toml", 'scenario = "bad.toml"')
    with pytest.raises(fourhop.ScenarioError, match=r"bad\.toml:2:\d+: duration: found"):
        document.load(file)


def test_flows_that_no_path_leads_along_are_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    chain = Scenario.chain(hops=2, transport="newreno", duration="2s")
    spacings = ["200m", "300m", "400m", "500m", "600m", "700m"]
    result = fourhop.sweep(chain, {"topology.spacing": spacings})
    said = [str(each.message) for each in recwarn if each.category is FourhopWarning]
    assert len(said) == 4
    assert said[0].startswith("topology.spacing=300m: flow-1: no path of links from node 0 to node 2")
    assert said[3] == "2 more like these"
    assert len(result.flows_without_path()) == 5
