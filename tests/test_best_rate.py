"""The search for the best rate of paced UDP, from Python and from the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import fourhop

CHAIN = fourhop.Scenario.chain(hops=4, transport="newreno", duration="30s")


def test_the_best_rate_is_an_upper_bound_for_tcp_and_within_the_loss_bound() -> None:
    found = fourhop.best_rate(CHAIN, to_bps=1_000_000, trials=10, runs=1)
    assert len(found.trials) == 10
    assert found.best is not None
    assert found.best in found.trials
    assert found.best.loss <= 0.01
    tcp = fourhop.run(CHAIN).aggregate.mean
    assert tcp < found.best.goodput_bps <= found.best.offered_bps


def test_the_same_search_finds_the_same() -> None:
    first, second = (fourhop.best_rate(CHAIN, to_bps=1_000_000, trials=4, runs=2) for _ in range(2))
    assert first == second


def test_either_end_may_be_a_wired_host() -> None:
    mesh = fourhop.Scenario.chain(hops=2, duration="20s").wired(["last"], ["B"], delay="5ms")
    for src, dst in ((0, "B"), ("B", 0)):
        scenario = mesh.flow(src, dst, transport="newreno")
        found = fourhop.best_rate(scenario, to_bps=1_000_000, trials=6, runs=1)
        assert found.best is not None
        # Two hops share the medium, so a datagram takes twice as long as over one hop, which carries 1539 kbit/s.
        assert 3e5 < found.best.goodput_bps < 1.539e6 / 2
        assert found.best.goodput_bps > fourhop.run(scenario).aggregate.mean


def test_the_best_rate_is_about_the_mesh() -> None:
    wired = fourhop.Scenario.chain(hops=2, duration="5s").wired(["last"], ["A", "B"])
    with pytest.raises(fourhop.FourhopError, match="flow 0 runs between two wired hosts: choose"):
        fourhop.best_rate(wired.flow("A", "B", transport="newreno"), trials=2, runs=1)


def test_a_flow_that_never_sends_has_no_best_rate() -> None:
    early = CHAIN.with_(warmup="5s").flow(0, 4, transport="newreno", start="1s", stop="4s")
    with pytest.raises(fourhop.FourhopError, match="flow: found 0, which sends nothing in the measured time"):
        fourhop.best_rate(early, to_bps=1_000_000, trials=2, runs=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"flow": 3}, "there is no flow 3: the scenario has 1"),
        ({"flow": -1}, "there is no flow -1: the scenario has 1"),
        ({"from_bps": 0}, "from_bps: found 0, allowed: 1 to 10000000000"),
        ({"payload_bytes": 70_000}, "payload_bytes: found 70000, allowed: 1 to 65000"),
        ({"runs": 0}, "runs: found 0, allowed: 1 to"),
        ({"from_bps": 20, "to_bps": 10}, "to_bps: found 10, allowed: above from_bps, which is 20"),
        ({"loss_bound": 2.0}, "loss_bound: found 2.0, allowed: 0 to 1"),
        ({"trials": 1}, "trials: found 1, allowed: 2 or more"),
    ],
)
def test_bad_arguments_name_themselves(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(fourhop.FourhopError, match=message):
        fourhop.best_rate(CHAIN, **arguments)


def test_the_command_prints_one_json_object() -> None:
    arguments = ["best-rate", "scenarios/chain.toml", "--set", "duration=20s", "--to", "600", "--trials", "4", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "fourhop.cli", *arguments, "--runs", "1"], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert len(found["trials"]) == 4
    assert set(found["trials"][0]) == {"offered_bps", "goodput_bps", "loss"}
