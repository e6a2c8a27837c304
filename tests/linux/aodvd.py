"""Routing daemons in the nodes of an emulation: their files and state, and ways to wait for it."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.linux.conftest import LONGEST, Emulated, Starter

PROGRAM = ROOT / "target" / "release" / "fourhop-aodvd"

BROADCASTS = ("--set", "radio.model=threshold")
"""HELLO messages reach exactly as far as data."""


def address(node: int) -> str:
    """Address of a node with a radio, as the simulator assigns it."""
    return f"10.0.{(node + 1) >> 8}.{(node + 1) & 255}"


@dataclass
class Daemons:
    """The daemons of an emulation, each with a folder."""

    net: Emulated
    folder: Path
    more: str = ""
    before: Sequence[str] = ()
    """Words before the program, such as those that set its environment."""
    processes: dict[int, subprocess.Popen[str]] = field(default_factory=dict)

    def control(self, node: int) -> Path:
        return self.folder / f"n{node}.sock"

    def state_file(self, node: int) -> Path:
        return self.folder / f"n{node}.json"

    def config(self, node: int, head: str = "", tables: str = "") -> Path:
        """Write a node's file: keys before the tables, then tables."""
        file = self.folder / f"n{node}.toml"
        file.write_text(
            f'address = "{address(node)}"\ninterfaces = ["mesh0"]\nmesh = ["10.0.0.0/9"]\n{head}\n'
            f'[system]\ncontrol = "{self.control(node)}"\nstate = "{self.state_file(node)}"\nuser = "root"\n'
            f"{tables}\n{self.more}\n",
            encoding="utf-8",
        )
        return file

    def start(self, *nodes: int, head: str = "", tables: str = "", keep: bool = False) -> None:
        """Start daemons that have run before, so that they need not wait (RFC 3561 section 6.13)."""
        for node in nodes:
            config = self.config(node, head, tables)
            if not keep:
                numbers = {"address": address(node), "seqno": 1, "rreq_id": 1, "stamp": 0, "variables": []}
                self.state_file(node).write_text(json.dumps(numbers), encoding="utf-8")
            self.processes[node] = self.net.start(
                f"n{node}", *self.before, str(PROGRAM), "run", "--config", str(config)
            )
        for node in nodes:
            self.wait(partial(self.is_up, node), 20, f"the daemon of n{node}")

    def is_up(self, node: int) -> bool:
        process = self.processes[node]
        assert process.poll() is None, process.communicate()[0]
        return self.control(node).exists()

    def show(self, node: int) -> dict[str, Any]:
        """The whole state of a node."""
        command = [str(PROGRAM), "routes", "--json", "--control", str(self.control(node))]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=True)
        state: dict[str, Any] = json.loads(done.stdout)
        return state

    def routes(self, node: int) -> dict[str, dict[str, Any]]:
        """Valid routes of a node by destination."""
        return {route["destination"]: route for route in self.show(node)["routes"] if route["state"] == "valid"}

    def kernel(self, node: int) -> str:
        """This daemon's routes in the kernel."""
        return self.net.run(f"n{node}", "ip", "route", "show", "table", "142").stdout

    def clean(self, node: int) -> subprocess.CompletedProcess[str]:
        """Run the command that cleans up after a killed daemon."""
        return self.net.run(f"n{node}", str(PROGRAM), "clean", "--config", str(self.folder / f"n{node}.toml"))

    def end(self, node: int, how: str = "TERM") -> str:
        """End a daemon; returns its output."""
        process = self.processes.pop(node)
        # The process started is the one in the node: `exec` replaces itself with the program.
        subprocess.run(["kill", f"-{how}", str(process.pid)], check=True)
        said, _ = process.communicate(timeout=LONGEST)
        self.net.programs.remove(process)
        self.control(node).unlink(missing_ok=True)
        return said

    def ping(self, src: int, dst: int, count: int) -> str:
        """Output of ping once `count` in a row have passed: a daemon on a busy machine may lose its neighbours."""
        said = ""

        def passes() -> bool:
            nonlocal said
            words = ("ping", "-c", str(count), "-i", "0.3", "-W", "3", f"n{dst}")
            said = self.net.run(f"n{src}", *words).stdout
            return " 0% packet loss" in said

        self.wait(passes, 40, f"no loss from n{src} to n{dst}")
        return said

    def wait(self, holds: Callable[[], bool], seconds: float, what: str) -> float:
        """Wait until a condition holds; returns how long that took."""
        begun = time.monotonic()
        while not holds():
            assert time.monotonic() - begun < seconds, f"{what}: not within {seconds} s"
            time.sleep(0.1)
        return time.monotonic() - begun


@contextmanager
def daemons(
    emulate: Starter, *options: str, more: str = "", before: Sequence[str] = (), **keys: Any
) -> Iterator[Daemons]:
    """An emulation whose kernels route, with a folder for the daemons' files."""
    with tempfile.TemporaryDirectory(prefix="fourhop-aodvd-") as folder:
        net = emulate("--tap", "--without-flows", "--radio", f"{folder}/radio", *options, **keys)
        yield Daemons(net, Path(folder), more, before)
