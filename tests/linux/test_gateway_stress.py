"""`fourhop-gateway` under abuse: kills, garbage, floods.

`FOURHOP_LONG=1` makes each as long as docs/gateway.md says.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.linux.border import HOST, NODE, PROGRAM, SINK, SOURCE, Border, border, end, expected, shortest
from tests.linux.conftest import LONGEST

__all__ = ["border"]
LONG = bool(os.environ.get("FOURHOP_LONG"))

# Raw packets from a namespace: the kernel fills in IP length and checksum, the rest is ours.
GARBAGE = """
import random, socket, struct, sys, time
to, count, kind, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
chance = random.Random(seed)
out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
target = socket.inet_aton(to)
noise = chance.randbytes(1 << 16)
def some(length):
    at = chance.randrange(len(noise) - length)
    return noise[at:at + length]
sent = refused = 0
for n in range(count):
    if kind == "syn":
        src = bytes([172, 16 + chance.randrange(16), chance.randrange(256), 1 + chance.randrange(254)])
        rest = struct.pack("!HHIIBBHHH", chance.randrange(65536), chance.randrange(65536), n, 0, 0x50, 2, 1000, 0, 0)
        head, fragment = 0x45, 0
    else:
        src = some(4)
        src = bytes([172, 16 + src[0] % 16, src[1], 1 + src[2] % 254])
        length = chance.choice((0, 1, 3, 13, 19, 20, 24, 40, 60, 61, 200, 1200))
        rest = some(length)
        if length > 19 and chance.random() < 0.7:
            # A header that could be one: offsets and options of any kind.
            rest = rest[:12] + bytes([chance.randrange(16) << 4, chance.randrange(64)]) + rest[14:]
        head = 0x45 if chance.random() < 0.8 else 0x46
        fragment = chance.choice((0, 0, 0, 0x2000, 0x1234, 0x4000))
    options = some(4) if head == 0x46 else b""
    packet = struct.pack("!BBHHHBBH", head, 0, 0, n & 0xffff, fragment, chance.choice((1, 2, 60, 255)), 6, 0)
    try:
        out.sendto(packet + src + target + (b"\\1\\1\\1\\0" if options else b"") + rest, (to, 0)); sent += 1
    except OSError:
        refused += 1
print(sent, refused)
"""
# Short connections, one after another.
SHORT = """
import socket, sys
server, count = sys.argv[1], int(sys.argv[2])
for _ in range(count):
    with socket.create_connection((server, 7100), timeout=10) as s:
        s.sendall(b"x" * 200)
        while s.recv(4096): pass
"""
ANSWERS = """
import socket, sys
server = socket.create_server((sys.argv[1], 7100), backlog=512)
print("ready", flush=True)
while True:
    connection, _ = server.accept()
    connection.recv(4096); connection.sendall(b"y" * 2000); connection.close()
"""


def pid_of(border: Border) -> int:
    """Process ID of the gateway."""
    mark = str(border.folder).encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"fourhop-gateway") and any(mark in word for word in words):
                return int(entry.name)
    raise AssertionError("there is no gateway")


def memory(border: Border) -> int:
    """The gateway's resident memory in kB."""
    status = Path(f"/proc/{pid_of(border)}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found is not None
    return int(found[1])


def quiet(border: Border) -> None:
    """Stop answers to unsolicited packets, and let in every source."""
    for where in ("host", "node", "gate"):
        for device in ("all", "default", "eth0", "wire0", "mesh0"):
            border.run(where, "sysctl", "-qw", f"net.ipv4.conf.{device}.rp_filter=0")
    border.run("node", "iptables", "-A", "OUTPUT", "-p", "tcp", "--tcp-flags", "RST", "RST", "-j", "DROP")
    border.run("node", "iptables", "-A", "INPUT", "-s", "172.16.0.0/12", "-j", "DROP")


@pytest.mark.timeout(600)
def test_transfers_arrive_whole_however_often_it_is_killed(border: Border) -> None:
    kills, size = (20, 6_000_000) if LONG else (5, 1_500_000)
    process = border.gateway(pace="")
    count = 4
    server = border.start("node", sys.executable, "-c", SINK, NODE, "7000", str(count), str(size))
    assert server.stdout is not None
    assert server.stdout.readline() == "ready\n"
    with ThreadPoolExecutor(count) as threads:
        clients = [
            threads.submit(border.run, "host", sys.executable, "-c", SOURCE, NODE, "7000", str(n), str(size), "0")
            for n in range(count)
        ]
        # Connections are read one after another, so data waits while the gateway is killed.
        for _ in range(kills):
            time.sleep(1)
            process.kill()
            process.wait()
            time.sleep(0.2)
            process = border.gateway(pace="")
        assert [client.result().returncode for client in clients] == [0] * count
    lines = server.communicate(timeout=LONGEST)[0].splitlines()
    assert sorted(lines) == sorted(f"{size} {expected(n, size)}" for n in range(count))
    end(process)
    assert border.rules() == ""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["garbage", "syn"])
def test_packets_of_any_bytes_and_floods_pass_in_bounded_memory(border: Border, kind: str) -> None:
    count = 1_000_000 if LONG else 60_000
    quiet(border)
    process = border.gateway(mesh='hops = "ttl"', pace="", more="[limits]\nflows = 4096\nnodes = 256")
    # Learn the node before the table of nodes is full: otherwise the gateway ignores packets to it.
    border.transfer(10_000)
    before = memory(border)
    half = count // 2
    with ThreadPoolExecutor(2) as threads:
        into = threads.submit(border.run, "host", sys.executable, "-c", GARBAGE, NODE, str(half), kind, "1")
        out = threads.submit(border.run, "node", sys.executable, "-c", GARBAGE, HOST, str(half), kind, "2")
        for _ in range(600):
            if into.done() and out.done():
                break
            time.sleep(0.5)
    sent = [int(done.result().stdout.split()[0]) for done in (into, out)]
    # The node's filter refuses those of its own packets that have RST.
    assert min(sent) > half * 0.5, into.result().stderr
    state = border.status()
    totals = state["totals"]
    # The kernel drops some before the filter: IP options, fragments of packets that are never complete.
    assert totals["packets"] > sum(sent) * 0.4, totals
    assert totals["flows"] <= 4096
    assert len(state["nodes"]) <= 256
    assert totals["nodes_full"] > 0
    if kind == "garbage":
        assert totals["no_tcp"] > 1000, totals
    else:
        assert totals["displaced"] > 0
    assert memory(border) - before < 30_000, "kB"
    # It still works, however slowly: round trips on a busy machine are long, and it paces by them.
    assert border.transfer(100_000) > 0
    end(process)
    assert border.rules() == ""


@pytest.mark.timeout(600)
def test_a_long_row_of_short_connections_leaves_nothing(border: Border) -> None:
    count = 100_000 if LONG else 4_000
    border.gateway(pace="", more="[limits]\nidle_timeout = '5s'\nhalf_open_timeout = '2s'")
    border.start("node", sys.executable, "-c", ANSWERS, NODE)
    time.sleep(0.5)
    first = border.run("host", sys.executable, "-c", SHORT, NODE, "500")
    assert first.returncode == 0, first.stderr
    before = memory(border)
    with ThreadPoolExecutor(4) as threads:
        for done in threads.map(
            lambda _: subprocess.run(
                border.inside("host", sys.executable, "-c", SHORT, NODE, str(count // 4)),
                capture_output=True,
                text=True,
                timeout=500,
                check=False,
            ),
            range(4),
        ):
            assert done.returncode == 0, done.stderr
    assert memory(border) - before < 10_000, "kB"
    time.sleep(6)
    totals = border.status()["totals"]
    assert totals["followed"] > count * 6
    assert (totals["flows"], totals["waiting"], totals["queued_bytes"]) == (0, 0, 0)


def test_a_service_manager_hears_that_it_lives_and_silence_when_it_hangs(border: Border) -> None:
    """Systemd would then kill it: queued packets are lost, and traffic continues."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(border.folder / "manager"))
        (border.folder / "manager").chmod(0o777)
        manager.settimeout(5)
        words: list[str | Path] = ["env", f"NOTIFY_SOCKET={border.folder}/manager", "WATCHDOG_USEC=3000000", PROGRAM]
        process = border.start("gate", *words, "run", "--config", border.file(pace=""))
        said = [manager.recv(200).decode() for _ in range(3)]
        assert said[0].startswith("READY=1\nSTATUS=mesh0")
        assert said[1:] == ["WATCHDOG=1"] * 2
        process.send_signal(signal.SIGHUP)
        while not (heard := manager.recv(200).decode()).startswith("RELOADING=1"):
            assert heard == "WATCHDOG=1"
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        manager.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while manager.recv(200):
                pass
        time.sleep(3)
        with pytest.raises(BlockingIOError):
            manager.recv(200)
    process.kill()
    assert border.transfer(3_000_000) < shortest(3_000_000)
