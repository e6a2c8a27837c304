"""`fourhop measure` over an emulated network: two measurements and their comparison."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.linux.conftest import Emulated, Starter, needs

ROUNDS, SECONDS = 2, 3


def measure(net: Emulated, *words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fourhop.cli", "measure", *map(str, words), "--rounds", str(ROUNDS)]
    return net.run("n0", *command, "--seconds", str(SECONDS), "--streams", "2")


@pytest.mark.timeout(300)
def test_a_network_is_measured_twice_and_compared(emulate: Starter, tmp_path: Path) -> None:
    needs("iperf3", "ping")
    net = emulate("--without-flows", "--set", "radio.rate=11Mbps", hops=1)
    assert "run `iperf3 -s -p 5201` there" in measure(net, "n1").stderr, "without a server it says what to do"
    net.serve("n1", "iperf3", "-s", port=5201)
    first = measure(net, "n1", "--out", tmp_path / "before.json", "--json")
    assert first.returncode == 0, first.stderr
    rounds = json.loads(first.stdout)["rounds"]
    assert len(rounds) == ROUNDS
    for one in rounds:
        assert 100e3 < one["goodput_bps"] < 11e6, "more than nothing, less than the link"
        assert 0 < one["idle_ms"] < one["rtt_p95_ms"], "a load takes its time"
        assert 0.25 <= one["jain"] <= 1, "of four connections"
    second = measure(net, "n1", "--against", tmp_path / "before.json")
    assert second.returncode == 0, second.stderr
    for metric in ("goodput", "p95 RTT", "Jain's index"):
        assert metric in second.stdout
    assert second.stdout.count("no difference seen") + second.stdout.count("better") + second.stdout.count("worse") >= 3
