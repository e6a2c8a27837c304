"""Real programs in emulated nodes. Every test makes its own nodes, sends to nobody else, and leaves nothing behind.

They need root and the program of `make linux`; `make test-linux` runs them. Each skipped test says what is missing.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fourhop.emulation import program
from fourhop.errors import FourhopError
from tests.conftest import ROOT, environment

CHAIN = ROOT / "scenarios" / "chain-standard.toml"

LONGEST = float(os.environ.get("FOURHOP_LONGEST", "300"))
"""Longest run of a program in a test, in seconds: ends those that hang, but is enough on a busy machine."""

UNREAD = (
    sys.executable,
    "-c",
    "import os, subprocess, sys\n"
    "read, write = os.pipe()\n"
    "os.close(read)\n"
    "code = subprocess.run(sys.argv[1:], stdout=write, check=False).returncode\n"
    "sys.exit(code if code >= 0 else 128 - code)\n",
)
"""Prefix of a program that writes to a reader that has gone, as in `| head -1`. Exit codes are a shell's."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.linux)


def missing() -> str | None:
    """The reason why this machine cannot emulate, if any."""
    if os.geteuid() != 0:
        return "needs root"
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    try:
        program()
    except FourhopError as error:
        return str(error)
    return None


def needs(*programs: str) -> None:
    """Skip the test if one of these programs is not installed."""
    for name in programs:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")


def needs_tun_for_users() -> None:
    """Skip the test if only root may open /dev/net/tun, as where udev has not set its mode."""
    mode = Path("/dev/net/tun").stat().st_mode
    if mode & 0o006 != 0o006:
        pytest.skip(f"/dev/net/tun is for root alone (mode {mode & 0o777:03o})")


@dataclass
class Emulated:
    """An emulation that runs during the test."""

    id: str
    process: subprocess.Popen[str]
    programs: list[subprocess.Popen[str]] = field(default_factory=list)

    def command(self, node: str, *words: str) -> list[str]:
        return [str(program()), "exec", "--emulation", self.id, node, "--", *words]

    def run(self, node: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program in a node; the caller checks the exit code."""
        command = self.command(node, *words)
        return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)

    def start(self, node: str, *words: str) -> subprocess.Popen[str]:
        """Start a program that runs until the emulation ends."""
        started = subprocess.Popen(
            self.command(node, *words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.programs.append(started)
        return started

    def serve(self, node: str, *words: str, port: int) -> subprocess.Popen[str]:
        """Start a server and wait until it listens."""
        server = self.start(node, *words)
        deadline = time.monotonic() + LONGEST
        while f":{port} " not in self.run(node, "ss", "-Hltn").stdout:
            assert time.monotonic() < deadline, f"{words[0]} does not listen: {server.poll()}"
            time.sleep(0.05)
        return server

    def iperf(self, client: str, server: str, *options: str) -> dict[str, Any]:
        """Measurements of iperf3 between two nodes."""
        self.serve(server, "iperf3", "-s", "-1", port=5201)
        done = self.run(client, "iperf3", "-J", "-c", server, *options)
        assert done.returncode == 0, done.stdout[-500:] + done.stderr
        measured: dict[str, Any] = json.loads(done.stdout)
        return measured

    def end(self, how: signal.Signals = signal.SIGINT) -> dict[str, Any]:
        """End the emulation; returns its report."""
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=LONGEST)
        assert self.process.returncode == 0, err
        report: dict[str, Any] = json.loads(out)
        return report


@dataclass
class Starter:
    """Starts emulations and makes sure that they end."""

    running: list[Emulated] = field(default_factory=list)

    def __call__(self, *options: str, file: Path = CHAIN, hops: int | None = None) -> Emulated:
        name = f"t{os.getpid()}x{len(self.running)}"
        settings = [] if hops is None else ["--set", f"topology.hops={hops}"]
        command = [str(program()), "run", str(file), *settings, "--json", "--quiet", "--name", name, *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        emulated = Emulated(name, process)
        self.running.append(emulated)
        assert process.stderr is not None
        line = process.stderr.readline()
        while line.startswith("warning"):
            line = process.stderr.readline()
        if "is ready" not in line:
            process.terminate()
            pytest.fail(line + process.communicate(timeout=LONGEST)[1])
        return emulated


def left(name: str) -> list[str]:
    """Everything in the system that belongs to the emulation of this name."""
    folders = [Path("/run/netns"), Path("/etc/netns"), Path("/run/fourhop")]
    found = [str(entry) for folder in folders if folder.is_dir() for entry in folder.iterdir()]
    return [entry for entry in found if Path(entry).name.startswith((f"{name}-", f"{name}."))]


@pytest.fixture
def emulate() -> Iterator[Starter]:
    """Start emulations with `emulate(*options)`: they end with the test and must leave nothing behind."""
    if (lacking := missing()) is not None:
        pytest.skip(lacking)
    starter = Starter()
    yield starter
    for emulated in starter.running:
        if emulated.process.poll() is None:
            emulated.process.terminate()
            emulated.process.communicate(timeout=LONGEST)
        for started in emulated.programs:
            started.kill()
            started.communicate()
        assert left(emulated.id) == []


def fourhop(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "fourhop.cli", *map(str, words)],
        env=environment() | {"PYTHONPATH": str(ROOT / "python")} | variables,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
