"""Three namespaces per test: a host, the router with `fourhop-gateway`, and a node of the mesh."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.linux.conftest import LONGEST, needs

PROGRAM = ROOT / "target" / "release" / "fourhop-gateway"
HOST, NODE = "192.0.2.2", "10.9.0.2"
HOST6, NODE6 = "fd00:2::2", "fd00:9::2"

SINK = """
import hashlib, socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
server = socket.create_server((sys.argv[1], int(sys.argv[2])), family=family)
print("ready", flush=True)
for _ in range(int(sys.argv[3])):
    connection, _ = server.accept()
    digest, total = hashlib.sha256(), 0
    while data := connection.recv(65536):
        digest.update(data); total += len(data)
        # Of this size, if one is given: it has arrived.
        if sys.argv[4:] == [str(total)]: connection.sendall(b"!")
    print(total, digest.hexdigest(), flush=True)
"""
SOURCE = """
import random, socket, sys, time
data = random.Random(int(sys.argv[3])).randbytes(int(sys.argv[4]))
begun = time.monotonic()
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=30) as s:
    s.settimeout(60); s.sendall(data)
    if s.recv(1) != b"!": sys.exit("the other end has closed")
    print(time.monotonic() - begun, flush=True)
    time.sleep(float(sys.argv[5]))
"""
# Sends continuously for some seconds.
STEADY = """
import socket, sys, time
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=30) as s:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
    end = time.monotonic() + float(sys.argv[3])
    while time.monotonic() < end:
        s.sendall(bytes(14480)); time.sleep(0.002)
"""
# Prints the smoothed round trip of TCP_INFO every 20 ms until everything is acknowledged.
SAMPLED = """
import array, fcntl, socket, struct, sys, termios, time
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=30) as s:
    s.sendall(bytes(int(sys.argv[3])))
    left = array.array("i", [1])
    while left[0]:
        time.sleep(0.02)
        print(struct.unpack_from("I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 68)[0] / 1e6)
        fcntl.ioctl(s, termios.TIOCOUTQ, left)
"""
GAP = 'mode = "gap"'
"""Pacing by TCP-GAP. Its intervals do not depend on the path's behaviour, so tests know how long a transfer takes."""
LAG = 2.2
"""Greatest age of the status in seconds."""


def program(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the program outside any namespace; the caller checks the exit code."""
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=LONGEST, check=False)


def system(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, timeout=LONGEST, check=True).stdout


@dataclass
class Border:
    """A host, a router and a node, each in a namespace."""

    name: str
    folder: Path
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def socket(self) -> Path:
        return self.folder / "run" / "control"

    def inside(self, where: str, *words: str | Path) -> list[str]:
        return ["nsenter", f"--net=/run/netns/{self.name}-{where}", *map(str, words)]

    def run(self, where: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
        command = self.inside(where, *words)
        return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)

    def start(self, where: str, *words: str | Path) -> subprocess.Popen[str]:
        command = self.inside(where, *words)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def build(self) -> None:
        for where in ("host", "gate", "node"):
            system("ip", "netns", "add", f"{self.name}-{where}")
            system("ip", "-n", f"{self.name}-{where}", "link", "set", "lo", "up")
            # A new namespace has the machine's default, which may be BBR; every kernel has Reno.
            system(*self.inside(where, "sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno"))
        for device, where, inner, outer in (("wire0", "host", HOST, "192.0.2.1"), ("mesh0", "node", NODE, "10.9.0.1")):
            gate, end = f"{self.name}-gate", f"{self.name}-{where}"
            system("ip", "link", "add", device, "netns", gate, "type", "veth", "peer", "name", "eth0", "netns", end)
            net6 = "fd00:2::" if where == "host" else "fd00:9::"
            for place, link, address, address6 in (
                (gate, device, outer, f"{net6}1"),
                (end, "eth0", inner, f"{net6}2"),
            ):
                system("ip", "-n", place, "address", "add", f"{address}/24", "dev", link)
                system("ip", "-n", place, "address", "add", f"{address6}/64", "dev", link, "nodad")
                system("ip", "-n", place, "link", "set", link, "up")
            system("ip", "-n", end, "route", "add", "default", "via", outer)
            system("ip", "-n", end, "-6", "route", "add", "default", "via", f"{net6}1")
        for variable in ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"):
            assert self.run("gate", "sysctl", "-qw", f"{variable}=1").returncode == 0

    def file(self, *, mesh: str = "", pace: str = GAP, more: str = "") -> Path:
        """Write a configuration: a mesh of 6 Mbit/s whose node is three links away. An empty `pace` is the default."""
        file = self.folder / "gateway.toml"
        hops = mesh or f'hops = "table"\n[[node]]\nto = "{NODE}"\nhops = 3\n[[node]]\nto = "{NODE6}"\nhops = 3'
        service = f'[service]\nsocket = "{self.socket}"\n'
        paced = f"{hops}\n[pace]\n{pace}\n"
        file.write_text(f'[mesh]\ndevices = ["mesh0"]\nrate = "6Mbps"\n{paced}{service}{more}\n', encoding="utf-8")
        return file

    def gateway(self, *words: str, mesh: str = "", pace: str = GAP, more: str = "") -> subprocess.Popen[str]:
        """Start the gateway and wait until it works."""
        process = self.start("gate", PROGRAM, "run", "--config", self.file(mesh=mesh, pace=pace, more=more), *words)
        assert process.stderr is not None
        line = process.stderr.readline()
        if not line.startswith("started: "):
            process.terminate()
            pytest.fail(line + process.communicate(timeout=LONGEST)[1])
        return process

    def status(self) -> dict[str, Any]:
        """The state after everything so far."""
        time.sleep(LAG)
        done = program("status", "--json", "--socket", self.socket)
        assert done.returncode in (0, 1), done.stderr
        state: dict[str, Any] = json.loads(done.stdout)
        assert (done.returncode == 1) == (state["state"] == "impaired"), state
        return state

    def retransmitted(self, where: str) -> int:
        """Segments that TCP has retransmitted there."""
        names, values = [
            line.split()
            for line in self.run(where, "cat", "/proc/net/snmp").stdout.splitlines()
            if line.startswith("Tcp:")
        ]
        return int(values[names.index("RetransSegs")])

    def rules(self) -> str:
        """Our filter rules."""
        tables = [(family, table) for family in ("iptables", "ip6tables") for table in ("mangle", "filter")]
        said = [self.run("gate", family, "-t", table, "-S").stdout for family, table in tables]
        said.append(self.run("gate", "nft", "list", "tables").stdout)
        return "\n".join(line for text in said for line in text.splitlines() if "ourhop" in line.lower())

    def transfer(
        self, size: int, to: str = NODE, seed: int = 1, source: str = "host", sink: str = "node", stay: float = 0
    ) -> float:
        """Send bytes to an end, which must all arrive, and leave the connection open.

        Returns the time from the first packet to the last, as the sender sees it: programs that start late on a busy
        machine do not count.
        """
        server = self.start(sink, sys.executable, "-c", SINK, to, "7000", "1", str(size))
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n", server.communicate()
        client = self.run(source, sys.executable, "-c", SOURCE, to, "7000", str(seed), str(size), str(stay))
        assert client.returncode == 0, client.stderr
        said = server.communicate(timeout=LONGEST)[0].split()
        assert said == [str(size), expected(seed, size)]
        return float(client.stdout)

    def wait(self, holds: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
        """Wait until the condition holds for the state; returns that state."""
        deadline = time.monotonic() + LONGEST
        while not holds(state := self.status()):
            assert time.monotonic() < deadline, (what, state)
        return state

    def remove(self) -> None:
        for process in reversed(self.processes):
            if process.poll() is None:
                process.kill()
            process.communicate()
        for where in ("host", "gate", "node"):
            subprocess.run(["ip", "netns", "del", f"{self.name}-{where}"], capture_output=True, check=False)


def expected(seed: int, size: int) -> str:
    import random

    return hashlib.sha256(random.Random(seed).randbytes(size)).hexdigest()


def shortest(size: int, hops: int = 3) -> float:
    """Least seconds that TCP-GAP takes for `size` bytes over links of 6 Mbit/s.

    The links of these tests take no time at all. The paper's formula (docs/tcp-gap.md) takes that for a queue of
    negative length, which leaves half the time that the links should take; varying round trips add to it.
    """
    return size * 8 / 6e6 * hops / 2


@pytest.fixture
def border() -> Iterator[Border]:
    """Three namespaces, removed after the test."""
    needs("ip", "iptables", "nsenter", "sysctl")
    if os.geteuid() != 0:
        pytest.skip("needs root")
    if not PROGRAM.exists():
        pytest.skip("there is no fourhop-gateway: `make linux` builds it")
    # The gateway does not run as root, and reads its file again.
    with tempfile.TemporaryDirectory(prefix="fourhop-") as folder:
        Path(folder).chmod(0o755)
        border = Border(f"gwt{os.getpid()}", Path(folder))
        try:
            border.build()
            yield border
        finally:
            border.remove()


def end(process: subprocess.Popen[str], how: signal.Signals = signal.SIGTERM) -> str:
    """End the process; returns its last output."""
    process.send_signal(how)
    said = process.communicate(timeout=LONGEST)[1]
    assert process.returncode == 0, said
    return said
