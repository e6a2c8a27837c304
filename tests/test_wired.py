"""Wired hosts and gateways, as shown in Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fourhop
from fourhop import Scenario, ScenarioError


def upload(**keys: Any) -> Scenario:
    scenario = Scenario.chain(hops=2, duration="6s", **keys).wired(["last"], ["R", "B"], delay="5ms")
    return scenario.flow(0, "B", transport="newreno")


def test_tables_name_the_wired_links() -> None:
    result = fourhop.run(upload(sample_every="1s"))
    wires = {
        (link, name): count
        for link, name, count in zip(result.wires["link"], result.wires["name"], result.wires["count"], strict=True)
    }
    assert {link for link, _ in wires} == {"2-R", "R-2", "R-B", "B-R"}
    for link in ("2-R", "R-2", "R-B", "B-R"):
        assert wires[link, "packets"] == wires[link, "arrived"] + wires[link, "dropped"] + wires[link, "held"]
    # For each packet, the host receives the payload and a header of 40 bytes.
    flow = result.flows.row(0, named=True)
    assert (flow["src"], flow["dst"], flow["hops"]) == (0, 4, 2)
    assert wires["R-B", "arrived_bytes"] > flow["delivered_bytes"] * 1500 / 1460
    wired = result.queues.filter(pl.col("to").is_not_null())
    assert set(wired.select("node", "to").rows()) == {(2, 3), (3, 2), (3, 4), (4, 3)}


def test_sweeps_keep_the_tables_of_links(tmp_path: Path) -> None:
    result = fourhop.sweep(fourhop.Sweep(upload(), {"wired.rate": ["100kbps", "10Mbps"]}), out=tmp_path, jobs=1)
    arrived = result.wires.filter((pl.col("link") == "2-R") & (pl.col("name") == "arrived"))["count"].to_list()
    assert arrived[0] < arrived[1], "the first wire is the bottleneck"
    assert result.link_drops.columns[-3:] == ["link", "name", "count"]


def test_a_bad_name_is_refused_where_it_is_written() -> None:
    with pytest.raises(ScenarioError, match=r'flows\[0\].to: found "C".*"gateway-1", "R", "B"'):
        Scenario.chain(hops=2).wired(["last"], ["R", "B"]).flow(0, "C", transport="newreno")


def test_wires_are_pairs_or_tables() -> None:
    wires: list[tuple[str, str] | Mapping[str, Any]] = [("gateway-1", "R"), {"ends": ["R", "B"], "rate": "1Mbps"}]
    scenario = Scenario.chain(hops=1).wired([1], ["R", "B"], wires=wires, rate="5Mbps")
    scenario = scenario.flow(0, "B", transport="newreno")
    assert [wire["rate"] for wire in scenario.resolved["wires"]] == ["5Mbps", "1Mbps"]
    assert Scenario(scenario.to_toml()) == scenario
