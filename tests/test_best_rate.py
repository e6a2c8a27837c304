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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"flow": 3}, "there is no flow 3: the scenario has 1"),
        ({"from_bps": 0}, "from_bps: found 0, allowed: 1 or more"),
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
