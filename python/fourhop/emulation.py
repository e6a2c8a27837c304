"""Emulation from Python: real programs in the nodes of a network, over the kernel's TCP.

    with fourhop.emulate(scenario) as net:
        server = net["n4"].start("iperf3", "-s", "-1")
        print(net["n0"].run("iperf3", "-c", "n4").stdout)
    print(net.flows)

The emulator is a separate program, `fourhop-emulate`: unlike the package, it needs Linux and privileges.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from fourhop.errors import FourhopError
from fourhop.scenario import Scenario
from fourhop.trace import Request

if TYPE_CHECKING:
    import polars as pl

PROGRAM = "fourhop-emulate"
VARIABLE = "FOURHOP_EMULATE"
"""Environment variable with the path of the program, if it is not in one of the usual places."""

_ENDING = 30.0
"""Seconds that an emulation may take to end after SIGINT."""


def program(name: str = PROGRAM) -> Path:
    """Path of the emulator, or of another program beside it.

    Looked up in the environment variable, beside this Python, in a clone's `target`, and on the path, in this order.

    Raises `FourhopError` with instructions if it is not found.
    """
    named = os.environ.get(VARIABLE)
    if named is not None:
        there = Path(named) if name == PROGRAM else Path(named).with_name(name)
        if not os.access(there, os.X_OK):
            also = "" if name == PROGRAM else f", with {name} beside it"
            raise FourhopError(f"{VARIABLE}: found {named}, allowed: the path of {PROGRAM}{also}")
        return there
    clone = Path(__file__).resolve().parents[2]
    places = [Path(sys.executable).parent / name, clone / "target" / "release" / name]
    for place in places:
        if os.access(place, os.X_OK):
            return place
    found = shutil.which(name)
    if found is None:
        raise FourhopError(
            f"{name} is not installed: build it with `make linux` in a clone of the repository, or set {VARIABLE} "
            f"to the path of {PROGRAM}"
        )
    return Path(found)


def traced(emulation: str | None = None) -> Path:
    """The folder of the trace that a running emulation writes; name the emulation if several write one.

    `fourhop.trace.follow` reads it. Raises `FourhopError` unless there is exactly one.
    """
    said = subprocess.run([program(), "list", "--json"], capture_output=True, text=True, check=True).stdout
    states = [state for state in map(json.loads, said.splitlines()) if state["trace"] is not None]
    meant = [state for state in states if emulation in (None, state["id"])]
    if len(meant) != 1:
        names = ", ".join(state["id"] for state in states) or "none is running"
        found = f"{len(meant) or 'none'} that write a trace" if emulation is None else f"{emulation!r}"
        raise FourhopError(f"emulation: found {found}, allowed: one with --trace ({names})")
    return Path(meant[0]["trace"])


class Node:
    """A node of a running emulation: a network namespace."""

    def __init__(self, emulation: Emulation, name: str) -> None:
        self.name = name
        self._emulation = emulation

    def run(self, *words: str, timeout: float | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a program and wait for it to end; output is text.

        Raises `FourhopError` with its output if `check` is set and its exit code is not 0.
        """
        try:
            done = subprocess.run(self._command(words), capture_output=True, text=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            raise FourhopError(f"{self.name}: {' '.join(words)} has not ended after {timeout} s") from None
        if check and done.returncode != 0:
            said = (done.stderr or done.stdout).strip()
            raise FourhopError(f"{self.name}: {' '.join(words)} ended with code {done.returncode}: {said}")
        return done

    def start(self, *words: str, output: int | IO[str] = subprocess.DEVNULL) -> subprocess.Popen[str]:
        """Start a program in the background, such as a server. It is stopped when the emulation ends."""
        return subprocess.Popen(self._command(words), stdout=output, stderr=output, text=True)

    def _command(self, words: tuple[str, ...]) -> list[str]:
        return [str(self._emulation.program), "exec", "--emulation", self._emulation.id, self.name, "--", *words]


class Emulation:
    """A running emulation, started by `emulate`; after it has ended, its measurements."""

    report: dict[str, Any]
    """The report, available after the end: `lateness_us`, `truth`, `packets`, `flows` and more (docs/emulation.md)."""

    def __init__(self, scenario: Scenario, options: list[str]) -> None:
        self.program = program()
        self.scenario = scenario
        self.id = ""
        self.names: list[str] = []
        self._options = options
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Emulation:
        """Start it, and wait until its nodes exist."""
        ready, notify = os.pipe()
        self._out = tempfile.TemporaryFile("w+", encoding="utf-8")
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")
        command = [str(self.program), "run", "-", "--json", "--quiet", "--ready", str(notify), *self._options]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=self._out, stderr=self._errors, text=True, pass_fds=[notify]
            )
        finally:
            os.close(notify)
        # Open until the end: the emulation also ends, and removes its nodes, if this process is killed.
        self._ready = os.fdopen(ready, encoding="utf-8")
        assert self._process.stdin is not None
        self._process.stdin.write(self.scenario.to_toml())
        self._process.stdin.close()
        # It reports its id once its nodes exist, or ends without writing anything.
        line = self._ready.readline()
        if not line:
            self._process.wait()
            with self._ready, self._out, self._errors:
                raise FourhopError(self._said())
        state = json.loads(line)
        self.id = state["id"]
        self.names = [member["name"] for member in state["members"]]
        return self

    def __getitem__(self, name: str) -> Node:
        """The node of that name: `n0`, `n1`, ..., or its name in the scenario."""
        if name not in self.names:
            raise FourhopError(f"no node is called {name!r}; there are: {', '.join(self.names)}")
        return Node(self, name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it, and read its report."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        try:
            code = self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._out.seek(0)
        text = self._out.read()
        if text:
            self.report = json.loads(text)
        said = self._said()
        self._ready.close()
        self._out.close()
        self._errors.close()
        if kind is None and (code != 0 or not text):
            raise FourhopError(said or f"{PROGRAM} ended with code {code}")

    @property
    def flows(self) -> pl.DataFrame:
        """The flows of the programs, one row each; available after the end."""
        import polars as pl

        return pl.DataFrame(self.report["flows"], infer_schema_length=None)

    def _said(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().splitlines()
        return "\n".join(line.removeprefix("error: ") for line in lines if line.startswith("error: "))


def emulate(
    scenario: Scenario,
    *,
    tap: bool = False,
    flows: bool = True,
    adhoc_receivers: bool = False,
    seed: int | None = None,
    mtu: int | None = None,
    gro: bool = True,
    pcap: str | Path | None = None,
    radio: str | Path | None = None,
    trace: str | Path | Request | None = None,
) -> Emulation:
    """Emulate a scenario for the duration of a `with` block: each node is a network namespace for real programs.

    Needs root and the program `fourhop-emulate`.

    Args:
        scenario: The network; its duration is ignored.
        tap: Let the kernels of the nodes route, over Ethernet, instead of the simulated network.
        flows: Run the flows of the scenario beside the programs.
        adhoc_receivers: Let every node receive as ad hoc TCP does, with the keys of `[adhoc_tcp]`.
        seed: Seed of the simulated network; the scenario's if not given.
        mtu: MTU of the nodes' devices in bytes; 1500 if not given.
        gro: Merge segments of a TCP connection that arrive together into one packet, as 802.11n drivers do.
        pcap: Folder for captures of the air.
        radio: With `tap`: path of a socket that gives routing daemons the signal strength of each frame.
        trace: Folder for tables of all events (docs/trace.md), or a `fourhop.trace.Request`.

    Returns:
        A context manager. Inside the `with` block, `emulation["n0"]` is a `Node`, which runs programs. Afterwards
        `emulation.report` has the measurements (lateness in microseconds, packets, flows) and `emulation.flows` one
        row per TCP connection of the programs.

    Raises:
        FourhopError: On entry: the emulator is not installed, is not run as root, or cannot emulate the scenario. On
            exit: the emulator failed.
    """
    options = ["--tap"] if tap else []
    options += [] if flows else ["--without-flows"]
    options += ["--adhoc-receivers"] if adhoc_receivers else []
    options += [] if gro else ["--no-gro"]
    for name, value in (("--seed", seed), ("--mtu", mtu), ("--pcap", pcap), ("--radio", radio)):
        options += [] if value is None else [name, str(value)]
    if trace is not None:
        options += (trace if isinstance(trace, Request) else Request(trace)).options()
    return Emulation(scenario, options)
