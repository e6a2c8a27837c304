"""A day of the daemons in minutes: restarts, kills, stops, flushed rules and routes, floods, clock steps.

Transfers cross the gateway all the time, and every byte of them is checked. Three routing daemons, which authenticate
their messages, must route in the end and leave the kernel as it was. `make soak-linux` takes SOAK_SECONDS for both; the
tests run some seconds of it. A test must not set the machine's clock, so a library loaded before libc steps the
wall clock only in the daemons.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.linux.aodvd import PROGRAM as AODVD
from tests.linux.aodvd import daemons
from tests.linux.border import PROGRAM, Border, border, end
from tests.linux.conftest import Starter, needs
from tests.linux.test_aodvd_mesh import FORGER, SECRET
from tests.linux.test_gateway_stress import GARBAGE, quiet

__all__ = ["border"]

SECONDS = float(os.environ.get("SOAK_SECONDS", "50")) / 2
"""Seconds per test: both share the time."""
SEED = int(os.environ.get("SOAK_SEED", "1"))
ALLOWED_GROWTH = 8_000
"""Kilobytes by which a running gateway may grow: a full table of flows, and what the allocator keeps."""


STEPPED = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static volatile long *seconds;
__attribute__((constructor)) static void begin(void) {
  int file = open(getenv("CLOCK_STEP"), O_RDONLY);
  void *at = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) abort();
  seconds = at;
}
int clock_gettime(clockid_t clock, struct timespec *now) {
  int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (!failed && clock == CLOCK_REALTIME) now->tv_sec += *seconds;
  return failed;
}
"""
DAY = 86_400


class Clock:
    """A wall clock that tests can step, for programs started by `words`."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o755)
        self.file, library = folder / "step", folder / "stepped.so"
        self.file.write_bytes(struct.pack("l", 0))
        (folder / "stepped.c").write_text(STEPPED, encoding="ascii")
        compiler = shutil.which("cc") or shutil.which("clang") or pytest.skip("there is no C compiler")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / "stepped.c"], check=True)
        self.words = ["env", f"LD_PRELOAD={library}", f"CLOCK_STEP={self.file}"]

    def step(self, seconds: int) -> None:
        """Set it `seconds` from the machine's. Processes have mapped the file, so it must stay the same file."""
        with self.file.open("r+b") as file:
            file.write(struct.pack("l", seconds))


@pytest.fixture
def clock() -> Iterator[Clock]:
    with tempfile.TemporaryDirectory(prefix="fourhop-") as folder:
        yield Clock(Path(folder))


def memory(process: subprocess.Popen[str]) -> int:
    """Resident memory of a process in kilobytes."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


@pytest.mark.timeout(SECONDS + 300)
def test_a_day_in_minutes_loses_nothing_and_memory_stays_flat(border: Border, clock: Clock) -> None:
    needs("nft")
    quiet(border)
    chance = random.Random(SEED)
    config = border.file(pace="", more="[limits]\nflows = 512\nnodes = 64\n")
    deadline = time.monotonic() + SECONDS
    done: dict[str, int] = {}
    grown: list[int] = []

    def start() -> tuple[subprocess.Popen[str], int]:
        process = border.start("gate", *clock.words, PROGRAM, "run", "--config", config)
        assert process.stderr is not None
        while not (line := process.stderr.readline()).startswith("started: "):
            assert process.poll() is None, line
        return process, memory(process)

    def transfers() -> int:
        """Transfers one after another, each with its own content, which `transfer` compares."""
        count, sizes = 0, random.Random(SEED)
        while time.monotonic() < deadline:
            border.transfer(sizes.choice([20_000, 200_000, 600_000]), seed=count)
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
            assert process.stderr is not None
            assert process.poll() is None, process.stderr.read()
            what = chance.choice(["restart", "kill", "stop", "flush", "reload", "flood", "second", "clock"])
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
            elif what == "clock":
                clock.step(chance.randint(-DAY, DAY))
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
    # Once the last fault is over, it works as on the first day.
    border.wait(lambda state: state["problems"] == [], "a gateway without problems")
    end(process)
    assert border.rules() == ""


@pytest.mark.skipif(not AODVD.exists(), reason="there is no fourhop-aodvd: `make linux` builds it")
@pytest.mark.timeout(SECONDS + 300)
def test_a_day_in_minutes_leaves_routing_daemons_that_route(emulate: Starter, clock: Clock, tmp_path: Path) -> None:
    needs("ping", "ip", "python3")
    (tmp_path / "key").write_bytes(SECRET)
    keys = f'[authentication]\nsign_with = 1\nkeys = [{{ id = 1, file = "{tmp_path}/key" }}]\n'

    chance = random.Random(SEED)
    nodes = range(3)
    done: dict[str, int] = {}
    grown: list[int] = []
    with daemons(emulate, hops=2, more=f"{keys}[limits]\nroutes = 64", before=clock.words) as mesh:

        def system(node: int) -> list[str]:
            commands = (("ip", "rule"), ("ip", "-4", "route", "show", "table", "all"))
            return sorted(line for words in commands for line in mesh.net.run(f"n{node}", *words).stdout.splitlines())

        before = {node: system(node) for node in nodes}
        mesh.start(*nodes)
        mesh.ping(0, 2, 3)
        resident = {node: memory(mesh.processes[node]) for node in nodes}
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            node = chance.choice(nodes)
            what = chance.choice(["restart", "kill", "stop", "routes", "rules", "device", "second", "flood", "clock"])
            done[what] = done.get(what, 0) + 1
            if what in ("restart", "kill"):
                grown.append(memory(mesh.processes[node]) - resident[node])
                mesh.end(node, "TERM" if what == "restart" else "KILL")
                mesh.start(node, keep=True)
                resident[node] = memory(mesh.processes[node])
            elif what == "stop":
                mesh.processes[node].send_signal(signal.SIGSTOP)
                time.sleep(chance.uniform(0.1, 2.5))
                mesh.processes[node].send_signal(signal.SIGCONT)
            elif what == "device":
                mesh.net.run(f"n{node}", "ip", "link", "set", "mesh0", "down")
                time.sleep(chance.uniform(0, 1))
                mesh.net.run(f"n{node}", "ip", "link", "set", "mesh0", "up")
            elif what == "clock":
                clock.step(chance.randint(-DAY, DAY))
            elif what == "second":
                config = str(mesh.folder / f"n{node}.toml")
                assert mesh.net.run(f"n{node}", str(AODVD), "run", "--config", config).returncode == 2
            else:
                words = {
                    "routes": ("ip", "route", "flush", "table", "142"),
                    "rules": ("ip", "rule", "del", "lookup", "142"),
                    "flood": ("python3", "-c", FORGER, "500"),
                }[what]
                mesh.net.run(f"n{node}", *words)
            time.sleep(chance.uniform(0, 1))
        mesh.ping(0, 2, 3)
        grown += [memory(mesh.processes[node]) - resident[node] for node in nodes]
        for node in nodes:
            assert mesh.show(node)["daemon"] is not None
            mesh.end(node)
        assert {node: system(node) for node in nodes} == before
    sys.stdout.write(f"seed {SEED}: {done}; grew by at most {max(grown)} kB\n")
    assert max(grown) < ALLOWED_GROWTH, grown
