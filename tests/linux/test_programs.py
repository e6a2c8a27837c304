"""Programs that know nothing of the emulation, over the simulated routing."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourhop.emulation import program
from tests.conftest import ROOT, environment
from tests.linux.conftest import CHAIN, LONGEST, Emulated, Starter, fourhop, missing, needs

VARIABLES = environment() | {"PYTHONPATH": str(ROOT / "python")}

FAST = ("--without-flows", "--set", "radio.rate=11Mbps")


@pytest.mark.parametrize(
    "options",
    [(), ("-R",), ("-P", "3"), ("-u", "-b", "200k", "-l", "1000")],
    ids=["tcp", "reverse", "parallel", "udp"],
)
def test_iperf3(emulate: Starter, options: tuple[str, ...]) -> None:
    needs("iperf3")
    net = emulate(*FAST, hops=2)
    measured = net.iperf("n0", "n2", "-t", "3", *options)["end"]
    received = (measured["sum"] if "-u" in options else measured["sum_received"])["bits_per_second"]
    assert 100e3 < received < 5.5e6, "more than nothing, less than half of what one hop can carry"
    report = net.end()
    assert any(flow["protocol"] == ("udp" if "-u" in options else "tcp") for flow in report["flows"])


def balanced(packets: dict[str, Any]) -> None:
    """Every packet is somewhere: delivered, lost or in flight."""
    lost = sum(count for reasons in packets["lost"].values() for count in reasons.values())
    arrived = packets["delivered"] - packets["copies"] + packets["undelivered"]
    assert packets["taken"] + packets["from_routers"] == arrived + lost + packets["in_flight"], packets


@pytest.mark.parametrize("tap", [False, True], ids=["routed", "link"])
def test_packets_in_flight_at_the_end_are_counted(emulate: Starter, tap: bool) -> None:
    needs("iperf3")
    options = ("--tap", "--set", "routing.protocol=static") if tap else ()
    net = emulate("--without-flows", *options, hops=4)
    net.serve("n4", "iperf3", "-s", "-1", port=5201)
    sender = net.start("n0", "iperf3", "-u", "-c", "n4", "-b", "2M", "-l", "1000", "-t", "20")
    time.sleep(4)
    assert sender.poll() is None
    report = net.end()
    assert report["packets"]["in_flight"] > 5, report["packets"]
    balanced(report["packets"])


def test_simulated_flows_and_flows_of_ipv6_are_reported(emulate: Starter) -> None:
    needs("ping")
    said = json.loads(emulate("--for", "3s").process.communicate(timeout=LONGEST)[0])
    assert (said["truth"]["holds"], said["truth"]["because"]) == (False, "no packet passed")
    (flow,) = said["flows"]
    assert flow["simulated"]
    assert 0 < flow["arrived"] <= flow["sent"]
    assert flow["rate_bps"] > 10_000
    net = emulate("--tap", "--without-flows", hops=1)
    for node in range(2):
        net.run(f"n{node}", "ip", "address", "add", f"fd00::{node + 1}/64", "dev", "mesh0", "nodad")
    assert net.run("n0", "ping", "-6", "-c", "5", "-i", "0.2", "fd00::2").returncode == 0
    report = net.end()
    flows = {(flow["src"], flow["dst"]): flow for flow in report["flows"] if flow["protocol"] == "icmp6"}
    assert flows["n0", "n1"]["arrived"] >= 5
    assert flows["n1", "n0"]["arrived"] >= 5
    balanced(report["packets"])


def test_names_are_not_asked_for_in_the_mesh(emulate: Starter) -> None:
    """The host's resolver is not in the network: a node that asks it would wait 20 s for an answer."""
    if not Path("/etc/resolv.conf").exists():
        pytest.skip("this host has no /etc/resolv.conf")
    net = emulate("--without-flows", hops=1)
    assert "nameserver 127.0.0.1" in net.run("n0", "cat", "/etc/resolv.conf").stdout
    assert net.run("n0", "getent", "hosts", "nobody.example").returncode != 0
    assert net.run("n0", "getent", "hosts", "n1").returncode == 0
    assert net.end()["packets"]["taken"] == 0


def test_few_open_files_are_no_obstacle() -> None:
    if (lacking := missing()) is not None:
        pytest.skip(lacking)
    words = [str(program()), "run", str(CHAIN), "--set", "topology.hops=49", "--without-flows", "--for", "1s", "--json"]
    limited = ["sh", "-c", 'ulimit -n 40; exec "$@"', "sh", *words]
    done = subprocess.run(limited, capture_output=True, text=True, timeout=LONGEST, check=False)
    # Root may raise its limit unless it lacks CAP_SYS_RESOURCE.
    if done.returncode != 0:
        assert "error: open files: found a limit of 40, allowed: at least" in done.stderr
        return
    assert json.loads(done.stdout)["nodes"] == 50


@pytest.mark.parametrize("tap", [False, True], ids=["routed", "link"])
def test_every_packet_is_delivered_or_lost_for_a_reason(emulate: Starter, tap: bool) -> None:
    needs("iperf3")
    options = ("--tap", "--set", "routing.protocol=static") if tap else ()
    net = emulate("--without-flows", *options, hops=3)
    net.iperf("n0", "n3", "-u", "-b", "2M", "-l", "1000", "-t", "3")
    time.sleep(3)
    report = net.end()
    packets = report["packets"]
    lost = sum(count for reasons in packets["lost"].values() for count in reasons.values())
    assert lost > 100
    assert packets["in_flight"] == 0, "three seconds later nothing is left"
    balanced(packets)
    assert tap == (packets["copies"] > 0), "what is for all is delivered to several"
    flow = next(flow for flow in report["flows"] if flow["protocol"] == "udp" and flow["simulated"] is None)
    assert flow["sent"] >= flow["arrived"] > 0


MULTICAST = """
import socket, struct, sys
group, own, role = "224.9.9.9", sys.argv[1], sys.argv[2]
s = socket.socket(type=socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
if role == "send":
    for n in range(5):
        s.sendto(b"to all", (group, 5007))
else:
    s.bind((group, 5007))
    s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + socket.inet_aton(own))
    print("ready", flush=True)
    s.settimeout(float(sys.argv[3]))
    print(s.recv(100).decode(), flush=True)
"""


@pytest.mark.parametrize("options", [(), ("--tap",)], ids=["routed", "link"])
def test_a_group_is_heard_over_one_hop(emulate: Starter, options: tuple[str, ...]) -> None:
    net = emulate("--without-flows", *options, hops=2)
    waiting = {"n1": "10", "n2": "4"}
    listeners = {
        node: net.start(node, sys.executable, "-c", MULTICAST, f"10.0.0.{int(node[1]) + 1}", "listen", seconds)
        for node, seconds in waiting.items()
    }
    for listener in listeners.values():
        assert listener.stdout is not None
        assert listener.stdout.readline() == "ready\n"
    assert net.run("n0", sys.executable, "-c", MULTICAST, "10.0.0.1", "send").returncode == 0
    assert listeners["n1"].communicate(timeout=LONGEST)[0] == "to all\n"
    assert "TimeoutError" in listeners["n2"].communicate(timeout=LONGEST)[0], "two hops away"
    if options:
        net.run("n0", "ping", "-b", "-c", "5", "-i", "0.2", "-W", "1", "10.127.255.255")
    flows = {flow["dst"]: flow for flow in net.end()["flows"]}
    for group in ("224.9.9.9", "10.127.255.255") if options else ("224.9.9.9",):
        # The medium may be busy at n1, but hardly five times.
        assert 0 < flows[group]["arrived"] <= flows[group]["sent"] == 5, flows[group]


def test_the_recipe_in_the_readme(emulate: Starter) -> None:
    needs("iperf3")
    assert emulate.running == []
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    start, *rest = next(block for block in blocks if block.startswith("fourhop emulate")).splitlines()
    words = shlex.split(start.removesuffix("&").removeprefix("fourhop emulate"))
    with subprocess.Popen([sys.executable, "-m", "fourhop.cli", "emulate", *words], cwd=ROOT, env=VARIABLES) as running:
        try:
            deadline = time.monotonic() + LONGEST
            while not (own := re.findall(r"^(\w+)  .*  6 nodes", fourhop("emulate", "--list").stdout, re.M)):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            # A reader runs no other emulation; this machine may.
            meant = {"FOURHOP_EMULATION": own[-1]}
            said = [fourhop(*shlex.split(line.removeprefix("fourhop ")), **meant) for line in rest]
        finally:
            running.terminate()
    assert [done.returncode for done in said] == [0, 0], said
    assert "receiver" in said[1].stdout


def test_a_file_comes_whole_over_three_hops(emulate: Starter, tmp_path: Path) -> None:
    needs("curl", "python3")
    net = emulate(*FAST, hops=3)
    content = bytes(n * n % 251 for n in range(600_000))
    (tmp_path / "file").write_bytes(content)
    net.serve("n3", "python3", "-m", "http.server", "--directory", str(tmp_path), "8000", port=8000)
    got = tmp_path / "got"
    done = net.run("n0", "curl", "--silent", "--show-error", "--fail", "-o", str(got), "http://n3:8000/file")
    assert done.returncode == 0, done.stderr
    assert got.read_bytes() == content


def test_fragments(emulate: Starter) -> None:
    needs("ping")
    net = emulate(*FAST, hops=3)
    assert " 0% packet loss" in net.run("n0", "ping", "-c", "4", "-i", "0.3", "-s", "4000", "n3").stdout


def test_a_host_behind_a_gateway_is_a_node_too(emulate: Starter) -> None:
    needs("ping", "iperf3")
    net = emulate("--without-flows", file=ROOT / "scenarios" / "gateway-chain.toml")
    hosts = net.run("n0", "cat", "/etc/hosts").stdout
    far = next(line.split()[1] for line in reversed(hosts.splitlines()) if line.startswith("10.128."))
    assert " 0% packet loss" in net.run("n0", "ping", "-c", "3", "-i", "0.5", far).stdout
    assert net.run(far, "ping", "-c", "1", "gateway-1").returncode == 0
    measured = net.iperf(far, "n0", "-t", "4")["end"]["sum_received"]["bits_per_second"]
    assert measured > 20e3


def test_the_pacing_gateway_paces_the_kernels_tcp(emulate: Starter) -> None:
    needs("iperf3")
    gateway = ROOT / "scenarios" / "gateway-chain.toml"
    waited = []
    for pacing in ("false", "true"):
        keys = ("--set", "gateway.kind=gap", "--set", f"gateway.pacing={pacing}")
        net = emulate("--without-flows", *keys, file=gateway)
        hosts = net.run("n0", "cat", "/etc/hosts").stdout
        far = next(line.split()[1] for line in reversed(hosts.splitlines()) if line.startswith("10.128."))
        carried = net.iperf(far, "n0", "-t", "5")["end"]["sum_received"]["bytes"]
        waited.append(net.end()["counters"].get("gateway", {}).get("waited", 0))
    unpaced, paced = waited
    assert unpaced == 0
    # All data into the mesh, except packets before the first round trip is known; segments have at most 1,460 bytes.
    assert paced > 0.5 * carried / 1460


def test_c3tcp_below_the_kernels_tcp_keeps_round_trips_short(emulate: Starter) -> None:
    needs("iperf3")
    round_trips = []
    for enabled in ("false", "true"):
        net = emulate("--without-flows", "--set", f"c3tcp.enabled={enabled}", hops=3)
        net.iperf("n0", "n3", "-t", "8")
        flows = [flow for flow in net.end()["flows"] if flow["src"] == "n0" and flow["arrived_bytes"] > 50_000]
        round_trips.append(flows[0]["rtt_mean_s"])
    without, measured = round_trips
    assert measured < 0.6 * without, "the window is what the path holds, and the queue stays short"


def test_c3tcp_may_acknowledge_to_the_kernel_itself(emulate: Starter, tmp_path: Path) -> None:
    """The kernel drops what is acknowledged here; the emulator has the bytes, and the whole file arrives."""
    needs("curl", "python3")
    keys = ("--set", "c3tcp.enabled=true", "--set", "c3tcp.local_acks=true")
    net = emulate(*FAST, *keys, hops=3)
    content = os.urandom(600_000)
    (tmp_path / "file").write_bytes(content)
    net.serve("n3", "python3", "-m", "http.server", "--directory", str(tmp_path), "8000", port=8000)
    got = tmp_path / "got"
    done = net.run("n0", "curl", "--silent", "--show-error", "--fail", "-o", str(got), "http://n3:8000/file")
    assert done.returncode == 0, done.stderr
    assert got.read_bytes() == content
    data = next(flow for flow in net.end()["flows"] if flow["src"] == "n3" and flow["arrived_bytes"] > 600_000)
    # Most data is acknowledged at once, below the kernel that sent it; until there is a measurement, by the peer.
    assert data["rtt_mean_s"] < 0.01
    assert data["sent"] > 400


def test_c3tcp_leaves_what_crosses_a_wire_alone(emulate: Starter) -> None:
    needs("iperf3")
    net = emulate("--without-flows", "--set", "c3tcp.enabled=true", file=ROOT / "scenarios" / "gateway-chain.toml")
    hosts = net.run("n0", "cat", "/etc/hosts").stdout
    far = next(line.split()[1] for line in reversed(hosts.splitlines()) if line.startswith("10.128."))
    for server, client in (("n0", far), (far, "n0"), ("n0", "n2")):
        assert net.iperf(client, server, "-t", "3")["end"]["sum_received"]["bits_per_second"] > 20e3
    assert net.end()["packets"]["undelivered"] == 0


def test_adhoc_receivers_offer_the_kernels_tcp_what_the_path_holds(emulate: Starter) -> None:
    needs("iperf3")
    carried, round_trips = [], []
    for options in ((), ("--adhoc-receivers",)):
        net = emulate("--without-flows", *options, hops=4)
        carried.append(net.iperf("n0", "n4", "-t", "8")["end"]["sum_received"]["bits_per_second"])
        report = net.end()
        flows = [flow for flow in report["flows"] if flow["src"] == "n0" and flow["arrived_bytes"] > 50_000]
        round_trips.append(flows[0]["rtt_mean_s"])
    receivers = report["counters"]["adhoc_receivers"]
    assert receivers["windows_lowered"] > 50
    assert receivers["hop_changes"] == 0
    # At most two segments are in flight over four hops, instead of full interface queues.
    assert round_trips[1] < 0.5 * round_trips[0], round_trips
    assert carried[1] > 0.8 * carried[0], carried


def test_the_kernels_tcp_lives_through_a_closed_window(emulate: Starter) -> None:
    """With no deviation allowed, many segments take too long, and the freezer closes the window again and again."""
    needs("iperf3")
    net = emulate("--without-flows", "--adhoc-receivers", "--set", "adhoc_tcp.beta=0", hops=4)
    carried = net.iperf("n0", "n4", "-t", "8")["end"]["sum_received"]["bits_per_second"]
    assert net.end()["counters"]["adhoc_receivers"]["freezes"] > 10
    assert carried > 20e3, "the next segment, or a probe, opens it"


@pytest.mark.parametrize(("threshold", "arrives"), [("-66dBm", True), ("-40dBm", False)])
def test_signal_strength_aware_routing_carries_packets_over_strong_neighbours_alone(
    emulate: Starter, threshold: str, arrives: bool
) -> None:
    needs("ping")
    keys = ("--set", "routing.protocol=ssa-aodv", "--set", f"routing.signal_threshold={threshold}")
    net = emulate("--without-flows", *keys, hops=3)
    said = net.run("n0", "ping", "-c", "4", "-i", "0.5", "n3").stdout
    assert ("ttl=62" in said) is arrives, said
    assert (net.end()["counters"]["route"]["weak_ignored"] > 0) is not arrives


def test_ten_megabytes_by_ssh_and_by_http(emulate: Starter, tmp_path: Path) -> None:
    needs("curl", "python3", "ssh", "sshd", "ssh-keygen")
    fast = ("--set", "radio.rate=54Mbps", "--set", "radio.basic_rate=6Mbps", "--set", "radio.phy=ofdm")
    net = emulate("--without-flows", *fast, hops=1)
    content = os.urandom(10_000_000)
    (tmp_path / "file").write_bytes(content)
    net.serve("n1", "python3", "-m", "http.server", "--directory", str(tmp_path), "8000", port=8000)
    assert net.run("n0", "curl", "-sSf", "-o", str(tmp_path / "got"), "http://n1:8000/file").returncode == 0
    assert (tmp_path / "got").read_bytes() == content
    key, host = tmp_path / "key", tmp_path / "host"
    for name in (key, host):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(name)], check=True)
    (tmp_path / "allowed").write_text((tmp_path / "key.pub").read_text(encoding="utf-8"), encoding="utf-8")
    tmp_path.chmod(0o700)
    separation = Path("/run/sshd")
    made = not separation.exists()
    separation.mkdir(exist_ok=True)
    try:
        options = (f"HostKey={host}", f"AuthorizedKeysFile={tmp_path / 'allowed'}", "StrictModes=no", "UsePAM=no")
        words = [word for option in options for word in ("-o", option)]
        net.serve("n1", shutil.which("sshd") or "sshd", "-D", "-f", "/dev/null", "-p", "2222", *words, port=2222)
        trusting = ("StrictHostKeyChecking=no", f"UserKnownHostsFile={tmp_path / 'known'}", "BatchMode=yes")
        words = [word for option in trusting for word in ("-o", option)]
        login = ("ssh", "-F", "/dev/null", "-i", str(key), "-p", "2222", *words, "n1")
        command = net.command("n0", *login, "cat", str(tmp_path / "file"))
        done = subprocess.run(command, capture_output=True, timeout=LONGEST, check=False)
        assert done.stdout == content
    finally:
        if made:
            separation.rmdir()


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_every_scenario_can_be_emulated_with_its_flows(emulate: Starter, file: Path) -> None:
    net = emulate("--for", "2s", file=file)
    out, err = net.process.communicate(timeout=LONGEST)
    assert net.process.returncode == 0, err
    report = json.loads(out)
    assert (report["ended_by"], report["ran_s"]) == ("its time", 2.0)
    assert report["packets"]["undelivered"] == 0
    assert report["frames"] > 0


def test_simulated_flows_share_the_air(emulate: Starter) -> None:
    needs("iperf3")
    alone, beside = (
        emulate(*options, hops=1).iperf("n0", "n1", "-t", "4")["end"]["sum_received"]["bits_per_second"]
        for options in (("--without-flows",), ())
    )
    assert beside < 0.8 * alone


def test_links_of_two_channels_carry_what_one_channel_cannot(emulate: Starter) -> None:
    """Four hops carry 244 kbit/s of UDP with one radio per node, and 600 with two (docs/radios.md)."""
    needs("iperf3", "ping")
    net = emulate("--without-flows", file=ROOT / "scenarios" / "two-channels.toml")
    measured = net.iperf("n0", "n4", "-u", "-b", "500k", "-l", "1000", "-t", "4")["end"]["sum"]
    assert measured["lost_percent"] < 2, measured
    assert "ttl=61" in net.run("n0", "ping", "-c", "1", "-W", "3", "n4").stdout, "three nodes route"
    packets = net.end()["packets"]
    balanced(packets)
    done = fourhop("emulate", ROOT / "scenarios" / "two-channels.toml", "--tap", "--without-flows")
    assert done.returncode == 2
    assert "[[radios]]: found several radios at a node, allowed with --tap: one" in done.stderr


def test_a_route_breaks_when_a_node_walks_away(emulate: Starter, tmp_path: Path) -> None:
    needs("ping")
    file = tmp_path / "walk.toml"
    (tmp_path / "walk.tcl").write_text(
        "".join(
            f"$node_({n}) set X_ {x}.0\n$node_({n}) set Y_ {y}.0\n$node_({n}) set Z_ 0.0\n"
            for n, (x, y) in enumerate([(1, 1), (200, 1), (200, 60), (400, 1)])
        )
        + '$ns_ at 4.0 "$node_(1) setdest 200.0 3000.0 900.0"\n',
        encoding="utf-8",
    )
    file.write_text(
        'profile = "standard"\nduration = "20s"\n'
        '[mobility]\nmodel = "ns2"\nfile = "walk.tcl"\n'
        '[[flows]]\nfrom = 0\nto = 3\ntransport = "newreno"\n',
        encoding="utf-8",
    )
    net = emulate("--without-flows", file=file)
    said = net.run("n0", "ping", "-c", "40", "-i", "0.25", "-W", "2", "n3").stdout
    numbers = [int(line.partition("icmp_seq=")[2].split()[0]) for line in said.splitlines() if "bytes from" in line]
    assert min(numbers) < 10
    assert max(numbers) > 36, said


TRANSFER = """
import hashlib, os, socket, sys
if sys.argv[1] == "send":
    content = os.urandom(int(sys.argv[3]))
    with socket.create_connection((sys.argv[2], 5007)) as s:
        s.sendall(content)
else:
    with socket.create_server(("", 5007)) as server:
        content = b""
        with server.accept()[0] as s:
            while got := s.recv(1 << 20):
                content += got
print(hashlib.sha256(content).hexdigest())
"""


def handed_over(net: Emulated, node: str) -> int:
    """Number of writes to the device of a node: its kernel counts joined packets as one."""
    (device,) = json.loads(net.run(node, "ip", "-json", "-statistics", "link", "show", "mesh0").stdout)
    count: int = device["stats64"]["rx"]["packets"]
    return count


@pytest.mark.parametrize("options", [(), ("--tap",), ("--no-gro",)], ids=["routed", "link", "one by one"])
def test_segments_of_aggregates_are_joined_for_the_kernel_alone(
    emulate: Starter, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """Bytes arrive as sent, also over a relay, and everything but the kernel counts packets."""
    length = 8_000_000
    file = ROOT / "scenarios" / "80211n.toml"
    hops = ("--set", "topology.spacing=40m")
    net = emulate("--without-flows", *hops, "--pcap", str(tmp_path), *options, file=file, hops=2)
    python = (sys.executable, "-c", TRANSFER)
    sink = net.serve("n2", *python, "receive", port=5007)
    sent = net.run("n0", *python, "send", "n2", str(length))
    arrived, _ = sink.communicate(timeout=LONGEST)
    assert sent.stdout == arrived != ""
    writes = handed_over(net, "n2")
    report = net.end()
    balanced(report["packets"])
    data = next(flow for flow in report["flows"] if flow["dst_port"] == 5007)
    assert (data["src"], data["dst"]) == ("n0", "n2")
    assert length / 1460 <= data["arrived"] <= data["sent"]
    assert data["arrived_bytes"] <= 1500 * data["arrived"], "no packet is longer than the MTU"
    others = sum(flow["arrived"] for flow in report["flows"]) - data["arrived"]
    if "--no-gro" in options:
        assert writes >= data["arrived"]
    else:
        assert writes < data["arrived"] * 3 / 4 + others
    lengths = [length for file in tmp_path.iterdir() for length in captured(file)]
    assert max(lengths) < 1700, "the air carries segments"
    assert sum(length > 1400 for length in lengths) >= data["arrived"]


def captured(file: Path) -> Iterator[int]:
    """The lengths of the frames in a capture."""
    content = file.read_bytes()
    order = "<" if content[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = 24
    while at + 16 <= len(content):
        kept, length = struct.unpack_from(f"{order}II", content, at + 8)
        yield length
        at += 16 + kept
