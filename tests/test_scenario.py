"""Scenarios built in Python equal those read from files, and error messages name the position."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fourhop
from fourhop import Scenario, ScenarioError
from tests.conftest import CHAIN, ROOT


def test_python_and_toml_come_to_the_same() -> None:
    written = Scenario(CHAIN, "chain-3.toml")
    built = Scenario.chain(hops=3, duration="10s")
    assert built == written
    assert hash(built) == hash(written)
    assert built != Scenario.chain(hops=4, duration="10s")


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario.chain(hops=7),
        Scenario.parallel_chains(hops=5),
        Scenario.parallel_chains(hops=[4, 10], separation="300m"),
        Scenario.cross(hops=4),
        Scenario.grid(columns=4, rows=3),
        Scenario.random(nodes=30, width="800m", height="800m", pairs=3),
        Scenario.positions(
            [("0m", "0m"), ("200m", "0m"), ("400m", "50m")],
            flows=[{"from": 0, "to": 2, "transport": "udp", "rate": "100kbps"}],
        ),
        Scenario.coordinates(
            [(52.5163, 13.3777), (52.5180, 13.3777)],
            flows=[{"from": 0, "to": 1, "transport": "newreno"}],
            nodes=[{"node": [0, 1], "antenna_gain": "5dB"}],
            losses=[{"from": 0, "to": 1, "loss": "80dB"}],
            walls=[{"corners": [["5m", "0m"], ["5m", "50m"]], "loss": "6dB"}],
        ),
        Scenario.chain(hops=2, transport="udp", traffic={"rate": "200kbps"}, profile="standard"),
        Scenario.chain(hops=2, transport="ping"),
        Scenario.chain(hops=2, transport="atp", atp={"epoch": "500ms"}),
    ],
    ids=lambda scenario: scenario.name,
)
def test_what_is_written_reads_back(scenario: Scenario, tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    assert Scenario.from_toml(path) == scenario
    assert Scenario.from_dict(scenario.resolved) == scenario


def test_a_scenario_does_not_change() -> None:
    scenario = Scenario.chain(hops=3)
    before = scenario.resolved_json
    changed = scenario.with_(**{"topology.hops": 5, "tcp.window": 8, "mac.immediate_access": True})
    scenario.flow(0, 1, transport="newreno")
    scenario.resolved["topology"]["hops"] = 9
    assert scenario.resolved_json == before
    assert changed.resolved["topology"]["hops"] == 5
    assert changed.resolved["tcp"]["window"] == 8
    assert changed.resolved["mac"]["immediate_access"] is True


def test_flows_take_the_place_of_the_traffic() -> None:
    scenario = Scenario.chain(hops=4).with_(**{"traffic.start": "2s"})
    both = scenario.flow(0, 4, transport="newreno").flow(4, 0, transport="newreno", start="10s", name="back")
    assert both.flow_count == 2
    assert [flow["name"] for flow in both.resolved["flows"]] == ["flow-1", "back"]
    assert "traffic" not in both.resolved


def test_sections_refine_what_the_constructor_sets() -> None:
    scenario = Scenario.chain(hops=4, traffic={"window": 2}, radio={"rate": "11Mbps"})
    assert scenario.resolved["traffic"]["transport"] == "newreno"
    assert scenario.resolved["traffic"]["window"] == 2
    assert scenario.resolved["radio"]["rate"] == "11Mbps"


@pytest.mark.parametrize(("duration", "seconds"), [("100s", 100.0), ("2min", 120.0), ("1500ms", 1.5), ("1h", 3600.0)])
def test_duration_in_seconds(duration: str, seconds: float) -> None:
    assert Scenario.chain(hops=1, duration=duration).duration_s == pytest.approx(seconds)


def test_repr_is_a_line() -> None:
    assert repr(Scenario.cross(hops=4)) == "<Scenario cross-4, cross, 2 flows (newreno), 100s, profile ns2>"


def test_a_problem_has_its_place() -> None:
    with pytest.raises(ScenarioError) as raised:
        Scenario(CHAIN.replace('"newreno"', '"vagas"'), "c.toml")
    (problem,) = raised.value.problems
    assert isinstance(raised.value, ValueError)
    assert (problem["file"], problem["line"], problem["key"]) == ("c.toml", 9, "traffic.transport")
    assert problem["found"] == '"vagas"'
    assert "newreno" in problem["allowed"]
    assert str(raised.value).startswith("c.toml:9:")


def test_problems_of_python_name_the_key() -> None:
    with pytest.raises(ScenarioError, match=r"radio\.rate: found 2, allowed: a rate .*the unit is missing"):
        Scenario.chain(hops=1).with_(**{"radio.rate": 2})
    with pytest.raises(ScenarioError, match=r"unknown key"):
        Scenario.chain(hops=1, durration="1s")
    with pytest.raises(ScenarioError, match=r"flows\[0\]\.to"):
        Scenario.chain(hops=1).flow(0, 7, transport="newreno")


def test_one_exception_catches_all_that_a_person_can_put_right() -> None:
    assert issubclass(ScenarioError, fourhop.FourhopError)
    with pytest.raises(fourhop.FourhopError):
        Scenario.chain(hops=0)


def test_problems_of_with_name_no_option_of_the_command_line() -> None:
    with pytest.raises(ScenarioError) as raised:
        Scenario.chain(hops=1).with_(**{"tcp.window": 4}).with_(radio={"rate": 2})
    assert str(raised.value).startswith("with_: radio.rate: found 2")
    with pytest.raises(ScenarioError, match=r"^with_: flows\[3\]"):
        Scenario.chain(hops=1).with_(**{"radio.rate": "2Mbps"}).flow(0, 1, transport="reno").with_(
            **{"flows[3].window": 1}
        )


def test_with_takes_tables_as_constructors_do() -> None:
    keys: dict[str, Any] = {"radio": {"rate": "11Mbps"}, "routing": {"protocol": "static"}, "traffic": {"window": 7}}
    assert Scenario.chain(hops=2).with_(**keys) == Scenario.chain(hops=2, **keys)
    flows = [{"from": 0, "to": 2, "transport": "reno", "name": 'a "b" = c'}, {"from": 2, "to": 0, "transport": "sack"}]
    with_flows = Scenario.chain(hops=2, flows=[{"from": 0, "to": 1, "transport": "reno"}]).with_(flows=flows)
    assert with_flows == Scenario.chain(hops=2, flows=flows)


def test_whole_numbers_may_come_from_numpy_or_with_a_point() -> None:
    import numpy as np

    plain = Scenario.grid(columns=3, rows=2, tcp={"window": 4}).flow(0, 5, transport="reno")
    made = Scenario.grid(columns=np.int64(3), rows=2.0, tcp={"window": np.int32(4)})  # type: ignore[arg-type]
    assert made.flow(np.int64(0), 5.0, transport="reno") == plain  # type: ignore[arg-type]
    assert plain.with_(**{"tcp.window": np.int64(8)}) == plain.with_(**{"tcp.window": 8.0})
    with pytest.raises(ScenarioError, match=r"found 2\.5, allowed: a whole number"):
        plain.with_(**{"tcp.window": 2.5})
    assert Scenario.parallel_chains(hops=np.int64(2)) == Scenario.parallel_chains(hops=2.0)  # type: ignore[arg-type]
    assert Scenario.parallel_chains(hops=np.array([2, 3])) == Scenario.parallel_chains(hops=[2, 3])  # type: ignore[arg-type]
    result = fourhop.run(plain.with_(duration="2s"), runs=np.int64(2), seed=3.0, jobs=np.int64(1))  # type: ignore[arg-type]
    assert result.seeds == (3, 4)
    with pytest.raises(fourhop.FourhopError, match=r"runs: found 1\.5, allowed: 1 to"):
        fourhop.run(plain, runs=1.5)  # type: ignore[arg-type]


def test_what_no_scenario_holds_is_named() -> None:
    with pytest.raises(fourhop.FourhopError, match="scenario: Object of type PosixPath is not JSON"):
        Scenario.chain(hops=1, name=Path("a"))


def test_transport_is_that_of_every_tcp_flow() -> None:
    scenario = Scenario.chain(hops=2).flow(0, 2, transport="reno").flow(2, 0, transport="udp", rate="9kbps")
    assert [flow["transport"] for flow in scenario.with_(transport="vegas").resolved["flows"]] == ["vegas", "udp"]
    with pytest.raises(ScenarioError, match=r"with_: traffic\.transport: found a key of \[traffic\] in a scenario"):
        scenario.with_(traffic={"transport": "vegas"})


def test_files_are_run_by_name(tmp_path: Path) -> None:
    path = tmp_path / "chain.toml"
    path.write_text(CHAIN.replace("100s", "5s"), encoding="utf-8")
    given = Scenario.from_toml(path)
    assert fourhop.run(str(path), runs=2).flows.equals(fourhop.run(given, runs=2).flows)
    assert fourhop.sweep(path, {"topology.hops": [1]}).summary.height == 1
    assert fourhop.explain(path).flow == "flow-1"
    assert fourhop.best_rate(path, trials=2, runs=1).trials[0].offered_bps > 0
    nodes = tmp_path / "pair.txt"
    nodes.write_text("rate 2\nnode 0 0\nnode 200 0\nflow 0 1 1\n", encoding="utf-8")
    assert Scenario.of(nodes).flow_count == 1


def test_runs_and_precision_exclude_each_other() -> None:
    with pytest.raises(fourhop.FourhopError, match="runs, precision: found both, allowed: one of the two"):
        fourhop.run(Scenario.chain(hops=1), runs=3, precision="5%")


def test_a_flow_without_a_path_is_warned_of() -> None:
    far = Scenario.chain(hops=2, spacing="300m", duration="3s")
    said = "flow-1: no path of links from node 0 to node 2: the unreached node nearest to node 0 is node 1, 300 m"
    with pytest.warns(fourhop.FourhopWarning, match=said) as caught:
        result = fourhop.run(far)
    assert caught[0].filename == __file__
    assert result.aggregate.mean == 0.0


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(fourhop.FourhopError, match="cannot be read: Is a directory"):
        Scenario.from_toml(tmp_path)


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_the_example_scenarios_are_sound(path: Path) -> None:
    assert Scenario.from_toml(path).flow_count >= 1


def test_a_node_list_of_the_ns2_comparisons(tmp_path: Path) -> None:
    path = tmp_path / "pair.txt"
    path.write_text("rate 2\nwindow 64\nnode 0 0\nnode 200 0\nflow 0 1 1\n", encoding="utf-8")
    scenario = Scenario.from_ns2(path, transport="newreno", duration="20s")
    assert scenario.duration_s == 20.0
    assert scenario.flow_count == 1
    assert scenario.resolved["radio"]["rate"] == "2Mbps"
    path.write_text("rate 2\nnode 0 zero\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"pair\.txt:2"):
        Scenario.from_ns2(path, transport="newreno", duration="20s")


def test_the_catalog_names_what_scenarios_can() -> None:
    kinds = fourhop.catalog()
    assert all(summary for names in kinds.values() for summary in names.values())
