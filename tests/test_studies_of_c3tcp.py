"""The network of the C3TCP paper's figure 5: where its cross traffic goes; studies and scenario share it."""

from __future__ import annotations

import math
import sys
from types import ModuleType

import pytest

import fourhop
from fourhop.study import find
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def common() -> ModuleType:
    """The settings that the paper's studies share."""
    find.load(ROOT / "papers", "c3tcp/own_setup")
    return sys.modules["fourhop_papers.c3tcp._common"]


def test_the_scenario_is_the_network_of_the_studies(common: ModuleType) -> None:
    studied = common.VARIANTS.of(common.figure5("ns2"), "c3").with_(name="c3tcp")
    assert fourhop.Scenario.from_toml(ROOT / "scenarios" / "c3tcp.toml").resolved == studied.resolved


def test_the_cross_traffic_passes_nodes_2_and_3(common: ModuleType) -> None:
    scenario = common.figure5("standard").with_(duration="20s")
    positions = [[float(x.removesuffix("m")) for x in place] for place in scenario.resolved["topology"]["positions"]]
    reach = {(a, b) for a in range(6) for b in range(6) if math.dist(positions[a], positions[b]) <= 250.0}
    assert {pair for pair in reach if 4 in pair and pair != (4, 4)} == {(1, 4), (4, 1)}
    assert {pair for pair in reach if 5 in pair and pair != (5, 5)} == {(2, 5), (5, 2)}
    flows = fourhop.run(scenario, runs=1).flows
    assert flows["hops"].to_list() == [3, 3, 3]
    assert (flows["delivered_bytes"] > 0).all()
