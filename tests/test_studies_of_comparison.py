"""The networks of the comparison match the descriptions in their studies."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

from fourhop.errors import FourhopError
from fourhop.picture import Network
from fourhop.study import find
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def worlds() -> ModuleType:
    (found,) = find.load_all(ROOT / "papers", ["comparison/modern_steps"])
    name = next(name for name in sys.modules if name.endswith("comparison._worlds"))
    assert found.study.sweeps
    return importlib.import_module(name)


def links(worlds: ModuleType, step: str) -> set[int]:
    """Over how many positions of the chain data reaches in both directions."""
    pairs = Network.of(worlds.network("chain", step).resolved_json).pairs
    return {abs(a - b) for (a, b), (_, both) in pairs.items() if both}


def test_data_reaches_neighbours_and_no_farther_until_rates_are_chosen(worlds: ModuleType) -> None:
    for step in worlds.STEPS:
        assert links(worlds, step) == ({1, 2} if step in ("minstrel", "fading") else {1}), step


def test_steps_add_up(worlds: ModuleType) -> None:
    for name in worlds.NETWORKS:
        keys = worlds.network(name).resolved
        assert (keys["radio"]["phy"], keys["link"]["queue"], len(keys["radios"])) == ("ht", "fq-codel", 2)
        assert keys["mac"]["ampdu_frames"] == 64
        assert keys["tcp"]["window"] == "none"
    papers = worlds.network("chain", "papers").resolved
    assert (papers["radio"]["phy"], papers["link"]["queue"], papers["tcp"]["window"]) == ("dsss", "drop-tail", 64)
    assert "radios" not in papers


def test_c3tcp_is_refused_where_frames_are_aggregates(worlds: ModuleType) -> None:
    assert worlds.variant("chain", "c3", "rates").resolved["c3tcp"]["enabled"]
    with pytest.raises(FourhopError, match=r"c3tcp.enabled.*that aggregates frames"):
        worlds.variant("chain", "c3", "aggregates")
