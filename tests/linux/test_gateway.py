"""`fourhop-gateway` between two ends: what it paces, what it lets pass, what it leaves.

Every test has three namespaces of its own, a host, the router with the gateway, and a node of the mesh, and sends to
nobody else.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
# Sends all the time, for some seconds.
STEADY = """
import socket, sys, time
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=30) as s:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
    end = time.monotonic() + float(sys.argv[3])
    while time.monotonic() < end:
        s.sendall(bytes(14480)); time.sleep(0.002)
"""
# Prints its smoothed round trip, of TCP_INFO, every 20 ms until all is acknowledged.
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
LAG = 2.2
"""What it says is at most so many seconds old."""


def program(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """The program, outside of any namespace; its exit code is the caller's business."""
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=LONGEST, check=False)


def system(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, timeout=LONGEST, check=True).stdout


@dataclass
class Border:
    """A host, a router and a node, each with a namespace."""

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

    def file(self, *, mesh: str = "", more: str = "") -> Path:
        """A configuration; a mesh of 6 Mbit/s whose node is three links away."""
        file = self.folder / "gateway.toml"
        hops = mesh or f'hops = "table"\n[[node]]\nto = "{NODE}"\nhops = 3\n[[node]]\nto = "{NODE6}"\nhops = 3'
        service = f'[service]\nsocket = "{self.socket}"\n'
        file.write_text(f'[mesh]\ndevices = ["mesh0"]\nrate = "6Mbps"\n{hops}\n{service}{more}\n', encoding="utf-8")
        return file

    def gateway(self, *words: str, mesh: str = "", more: str = "") -> subprocess.Popen[str]:
        """The gateway, once it works."""
        process = self.start("gate", PROGRAM, "run", "--config", self.file(mesh=mesh, more=more), *words)
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("started: "), line + process.stderr.read()
        return process

    def status(self) -> dict[str, Any]:
        """The state after all that has happened."""
        time.sleep(LAG)
        done = program("status", "--json", "--socket", self.socket)
        assert done.returncode == 0, done.stderr
        state: dict[str, Any] = json.loads(done.stdout)
        return state

    def retransmitted(self, where: str) -> int:
        """Segments that TCP has sent again there."""
        names, values = [
            line.split()
            for line in self.run(where, "cat", "/proc/net/snmp").stdout.splitlines()
            if line.startswith("Tcp:")
        ]
        return int(values[names.index("RetransSegs")])

    def rules(self) -> str:
        """What of ours is in the filters."""
        said = [self.run("gate", tables, "-t", "mangle", "-S").stdout for tables in ("iptables", "ip6tables")]
        said.append(self.run("gate", "nft", "list", "tables").stdout)
        return "\n".join(line for text in said for line in text.splitlines() if "ourhop" in line.lower())

    def transfer(
        self, size: int, to: str = NODE, seed: int = 1, source: str = "host", sink: str = "node", stay: float = 0
    ) -> float:
        """Sends bytes to an end, which must arrive whole, and leaves the connection open.

        It returns the time from the first packet to the last, as the sender sees it: programs that start late on a
        busy machine are no part of it.
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
        """Wait until the state is as it must become; the state then."""
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
    """Seconds that pacing makes of so many bytes at least, over links of 6 Mbit/s.

    The links of these tests take no time at all. The paper's formula (docs/tcp-gap.md) takes that for a queue of
    negative length, so that half of what the links should take remains; round trips that vary make it more.
    """
    return size * 8 / 6e6 * hops / 2


@pytest.fixture
def border() -> Iterator[Border]:
    """Three namespaces, which go with the test."""
    needs("ip", "iptables", "nsenter", "sysctl")
    if os.geteuid() != 0:
        pytest.skip("needs root")
    if not PROGRAM.exists():
        pytest.skip("there is no fourhop-gateway: `make linux` builds it")
    # The gateway is not root, and reads its file again.
    with tempfile.TemporaryDirectory(prefix="fourhop-") as folder:
        Path(folder).chmod(0o755)
        border = Border(f"gwt{os.getpid()}", Path(folder))
        try:
            border.build()
            yield border
        finally:
            border.remove()


def end(process: subprocess.Popen[str], how: signal.Signals = signal.SIGTERM) -> str:
    """What it says when it ends."""
    process.send_signal(how)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == 0, said
    return said


def test_a_download_is_paced_and_the_rules_go_with_the_program(border: Border) -> None:
    plain = border.transfer(3_000_000)
    process = border.gateway()
    assert "7100" in border.rules()
    assert "FOURHOP" in border.rules() or "fourhop_gateway" in border.rules()
    paced = border.transfer(3_000_000)
    assert paced > shortest(3_000_000) > plain
    state = border.status()
    (node,) = [node for node in state["nodes"] if node["address"] == NODE]
    assert (node["hops"], node["rate_bps"]) == (3, 6_000_000)
    assert node["into_bytes"] >= 3_000_000
    assert state["totals"]["waited"] > 1000
    assert state["totals"]["early"] == 0
    assert state["totals"]["held_back"] > 100, "windows keep the queue short"
    assert state["sojourn"]["p50"] < 100
    said = end(process)
    assert "ended: " in said
    assert border.rules() == ""
    assert border.transfer(1_000_000) < shortest(1_000_000)


def test_ipv6_is_paced_too(border: Border) -> None:
    border.gateway()
    assert border.transfer(1_000_000, to=NODE6) > shortest(1_000_000)
    state = border.status()
    (node,) = [node for node in state["nodes"] if node["address"] == NODE6]
    assert node["hops"] == 3
    assert state["totals"]["waited"] > 300


def test_an_upload_passes_and_is_told_the_wired_round_trip(border: Border) -> None:
    border.gateway()
    took = border.transfer(5_000_000, to=HOST, source="node", sink="host")
    assert took < shortest(5_000_000), "nothing waits on its way out"
    state = border.status()
    assert state["totals"]["options"] > 50
    (node,) = [node for node in state["nodes"] if node["address"] == NODE]
    assert node["out_bytes"] >= 5_000_000


def test_hops_are_found_by_the_time_to_live(border: Border) -> None:
    border.gateway(mesh='hops = "ttl"')
    border.transfer(500_000)
    assert {node["address"]: node["hops"] for node in border.status()["nodes"]}[NODE] == 1
    border.run("node", "sysctl", "-qw", "net.ipv4.ip_default_ttl=61")
    border.transfer(500_000)
    assert {node["address"]: node["hops"] for node in border.status()["nodes"]}[NODE] == 4


def test_unknown_nodes_are_not_paced_but_counted_and_a_program_may_know_them(border: Border) -> None:
    known = border.folder / "hops"
    known.write_text("", encoding="utf-8")
    border.gateway(mesh=f'hops = "command"\ncommand = ["cat", "{known}"]\nevery = "1s"')
    border.transfer(2_000_000)
    totals = border.status()["totals"]
    assert (totals["unknown"] > 1000, totals["waited"]) == (True, 0)
    known.write_text(f"{NODE} 2\n", encoding="utf-8")

    def is_known(state: dict[str, Any]) -> bool:
        return any(node["address"] == NODE and node["hops"] == 2 for node in state["nodes"])

    border.wait(is_known, "two hops")
    assert border.transfer(1_000_000) > shortest(1_000_000, hops=2)
    known.write_text("nonsense\n", encoding="utf-8")
    state = border.wait(lambda state: state["hops_error"] is not None, "a line that is wrong")
    assert 'found "nonsense", allowed: lines as' in state["hops_error"]
    assert {node["address"]: node["hops"] for node in state["nodes"]}[NODE] == 2, "what was known holds"


def test_it_only_looks_if_it_is_asked_to(border: Border) -> None:
    border.gateway("--dry-run")
    with ThreadPoolExecutor(1) as threads:
        transfer = threads.submit(border.transfer, 3_000_000, stay=4)
        time.sleep(1)
        state = border.status()
        assert transfer.result() < shortest(3_000_000)
    assert state["dry_run"]
    assert (state["totals"]["waited"], state["totals"]["held_back"], state["totals"]["options"]) == (0, 0, 0)
    flow = max(state["flows"], key=lambda flow: int(flow["into_bytes"]))
    assert flow["interval_s"] > 0, "it says what it would do"


def test_it_reads_its_file_again_and_keeps_what_it_had_if_that_is_wrong(border: Border) -> None:
    process = border.gateway()
    assert process.stderr is not None
    border.file(more='[pace]\nsojurn = "1s"')
    process.send_signal(signal.SIGHUP)
    line = process.stderr.readline()
    assert line.startswith("not reloaded: ")
    said = [line]
    while "an unknown key" not in said[-1]:
        said.append(process.stderr.readline())
    assert border.transfer(1_000_000) > shortest(1_000_000)
    border.file(more="[pace]\npacing = false")
    process.send_signal(signal.SIGHUP)
    while not (line := process.stderr.readline()).startswith("reloaded: "):
        assert process.poll() is None
    time.sleep(0.3)
    assert border.transfer(1_000_000) < shortest(1_000_000)


def test_a_file_that_root_alone_may_read_is_read_again(border: Border) -> None:
    file = border.file()
    file.chmod(0o600)
    process = border.start("gate", PROGRAM, "run", "--config", file)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("started: ")
    border.file(more="[pace]\npacing = false")
    process.send_signal(signal.SIGHUP)
    assert process.stderr.readline().startswith("reloaded: ")
    border.wait(lambda state: state["state"] == "idle", "its state")
    (border.folder / "new").write_bytes(file.read_bytes())
    (border.folder / "new").chmod(0o600)
    (border.folder / "new").rename(file)
    process.send_signal(signal.SIGHUP)
    line = process.stderr.readline()
    assert line == (
        f"not reloaded: {file}: found a new file that user nobody may not read; allow it (chmod o+r), or restart the "
        "gateway\n"
    )
    end(process)


def test_when_it_is_killed_traffic_flows_and_the_next_start_cleans_up(border: Border) -> None:
    process = border.gateway()
    with ThreadPoolExecutor(1) as threads:
        transfer = threads.submit(border.transfer, 6_000_000)
        border.wait(lambda state: state["totals"]["waited"] > 0, "packets that wait")
        process.kill()
        # What is left passes at once, but for what TCP has to send again first.
        assert transfer.result() < shortest(6_000_000)
    assert border.rules() != "", "nobody was there to take them away"
    process = border.gateway()
    assert border.rules().count("-A FORWARD") <= 2
    end(process)
    assert border.rules() == ""


def test_a_second_start_and_clean_are_refused_beside_a_running_gateway(border: Border) -> None:
    process = border.gateway()
    rules = border.rules()
    second = border.run("gate", PROGRAM, "run", "--config", border.folder / "gateway.toml")
    clean = border.run("gate", PROGRAM, "clean")
    for done in (second, clean):
        assert done.returncode == 2, done.stdout
        assert f"already runs in this network namespace (process {process.pid})" in done.stderr
    assert border.rules() == rules
    assert border.transfer(1_000_000) > shortest(1_000_000), "the first goes on pacing"
    # In another network namespace it is none of its business.
    assert border.run("host", PROGRAM, "clean").returncode == 0
    end(process)
    assert border.run("gate", PROGRAM, "clean").returncode == 0


def test_a_user_who_takes_its_name_first_stops_nothing(border: Border) -> None:
    needs("setpriv")
    script = "import socket, time; s = socket.socket(socket.AF_UNIX); s.bind('\\0fourhop-gateway'); s.listen(); "
    script += "print('has it', flush=True); time.sleep(60)"
    nobody = ("setpriv", "--reuid=65533", "--regid=65533", "--clear-groups")
    squatter = border.start("gate", *nobody, sys.executable, "-c", script)
    assert squatter.stdout is not None
    assert squatter.stdout.readline() == "has it\n", squatter.communicate()
    process = border.gateway()
    second = border.run("gate", PROGRAM, "run", "--config", border.folder / "gateway.toml")
    assert f"already runs in this network namespace (process {process.pid})" in second.stderr
    end(process)


def test_rules_that_another_program_flushes_come_back(border: Border) -> None:
    border.gateway()
    assert border.transfer(300_000) > shortest(300_000)
    before = border.rules()
    for times in (1, 2):
        for tables in ("iptables", "ip6tables"):
            border.run("gate", tables, "-t", "mangle", "-F")
            border.run("gate", tables, "-t", "mangle", "-X")
        border.run("gate", "nft", "flush", "ruleset")

        def has_restored(state: dict[str, Any], least: int = times) -> bool:
            return bool(state["totals"]["rules_restored"] >= least)

        border.wait(has_restored, "the rules")
        assert border.rules() == before
        assert border.transfer(300_000) > shortest(300_000)
    state = border.status()
    assert (state["state"], state["problems"]) == ("healthy", [])
    assert program("status", "--socket", border.socket).returncode == 0


def test_it_is_not_called_healthy_while_nothing_comes_to_its_queue(border: Border) -> None:
    border.gateway()
    assert border.status()["state"] == "idle"
    shown = program("status", "--socket", border.socket).stdout
    assert "no packet has come to the queue" in shown
    assert "healthy" not in shown


def offspring(process: subprocess.Popen[str]) -> list[int]:
    """Processes that any of its threads has started."""
    threads = Path(f"/proc/{process.pid}/task").iterdir()
    return [int(pid) for thread in threads for pid in (thread / "children").read_text().split()]


def test_a_stopped_gateway_holds_nothing_up_and_goes_on_pacing_afterwards(border: Border) -> None:
    process = border.gateway()
    with ThreadPoolExecutor(1) as threads:
        # 12 s of pacing, of which it is stopped most of the time: what it held leaves, too.
        transfer = threads.submit(border.transfer, 6_000_000)
        border.wait(lambda state: state["totals"]["waited"] > 0, "packets that wait")
        process.send_signal(signal.SIGSTOP)
        # At most two seconds until packets pass; the rest is for a busy machine.
        assert transfer.result() < shortest(6_000_000)
    assert border.transfer(1_000_000) < shortest(1_000_000)
    process.send_signal(signal.SIGCONT)
    state = border.status()
    assert state["totals"]["given_up"] == 1
    assert border.transfer(1_000_000) > shortest(1_000_000), "it has its queues again"
    assert border.status()["state"] == "healthy"
    end(process)
    assert border.rules() == ""


def test_what_a_killed_gateway_holds_passes(border: Border) -> None:
    # The whole window of the sender waits in it.
    process = border.gateway(more='[pace]\nsojourn = "none"')
    (guard,) = offspring(process)
    queues = Path(f"/proc/{guard}/net/netfilter/nfnetlink_queue")
    with ThreadPoolExecutor(1) as threads:
        transfer = threads.submit(border.transfer, 6_000_000)
        deadline = time.monotonic() + 30
        waiting, again, since = 0, 0, time.monotonic()
        # Until the sender has learned that round trips are long: at first its time-outs take waiting for loss.
        while waiting < 50 or time.monotonic() < since + 1.5:
            assert time.monotonic() < deadline, (waiting, again)
            time.sleep(0.05)
            if (now := border.retransmitted("host")) != again:
                again, since = now, time.monotonic()
            waiting = max(int(line.split()[2]) for line in queues.read_text().splitlines())
        process.kill()
        transfer.result()
    # The kernel would drop all that it holds for a process that ends. What is sent again is due to a busy machine.
    assert border.retransmitted("host") - again < waiting / 2
    process = border.gateway()
    assert border.transfer(300_000) > shortest(300_000)
    # Without its guard it goes on, and starts another one.
    (guard,) = offspring(process)
    os.kill(guard, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while offspring(process) in ([], [guard]):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert border.transfer(300_000) > shortest(300_000)


def test_windows_of_megabytes_do_not_fill_its_queue(border: Border) -> None:
    for where in ("host", "node"):
        for variable in ("tcp_rmem", "tcp_wmem"):
            done = border.run(where, "sysctl", "-qw", f"net.ipv4.{variable}=4096 4194304 4194304")
            assert done.returncode == 0, done.stderr
    # NewReno's slow start ends with a loss, and nothing is lost here: whatever the window holds waits in the gateway.
    assert border.run("host", "sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno").returncode == 0

    def round_trips() -> list[float]:
        """Of a transfer as its sender sees them, in seconds."""
        server = border.start("node", sys.executable, "-c", SINK, NODE, "7000", "1")
        assert server.stdout is not None
        server.stdout.readline()
        said = border.run("host", sys.executable, "-c", SAMPLED, NODE, "7000", "1500000")
        assert said.returncode == 0, said.stderr
        assert server.communicate(timeout=LONGEST)[0].split()[0] == "1500000"
        return sorted(float(word) for word in said.stdout.split())

    process = border.gateway(more='[pace]\nsojourn = "none"')
    unbounded = round_trips()
    end(process)
    border.gateway()
    bounded = round_trips()
    assert unbounded[len(unbounded) // 2] > 1
    # The target is 50 ms above the interval, which is 6 ms, and the path takes none; the rest is for a busy machine.
    assert bounded[len(bounded) // 2] < unbounded[len(unbounded) // 2] / 4


def test_several_workers_share_the_nodes(border: Border) -> None:
    nodes = [f"10.9.0.{last}" for last in range(11, 17)]
    for node in nodes:
        assert border.run("node", "ip", "address", "add", f"{node}/24", "dev", "eth0").returncode == 0
    table = 'hops = "table"\n[[node]]\nto = "10.9.0.0/24"\nhops = 3'
    process = border.gateway(mesh=table, more="[rules]\nworkers = 2")
    with ThreadPoolExecutor(len(nodes)) as threads:
        for took in threads.map(lambda node: border.transfer(400_000, to=node), nodes):
            assert took > shortest(400_000)
    state = border.status()
    assert {node["address"] for node in state["nodes"] if node["into_bytes"] >= 400_000} == set(nodes)
    # One thread of them all, one for each worker: both have worked.
    (pid,) = [entry for entry in Path(f"/proc/{process.pid}/task").iterdir() if entry.name == str(process.pid)]
    switches = [
        int(re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.M)[0])
        for task in pid.parent.iterdir()
        if task.name != pid.name
    ]
    assert sum(count > 100 for count in switches) >= 2, switches
    end(process)
    assert border.rules() == ""


def test_a_mesh_behind_a_vlan_is_paced(border: Border) -> None:
    if border.run(
        "gate", "ip", "link", "add", "link", "mesh0", "name", "mesh0.7", "type", "vlan", "id", "7"
    ).returncode:
        pytest.skip("this kernel has no VLANs")
    for where, device, parent, address in (("gate", "mesh0.7", "mesh0", "1"), ("node", "eth0.7", "eth0", "2")):
        border.run(where, "ip", "link", "add", "link", parent, "name", device, "type", "vlan", "id", "7")
        border.run(where, "ip", "address", "add", f"10.77.0.{address}/24", "dev", device)
        border.run(where, "ip", "link", "set", device, "up")
    file = border.file(mesh='hops = "table"\n[[node]]\nto = "10.77.0.2"\nhops = 3')
    file.write_text(file.read_text(encoding="utf-8").replace('"mesh0"', '"mesh0.7"'), encoding="utf-8")
    process = border.start("gate", PROGRAM, "run", "--config", file)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("started: ")
    assert border.transfer(1_000_000, to="10.77.0.2") > shortest(1_000_000)
    assert border.transfer(1_000_000) < shortest(1_000_000), (
        "what goes by the device without a number is not of the mesh"
    )


def test_what_is_no_tcp_and_what_is_cut_in_pieces_passes(border: Border) -> None:
    needs("ping")
    border.gateway()
    for options in ((), ("-s", "4000")):
        assert border.run("host", "ping", "-c", "3", "-i", "0.2", *options, NODE).returncode == 0


def test_it_gives_up_root_and_says_figures(border: Border) -> None:
    process = border.gateway(more='metrics = "127.0.0.1:0"')
    del process
    (pid,) = [
        entry.name
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and str(border.folder).encode() in (entry / "cmdline").read_bytes()
    ]
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    fields = {line.split(":")[0]: line.split()[1] for line in status.splitlines() if len(line.split()) > 1}
    assert fields["Uid"] != "0"
    # CAP_NET_ADMIN, and CAP_NET_RAW where iptables makes the rules.
    assert int(fields["CapEff"], 16) & ~(1 << 12 | 1 << 13) == 0
    assert int(fields["CapBnd"], 16) & ~(1 << 12 | 1 << 13) == 0
    assert fields["NoNewPrivs"] == "1"


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_what_it_was_told_holds_from_the_first_packet_on(border: Border, words: tuple[str, ...]) -> None:
    """Packets come while it starts: none passes because a worker does not know yet how far the node is."""
    server = border.start("node", sys.executable, "-c", SINK, NODE, "7000", "1")
    assert server.stdout is not None
    assert server.stdout.readline() == "ready\n"
    with ThreadPoolExecutor(1) as threads:
        sent = threads.submit(border.run, "host", sys.executable, "-c", STEADY, NODE, "7000", "3")
        time.sleep(0.5)
        border.gateway(*words)
        assert sent.result().returncode == 0
    server.communicate(timeout=LONGEST)
    totals = border.status()["totals"]
    assert (totals["unknown"], totals["waited"] > 0) == (0, not words), totals


def test_figures_for_prometheus(border: Border) -> None:
    border.gateway(more='metrics = "10.9.0.1:9466"')
    script = "import urllib.request as u; print(u.urlopen('http://10.9.0.1:9466/metrics', timeout=5).read().decode())"
    with ThreadPoolExecutor(1) as threads:
        transfer = threads.submit(border.transfer, 500_000, stay=10)
        interval = rf'^fourhop_gateway_interval_seconds{{node="{NODE}",class="into"}} 0\.\d+$'
        page, deadline = "", time.monotonic() + LAG + 10
        while not re.search(interval, page, re.M):
            assert time.monotonic() < deadline, page
            time.sleep(0.5)
            page = border.run("gate", sys.executable, "-c", script).stdout
        transfer.result()
    assert re.search(rf'^fourhop_gateway_hops{{node="{NODE}"}} 3$', page, re.M), page
    assert re.search(r"^fourhop_gateway_packets_total [1-9]\d*$", page, re.M)
    names = set(re.findall(r"^# TYPE (fourhop_gateway_\w+)", page, re.M))
    board = (ROOT / "packaging" / "gateway-grafana.json").read_text(encoding="utf-8")
    shown = set(re.findall(r"fourhop_gateway_\w+", board))
    assert shown <= names, shown - names


def test_check_says_what_is_wrong(border: Border) -> None:
    sound = border.run("gate", PROGRAM, "check", "--config", border.file())
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert "WRONG" not in sound.stdout
    assert "warning" not in sound.stdout
    fast = border.file()
    fast.write_text(fast.read_text(encoding="utf-8").replace("6Mbps", "54Mbps"), encoding="utf-8")
    warned = border.run("gate", PROGRAM, "check", "--config", fast).stdout
    assert "warning: rate: found links of 54 Mbit/s: adaptive pacing is for 802.11b, up to 11 Mbit/s" in warned
    wrong = border.run("host", PROGRAM, "check", "--config", border.file())
    assert wrong.returncode == 1
    assert "WRONG: device mesh0 is not there" in wrong.stdout
    refused = border.run("gate", PROGRAM, "check", "--config", border.file(more="[limits]\nflows = 0"))
    assert refused.returncode == 2
    assert f"{border.folder}/gateway.toml" in refused.stderr
    assert "from 1 to 1000000" in refused.stderr


def test_rules_are_printed_for_those_who_write_them(border: Border) -> None:
    file = border.file()
    nft = border.run("gate", PROGRAM, "run", "--config", file, "--print-rules", "nft").stdout
    assert "queue num 7100 bypass" in nft
    script = border.run("gate", PROGRAM, "run", "--config", file, "--print-rules", "iptables").stdout
    assert border.run("gate", "sh", "-ec", script).returncode == 0
    process = border.gateway(more="[rules]\nmanage = false")
    assert border.transfer(500_000) > shortest(500_000)
    end(process)
    assert "7100" in border.rules(), "rules of others stay"
    assert border.run("gate", PROGRAM, "clean").returncode == 0
    assert border.rules() == ""


def test_the_state_is_shown_in_a_terminal(border: Border) -> None:
    border.gateway()
    border.transfer(500_000)
    time.sleep(LAG)
    shown = program("status", "--socket", border.socket).stdout
    assert NODE in shown
    assert "interval ms" in shown
    top = subprocess.Popen(
        [PROGRAM, "top", "--every", "100ms", "--socket", border.socket], stdout=subprocess.PIPE, text=True
    )
    time.sleep(1)
    top.kill()
    assert top.communicate()[0].count("fourhop-gateway ") > 3
    nobody = program("status", "--socket", border.folder / "nobody")
    assert nobody.returncode == 2
    assert "cannot ask" in nobody.stderr


def test_the_manual_page_is_sound() -> None:
    if not PROGRAM.exists():
        pytest.skip("there is no fourhop-gateway: `make linux` builds it")
    page = program("manual").stdout
    for part in (".TH fourhop-gateway 8", ".SH RUN", ".SH SIGNALS", "print\\-rules", "[mesh]"):
        assert part in page, part
    kept = (ROOT / "packaging" / "fourhop-gateway.8").read_text(encoding="utf-8")
    assert page == kept, "`fourhop-gateway manual > packaging/fourhop-gateway.8` writes it"
