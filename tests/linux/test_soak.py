"""What a day does to a gateway, in minutes: restarts, kills, stops, flushed rules, reloads, floods.

Transfers run all the time, and every byte of them is checked. `make soak-linux` runs it for SOAK_SECONDS; the tests
run some seconds of it. A step of the clock of the day is not among them, since a test must not set the machine's
clock: the gateway reads the monotonic clock alone.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.linux.conftest import needs
from tests.linux.test_gateway import PROGRAM, Border, border, end
from tests.linux.test_gateway_stress import GARBAGE, quiet

__all__ = ["border"]

SECONDS = float(os.environ.get("SOAK_SECONDS", "40"))
SEED = int(os.environ.get("SOAK_SEED", "1"))
ALLOWED_GROWTH = 8_000
"""Kilobytes that a gateway may grow by while it runs: a full table of flows, and what the allocator keeps."""


def memory(process: subprocess.Popen[str]) -> int:
    """What a process has in memory, in kilobytes."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


@pytest.mark.timeout(SECONDS + 300)
def test_a_day_in_minutes_loses_nothing_and_memory_stays_flat(border: Border) -> None:
    needs("nft")
    quiet(border)
    chance = random.Random(SEED)
    config = border.file(more="[limits]\nflows = 512\nnodes = 64\n")
    deadline = time.monotonic() + SECONDS
    done: dict[str, int] = {}
    grown: list[int] = []

    def start() -> tuple[subprocess.Popen[str], int]:
        process = border.start("gate", PROGRAM, "run", "--config", config)
        assert process.stderr is not None
        while not (line := process.stderr.readline()).startswith("started: "):
            assert process.poll() is None, line
        return process, memory(process)

    def transfers() -> int:
        """One after another, each with its own content, which `transfer` compares."""
        count = 0
        while time.monotonic() < deadline:
            border.transfer(chance.choice([20_000, 200_000, 600_000]), seed=count)
            count += 1
        return count

    def flush(_: Any) -> None:
        for tables in ("iptables", "ip6tables"):
            border.run("gate", tables, "-t", "mangle", "-F")
        border.run("gate", "nft", "flush", "ruleset")

    def flood(_: Any) -> None:
        kind = chance.choice(["garbage", "syn"])
        border.run("host", sys.executable, "-c", GARBAGE, "10.9.0.2", "3000", kind, "1")

    def stop(process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGSTOP)
        time.sleep(chance.uniform(0.1, 2.5))
        process.send_signal(signal.SIGCONT)

    process, before = start()
    with ThreadPoolExecutor(1) as threads:
        transferred = threads.submit(transfers)
        while time.monotonic() < deadline and not transferred.done():
            what = chance.choice(["restart", "kill", "stop", "flush", "reload", "flood", "second"])
            done[what] = done.get(what, 0) + 1
            if what in ("restart", "kill"):
                grown.append(memory(process) - before)
                if what == "restart":
                    end(process)
                else:
                    process.kill()
                    process.wait()
                process, before = start()
            elif what == "reload":
                process.send_signal(signal.SIGHUP)
            elif what == "second":
                assert border.run("gate", PROGRAM, "run", "--config", config).returncode == 2
            else:
                {"stop": stop, "flush": flush, "flood": flood}[what](process)
            time.sleep(chance.uniform(0, 1))
        count = transferred.result()
    grown.append(memory(process) - before)
    sys.stdout.write(f"seed {SEED}: {count} transfers; {done}; grew by at most {max(grown)} kB\n")
    assert count > 0
    assert max(grown) < ALLOWED_GROWTH, grown
    # It works as on the first day.
    state = border.status()
    assert state["problems"] == [], state
    end(process)
    assert border.rules() == ""
