"""Networks of routing daemons: signals, partitions, a gateway, ns-2's AODV, keys, forgers, several interfaces."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.linux.aodvd import PROGRAM, address, daemons
from tests.linux.conftest import LONGEST, Starter, needs, needs_tun_for_users

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="there is no fourhop-aodvd: `make linux` builds it")

HALLWAY = """profile = "standard"
duration = "600s"
[radio]
model = "sinr"
rate = "11Mbps"
basic_rate = "1Mbps"
tx_power = "0dBm"
frequency = "2437MHz"
exponent = 3.6
implementation_loss = "4dB"
[topology]
kind = "chain"
hops = 2
spacing = "12.5m"
[[flows]]
from = 0
to = 1
transport = "newreno"
"""
"""The testbed's hallway without fading: HELLO messages at 1 Mbit/s reach the second laptop, data does not."""

THRESHOLD = -84.9
"""Half-way in dB between the signals over one spacing and over two."""


def test_a_weak_neighbour_is_ignored_and_reached_over_a_strong_one(emulate: Starter, tmp_path: Path) -> None:
    needs("ping")
    file = tmp_path / "hallway.toml"
    file.write_text(HALLWAY, encoding="utf-8")
    with daemons(emulate, file=file) as mesh:
        aware = f'[signal]\nsource = "emulator"\nthreshold = "{THRESHOLD}dBm"\nemulator = "{mesh.folder}/radio"'
        mesh.start(0, 1, 2, tables=aware)
        time.sleep(3)
        neighbours = {one["address"]: one for one in mesh.show(0)["neighbours"]}
        near, far = neighbours[address(1)], neighbours[address(2)]
        assert (near["stable"], near["mac"]) == (True, "02:00:00:00:00:01")
        assert not far["stable"]
        assert -80.5 < near["signal_dbm"] < -79
        assert -91.5 < far["signal_dbm"] < -89.5, "3.6 x 10 dB per decade"
        assert near["smoothed_dbm"] == pytest.approx(near["signal_dbm"], abs=0.5)
        assert mesh.show(0)["counters"]["weak_ignored"] > 0
        assert " 0% packet loss" in mesh.net.run("n0", "ping", "-c", "5", "-i", "0.3", "n2").stdout
        assert mesh.routes(0)[address(2)]["hops"] == 2
        # The same without the signal threshold: the far node is taken for a neighbour.
        for node in (0, 1, 2):
            mesh.end(node)
        mesh.start(0, 1, 2)
        mesh.wait(lambda: address(2) in mesh.routes(0), 10, "a HELLO from afar")
        assert mesh.routes(0)[address(2)]["hops"] == 1


def test_frames_that_the_radio_gives_up_break_a_link(emulate: Starter, tmp_path: Path) -> None:
    """A neighbour drives away; HELLO messages alone would take a minute and a half to notice."""
    needs("ping")
    (tmp_path / "away.tcl").write_text(
        "".join(
            f"$node_({n}) set X_ {x}.0\n$node_({n}) set Y_ 1.0\n$node_({n}) set Z_ 0.0\n" for n, x in ((0, 1), (1, 201))
        )
        + '$ns_ at 12.0 "$node_(1) setdest 5000.0 1.0 900.0"\n',
        encoding="utf-8",
    )
    file = tmp_path / "away.toml"
    file.write_text(
        'profile = "standard"\nduration = "60s"\n[mobility]\nmodel = "ns2"\nfile = "away.tcl"\n'
        '[[flows]]\nfrom = 0\nto = 1\ntransport = "newreno"\n',
        encoding="utf-8",
    )
    with daemons(emulate, file=file, more="[hello]\nallowed_loss = 100\n[failures]\nframes = 1\narp = false\n") as mesh:
        signals = f'[signal]\nsource = "emulator"\nemulator = "{mesh.folder}/radio"\n'
        mesh.start(0, 1, tables=signals)
        mesh.wait(lambda: address(1) in mesh.routes(0), 10, "a HELLO")
        mesh.net.start("n0", "ping", "-i", "0.2", "-w", "40", "n1")
        mesh.wait(lambda: mesh.show(0)["daemon"]["link_failures_frames"] > 0, 30, "a frame that was given up")
        mesh.wait(lambda: address(1) not in mesh.kernel(0), 5, "the end of the route")


def test_partitions_work_on_their_own_and_merge(emulate: Starter) -> None:
    needs("ping")
    with daemons(emulate, hops=4) as mesh:
        mesh.start(*range(5))
        time.sleep(2)
        net = mesh.net

        def reaches(src: int, dst: int) -> bool:
            return net.run(f"n{src}", "ping", "-c", "1", "-W", "1", f"n{dst}").returncode == 0

        assert reaches(0, 4)
        net.run("n2", "ip", "link", "set", "mesh0", "down")
        mesh.wait(lambda: not reaches(0, 4), 10, "a partition")
        assert reaches(0, 1)
        assert reaches(3, 4)
        assert not reaches(0, 4)
        mesh.wait(lambda: mesh.show(2)["daemon"]["link_failures_device"] >= 1, 5, "the device that is down")
        net.run("n2", "ip", "link", "set", "mesh0", "up")
        mesh.wait(lambda: reaches(0, 4), 30, "a merge")


def test_a_gateway_answers_for_the_wired_side_and_a_download_comes_over_it(emulate: Starter) -> None:
    needs("ping", "curl", "ip")
    hops = 2
    with daemons(emulate, "--set", f"topology.hops={hops}", file=ROOT / "scenarios" / "gateway-chain.toml") as mesh:
        net = mesh.net
        for node in ("n0", "n1"):
            # The emulator's own route out, which takes the gateway for a neighbour.
            net.run(node, "ip", "route", "del", "10.128.0.0/9")
        wired = 'outside = ["10.128.0.0/9"]'
        mesh.start(0, 1, head=wired)
        gateway = mesh.config(hops, head='announce = ["10.128.0.0/9"]')
        mesh.state_file(hops).write_text(
            json.dumps({"address": address(hops), "seqno": 1, "rreq_id": 1, "stamp": 0, "variables": []}),
            encoding="utf-8",
        )
        mesh.processes[hops] = net.start("gateway-1", str(PROGRAM), "run", "--config", str(gateway))
        mesh.wait(lambda: mesh.is_up(hops), 20, "the gateway")
        time.sleep(2)
        assert " 0% packet loss" in net.run("n0", "ping", "-c", "3", "-i", "0.5", "B").stdout
        route = mesh.routes(0)["10.128.0.3"]
        assert (route["hops"], route["next_hop"]) == (hops, address(1)), (
            "the gateway answers as if it were zero hops behind"
        )
        (mesh.folder / "file").write_bytes(bytes(300_000))
        net.serve("B", "python3", "-m", "http.server", "80", "--directory", str(mesh.folder), port=80)
        done = net.run("n0", "curl", "-s", "-o", "/dev/null", "-w", "%{size_download} %{http_code}", "http://B/file")
        assert done.stdout == "300000 200"
        # From outside, to a node to which there is no route any more.
        mesh.wait(lambda: address(0) not in mesh.routes(hops), 25, "the end of the way back")
        assert " 0% packet loss" in net.run("B", "ping", "-c", "2", "-i", "0.5", "-W", "3", "n0").stdout


def test_rfc_3561_and_ns2s_aodv_route_together(emulate: Starter) -> None:
    needs("ping")
    with daemons(emulate, hops=4) as mesh:
        mesh.start(0, 2, 4)
        mesh.start(1, 3, head='profile = "ns2"')
        time.sleep(2)
        for src, dst in ((0, 4), (1, 4), (3, 0)):
            assert mesh.net.run(f"n{src}", "ping", "-c", "3", "-i", "0.3", "-W", "3", f"n{dst}").returncode == 0
        assert mesh.routes(0)[address(4)]["hops"] == 4


@pytest.mark.parametrize("profile", ["standard", "ns2"])
def test_daemons_and_nodes_of_the_simulators_aodv_are_one_mesh(emulate: Starter, profile: str) -> None:
    """Two of five nodes run simulated AODV, RFC 3561's or ns-2's, on the same air as three daemons."""
    needs("ping")
    file = ROOT / "scenarios" / ("chain-standard.toml" if profile == "standard" else "chain.toml")
    # A killed daemon is silent, but its radio still answers.
    keys = [
        word for key in ("protocol=aodv", "hello=true", "hello_always=true") for word in ("--set", f"routing.{key}")
    ]
    with daemons(emulate, "--hosted", "n1,n3", *keys, file=file, hops=4) as mesh:
        mesh.start(0, 2, 4)
        ping = mesh.ping(0, 4, 5)
        assert "ttl=61" in ping, "two daemons' kernels and one simulated node each pass it on"
        assert mesh.routes(0)[address(4)]["next_hop"] == address(1)
        mesh.ping(4, 1, 3)
        mesh.end(4, "KILL")
        mesh.net.run("n4", "ip", "link", "set", "mesh0", "down")
        mesh.net.start("n0", "ping", "-i", "0.2", "-w", "15", "n4")
        mesh.wait(lambda: address(4) not in mesh.routes(0), 15, "an error of the simulated node, passed on")
        mesh.wait(lambda: mesh.show(2)["counters"]["rerr_received"] >= 1, 5, "the error where it was passed on")


SECRET = b"fourhop: thirty-two bytes or more"


def test_holders_of_a_key_route_and_others_are_left_out(emulate: Starter, tmp_path: Path) -> None:
    needs("ping")
    (tmp_path / "key").write_bytes(SECRET)
    keys = f'[authentication]\nsign_with = 1\nclocks_within = "5s"\nkeys = [{{ id = 1, file = "{tmp_path}/key" }}]'
    with daemons(emulate, hops=2) as mesh:
        mesh.start(0, 1, tables=keys)
        mesh.start(2)
        time.sleep(3)
        assert mesh.net.run("n0", "ping", "-c", "2", "-i", "0.3", "n1").returncode == 0
        assert mesh.net.run("n0", "ping", "-c", "2", "-W", "1", "-i", "0.3", "n2").returncode != 0
        assert mesh.show(1)["refused"]["unauthenticated"] > 0
        assert address(1) in mesh.routes(2), "who does not know the block skips it"
        mesh.end(2)
        mesh.start(2, tables=keys)
        mesh.wait(lambda: mesh.net.run("n0", "ping", "-c", "1", "-W", "1", "n2").returncode == 0, 10, "the third")
        assert "replayed" not in mesh.show(1)["refused"]


FORGER = """
import socket, struct, sys, time
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
out.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"mesh0")
ip = lambda text: socket.inet_aton(text)
def rreq(origin, seqno, number, target, known=None):
    flags = 0x08 if known is None else 0
    return struct.pack("!BBBBI4sI4sI", 1, flags, 0, 0, number, ip(target), known or 0, ip(origin), seqno)
def send(*all):
    for message in all:
        out.sendto(message, ("255.255.255.255", 654))
send(rreq("10.0.0.1", 0x7FFFFFFF, 1, "10.0.0.9"), rreq("10.0.0.2", 1, 1, "10.0.0.9"),
     rreq("10.0.0.2", 0x70000000, 2, "10.0.0.9"), rreq("10.0.0.2", 1, 3, "10.0.0.1", 0x70000000),
     b"", b"\\x01\\x00", b"\\x63" * 300)
for n in range(int(sys.argv[1])):
    send(rreq(f"10.0.{n >> 8 & 127}.{n & 255}", n, n, "10.0.0.9"))
    if n % 64 == 0:
        time.sleep(0.02)
"""


def memory(process: int) -> int:
    """Resident memory in kB."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS")))


def test_forged_messages_and_floods_are_counted_and_contained(emulate: Starter) -> None:
    needs("ping", "python3")
    with daemons(emulate, hops=2, more="[limits]\nroutes = 64") as mesh:
        mesh.start(0, 2)
        net = mesh.net
        net.run("n1", "python3", "-c", FORGER, "100")
        before = memory(mesh.processes[0].pid)
        net.run("n1", "python3", "-c", FORGER, "6000")
        time.sleep(2)
        state = mesh.show(0)
        for reason in ("impostor", "number-jump", "malformed", "too-fast"):
            assert state["refused"].get(reason, 0) > 0, state["refused"]
        assert state["seqno"] < 1000
        assert len(state["routes"]) <= 64
        assert memory(mesh.processes[0].pid) < before + 1000
        # The forger's node gets a daemon, too, and the mesh works.
        time.sleep(2)
        mesh.start(1)
        mesh.wait(lambda: net.run("n0", "ping", "-c", "1", "-W", "1", "n2").returncode == 0, 20, "a mesh that works")


def test_messages_are_rfc_3561s_field_by_field(emulate: Starter) -> None:
    """Decodes the daemons' datagrams with tshark."""
    needs("ping", "tcpdump", "tshark")
    with daemons(emulate, hops=2, more="[routing]\nreply_acks = true") as mesh:
        file = mesh.folder / "seen.pcap"
        dump = mesh.net.start("n1", "tcpdump", "-i", "mesh0", "-w", str(file), "-U", "udp", "port", "654")
        mesh.wait(lambda: file.exists() and file.stat().st_size >= 24, 10, "tcpdump")
        mesh.start(0, 1, 2)
        time.sleep(2)
        assert mesh.net.run("n0", "ping", "-c", "2", "-i", "0.5", "n2").returncode == 0
        mesh.end(2, "KILL")
        mesh.net.run("n2", "ip", "link", "set", "mesh0", "down")
        # It continues after the error arrives, so node 1 forwards another route request.
        mesh.net.start("n0", "ping", "-i", "0.2", "-w", "14", "n2")
        mesh.wait(lambda: address(2) not in mesh.routes(0), 10, "an error")
        time.sleep(3)
        mesh.net.programs.remove(dump)
        dump.terminate()
        dump.communicate(timeout=LONGEST)
        names = (
            "aodv.type",
            "ip.src",
            "ip.dst",
            "ip.ttl",
            "ip.dsfield.dscp",
            "udp.srcport",
            "aodv.hopcount",
            "aodv.dest_ip",
            "aodv.orig_ip",
            "aodv.orig_seqno",
            "aodv.dest_seqno",
            "aodv.flags.rrep_ack",
            "aodv.lifetime",
            "aodv.unreach_dest_ip",
        )
        command = ["tshark", "-r", str(file), "-T", "fields", "-E", "separator=|"]
        for name in names:
            command += ["-e", name]
        read = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=True).stdout
        all_messages = [dict(zip(names, line.split("|"), strict=True)) for line in read.splitlines()]
        malformed = subprocess.run(
            ["tshark", "-r", str(file), "-Y", "_ws.malformed || !aodv"],
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=True,
        ).stdout
        assert malformed == ""
        assert all(one["udp.srcport"] == "654" and one["ip.dsfield.dscp"] == "48" for one in all_messages)
        kinds = {one["aodv.type"] for one in all_messages}
        assert kinds == {"1", "2", "3", "4"}, "all four of the RFC"
        broadcast = "255.255.255.255"
        for one in all_messages:
            if one["aodv.type"] == "2" and one["ip.dst"] == broadcast:
                assert (one["aodv.dest_ip"], one["ip.ttl"], one["aodv.hopcount"]) == (one["ip.src"], "1", "0"), (
                    "a HELLO"
                )
                assert one["aodv.lifetime"] == "2000", "ALLOWED_HELLO_LOSS x HELLO_INTERVAL"
        asked = [one for one in all_messages if one["aodv.type"] == "1" and one["aodv.dest_ip"] == address(2)]
        assert {(one["ip.src"], one["aodv.hopcount"]) for one in asked} >= {(address(0), "0"), (address(1), "1")}
        assert all(one["aodv.orig_ip"] == address(0) for one in asked)
        answers = [one for one in all_messages if one["aodv.type"] == "2" and one["ip.dst"] != broadcast]
        assert answers
        assert all(one["aodv.flags.rrep_ack"] in ("1", "True") for one in answers)
        lost = [one for one in all_messages if one["aodv.type"] == "3" and one["ip.src"] == address(1)]
        assert any(address(2) in one["aodv.unreach_dest_ip"] for one in lost)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=LONGEST)


@pytest.fixture
def wires() -> Iterator[list[str]]:
    """Three namespaces in a row, joined by wires: the middle one has two interfaces."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    needs("ip", "ping")
    names = [f"fhaodvd{os.getpid()}{n}" for n in "abc"]
    try:
        for n, name in enumerate(names):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "addr", "add", f"10.0.0.{n + 1}/32", "dev", "lo")
        for n in (0, 1):
            ends = [f"right{n}", f"left{n}"]
            ip(
                "link",
                "add",
                ends[0],
                "netns",
                names[n],
                "type",
                "veth",
                "peer",
                "name",
                ends[1],
                "netns",
                names[n + 1],
            )
            ip("-n", names[n], "link", "set", ends[0], "up")
            ip("-n", names[n + 1], "link", "set", ends[1], "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True, timeout=LONGEST)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter."""
    with tempfile.TemporaryDirectory(prefix="fourhop-aodvd-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_several_interfaces_metrics_and_few_rights(wires: list[str], open_folder: Path) -> None:
    needs("curl", "setpriv")
    needs_tun_for_users()
    interfaces = (["right0"], ["left0", "right1"], ["left1"])
    running: list[subprocess.Popen[str]] = []
    try:
        for n, names in enumerate(interfaces):
            folder = open_folder / str(n)
            file = open_folder / f"{n}.toml"
            file.write_text(
                f'address = "10.0.0.{n + 1}"\ninterfaces = {json.dumps(names)}\nmesh = ["10.0.0.0/24"]\n'
                f'[routing]\nreboot_wait = false\n[system]\ncontrol = "{folder}/control"\nstate = "{folder}/state"\n'
                'metrics = "127.0.0.1:9466"\n',
                encoding="utf-8",
            )
            command = ["nsenter", f"--net=/run/netns/{wires[n]}"]
            if n == 2:
                # As under the systemd unit: never root, with three capabilities.
                folder.mkdir()
                os.chown(folder, 65534, 65534)
                caps = "+net_admin,+net_raw,+net_bind_service"
                command += ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
                command += [f"--inh-caps={caps}", f"--ambient-caps={caps}"]
            command += [str(PROGRAM), "run", "--config", str(file)]
            running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
            assert running[-1].stdout is not None
            said = running[-1].stdout.readline()
            assert "routing for" in said, said
        deadline = time.monotonic() + LONGEST
        ping = ["nsenter", f"--net=/run/netns/{wires[0]}", "ping", "-c", "2", "-i", "0.3", "-W", "1", "10.0.0.3"]
        while subprocess.run(ping, capture_output=True, timeout=LONGEST, check=False).returncode != 0:
            assert time.monotonic() < deadline, "the third is not reached"
        command = ["nsenter", f"--net=/run/netns/{wires[1]}", "ip", "route", "show", "table", "142"]
        table = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=True).stdout
        assert "10.0.0.1 dev left0" in table
        assert "10.0.0.3 dev right1" in table
        for process in running:
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            values = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            assert values["CapEff"] == values["CapPrm"] == "0000000000001000", "CAP_NET_ADMIN alone"
            assert (values["Uid"].split()[0], values["NoNewPrivs"]) == ("65534", "1")
        command = ["nsenter", f"--net=/run/netns/{wires[1]}", "curl", "-s", "http://127.0.0.1:9466/metrics"]
        page = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=True).stdout
        assert "fourhop_aodv_neighbours 2" in page
        assert 'fourhop_aodv_events_total{event="rreq_relayed"}' in page
        for process in running:
            process.terminate()
            out, _ = process.communicate(timeout=LONGEST)
            assert (process.returncode, "warning" in out) == (0, False), out
        command = ["nsenter", f"--net=/run/netns/{wires[1]}", "ip", "rule"]
        assert "142" not in subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=True).stdout
    finally:
        for process in running:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
