"""Statements of the TCP-AP studies with several flows, and their assumptions about networks."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

import fourhop
from fourhop.study import Run, Sample, find, flows
from tests.conftest import ROOT


def module(figure: str) -> ModuleType:
    """Load a study of the paper as a module."""
    find.load(ROOT / "papers", f"tcp-ap/{figure}")
    return sys.modules[f"fourhop_papers.tcp_ap.{figure}"]


def run_of(*goodputs: float) -> Run:
    return Run(1, {f"flow-{i}": {"goodput_bps": rate} for i, rate in enumerate(goodputs, 1)}, {})


def test_who_starves() -> None:
    # The total is 400, so a tenth of an equal share is 10.
    run = run_of(9.0, 11.0, 180.0, 200.0)
    assert flows.starving(run) == 1.0
    assert flows.smaller_share(run) == pytest.approx(9.0 / 400.0)
    assert flows.total(flows.goodputs)(run) == pytest.approx(0.4)
    assert flows.fairness(flows.goodputs)(run_of(1.0, 1.0)) == pytest.approx(1.0)
    assert flows.fairness(flows.goodputs)(run_of(1.0, 0.0)) == pytest.approx(0.5)
    assert flows.part_of_both(Sample((1.0, 0.0), (1, 2)), Sample((3.0, 0.0), (1, 2))).values == (0.25, 0.0)


def test_the_networks_like_the_papers_are() -> None:
    study = module("f21_random")
    scenario = study.random("ns2", 10, duration="2s")
    for seed in study.ALIKE:
        pairs = fourhop.run(scenario.with_(**{"topology.seed": seed})).flows["hops"].sort().to_list()
        assert pairs[0] == 2, seed
        assert pairs[1] > 2, seed


def test_flows_of_the_grid_lie_as_the_paper_says() -> None:
    study = module("f20_grid")
    for side, lines in study.GRIDS.values():
        made = study.grid("ns2", side, lines).resolved["flows"]
        rows = [flow["from"] // side for flow in made[:3]]
        columns = [flow["from"] % side for flow in made[3:]]
        # Senders of columns are in row 0, those of rows in column 0: flow 1 and flow 6 are the farthest from them.
        assert rows == sorted(rows, reverse=True)
        assert columns == sorted(columns)
        assert {flow["from"] // side for flow in made[3:]} == {0}
        assert {flow["from"] % side for flow in made[:3]} == {0}
        assert all(flow["to"] - flow["from"] == side - 1 for flow in made[:3])
        assert all(flow["to"] - flow["from"] == side * (side - 1) for flow in made[3:])


def test_the_symmetric_grid_is_the_same_after_a_quarter_turn() -> None:
    study = module("f20_grid")
    flows_of = next(iter(study.symmetric("ns2").variants.values())).resolved["flows"]
    ends = {(flow["from"], flow["to"]) for flow in flows_of}

    def turned(node: int) -> int:
        row, column = divmod(node, 5)
        return 5 * column + 4 - row

    assert len(ends) == 4
    assert {(turned(start), turned(end)) for start, end in ends} == ends


def test_the_networks_far_apart_are() -> None:
    study = module("f24_short_files_random")
    scenario = study.random("ns2", 5, duration="2s")
    for seed in study.FAR:
        hops = fourhop.run(scenario.with_(**{"topology.seed": seed})).flows["hops"].to_list()
        assert min(hops) >= 5, seed
