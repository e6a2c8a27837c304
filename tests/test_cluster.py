"""Sweeps on a Dask cluster of this machine: a real scheduler and two worker processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import fourhop
from fourhop import Scenario
from fourhop.sweeps import runfile
from tests.conftest import HANGS, Command, environment
from tests.test_sweep_runs import HOPS, SWEEP, connected, counted, kept, same, same_folders, thin_network

distributed = pytest.importorskip("distributed", reason="needs the extra dask")

BASE = Scenario.parallel_chains(hops=2, duration="5s", sample_every="1s")


@dataclass
class Daemons:
    """A scheduler and its workers, in separate processes."""

    folder: Path
    address: str = ""
    workers: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, command: str, *arguments: str, pattern: str) -> tuple[subprocess.Popen[str], str]:
        """Start a process and wait for the line that announces it."""
        log = self.folder / f"{command}-{len(self.workers)}.log"
        with log.open("w", encoding="utf-8") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", command, *arguments],
                cwd=self.folder,
                env=environment() | {"PYTHONWARNINGS": "default"},
                stderr=stderr,
                text=True,
            )
        until = time.monotonic() + HANGS
        while (found := re.search(pattern, log.read_text(encoding="utf-8"))) is None:
            assert process.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < until, log.read_text(encoding="utf-8")
            time.sleep(0.05)
        return process, found[1]

    def worker(self) -> subprocess.Popen[str]:
        """Start another worker with one thread."""
        process, _ = self.start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", pattern=r"Registered to:\s+(\S+)"
        )
        self.workers.append(process)
        return process


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemons]:
    daemons = Daemons(tmp_path_factory.mktemp("cluster"))
    scheduler, daemons.address = daemons.start(
        "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", pattern=r"Scheduler at:\s+(tcp://\S+)"
    )
    try:
        daemons.worker()
        daemons.worker()
        yield daemons
    finally:
        for process in [*daemons.workers, scheduler]:
            process.kill()
            process.wait()


def test_frames_are_those_of_this_machine(cluster: Daemons) -> None:
    there = fourhop.sweep(BASE, HOPS, runs=4, client=cluster.address)
    assert there.computed == 12
    assert there.series.collect().height > 0
    for jobs in (1, 2):
        same(there, fourhop.sweep(BASE, HOPS, runs=4, jobs=jobs))

    with distributed.Client(cluster.address, set_as_default=False) as client:
        tight = fourhop.sweep(BASE, HOPS, precision="20%", max_runs=10, client=client)
        thin = thin_network(next(seed for seed in range(100) if connected(seed)))
        with pytest.raises(fourhop.IncompleteError, match=r"redraws(?s:.*)finished runs are not kept"):
            fourhop.sweep(thin, runs=200, client=client)
    same(tight, fourhop.sweep(BASE, HOPS, precision="20%", max_runs=10))


def test_a_worker_that_dies_in_the_middle_loses_nothing(cluster: Daemons, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill_one(report: fourhop.SweepProgress) -> None:
        if report.done >= 10 and not killed:
            killed.append(report.done)
            os.kill(cluster.workers[0].pid, signal.SIGKILL)

    base = Scenario.chain(hops=2, duration="20s")
    windows = {"tcp.window": [2, 4, 8, 16]}
    there = fourhop.sweep(base, windows, runs=50, client=cluster.address, out=tmp_path / "there", progress=kill_one)
    assert killed
    assert killed[0] < 200
    assert cluster.workers[0].wait(10) == -signal.SIGKILL
    cluster.worker()
    assert (there.computed, there.runs.height) == (200, 200)
    fourhop.sweep(base, windows, runs=50, out=tmp_path / "here")
    same_folders(tmp_path / "there", tmp_path / "here")


def test_the_command_takes_an_address(cluster: Daemons, fourhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "windows.toml"
    file.write_text(SWEEP.replace("runs = 25", "runs = 3"), encoding="utf-8")
    there = fourhop("sweep", file, "--dask", cluster.address, "--out", tmp_path / "there")
    assert there.returncode == 0, there.stderr
    assert counted(there.stderr) == (12, 0)
    here = fourhop("sweep", file, "--out", tmp_path / "here")
    assert here.stdout == there.stdout
    same_folders(tmp_path / "there", tmp_path / "here")
    # Stored runs need no cluster.
    again = fourhop("sweep", file, "--dask", "tcp://127.0.0.1:1", "--out", tmp_path / "there")
    assert again.returncode == 0, again.stderr
    assert len(kept(tmp_path / "there")) == 12


def test_another_engine_is_refused(cluster: Daemons, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runfile, "build", lambda: "0123456789abcdef")
    with pytest.raises(fourhop.FourhopError, match=r"found the engine .* allowed: .*0123456789abcdef, the engine here"):
        fourhop.sweep(BASE, HOPS, client=cluster.address)


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1", "tcp://127.0.0.1:1"])
def test_a_scheduler_that_is_not_there_is_named(address: str, fourhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "windows.toml"
    file.write_text(SWEEP, encoding="utf-8")
    result = fourhop("sweep", file, "--dask", address)
    assert result.returncode == 2
    assert f"found no scheduler at {address} (" in result.stderr
    assert "Traceback" not in result.stderr
