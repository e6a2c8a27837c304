"""The mode in which the nodes' kernels route, over Ethernet."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.linux.conftest import LONGEST, Starter, needs

TAP = ("--tap", "--without-flows")


def test_the_kernels_forward_along_static_routes(emulate: Starter) -> None:
    needs("ping", "ip")
    net = emulate(*TAP, "--set", "routing.protocol=static", hops=3)
    assert "10.0.0.4 via 10.0.0.2" in net.run("n0", "ip", "route").stdout
    ping = net.run("n0", "ping", "-c", "4", "-i", "0.2", "n3").stdout
    assert " 0% packet loss" in ping
    assert "ttl=62" in ping
    assert "lladdr 02:00:00:00:00:01" in net.run("n0", "ip", "neigh").stdout, "found by the kernel's ARP"
    assert " 0% packet loss" in net.run("n0", "ping", "-c", "2", "-i", "0.5", "-s", "4000", "n3").stdout
    said = net.run("n0", "ping", "-c", "1", "-t", "2", "n3").stdout
    assert "From n2 " in said
    assert "Time to live exceeded" in said


@pytest.mark.parametrize("routing", ["static", "aodv"])
def test_the_kernels_route_over_wires_too(emulate: Starter, routing: str) -> None:
    """The chain's last node is a gateway: 10 Mbit/s and 40 ms from there to each of two routers, then to a host."""
    needs("ping", "ip", "iperf3")
    hops = 3 if routing == "static" else 1
    keys = ("--set", f"routing.protocol={routing}", "--set", f"topology.hops={hops}")
    net = emulate(*TAP, *keys, file=ROOT / "scenarios" / "gateway-chain.toml")
    assert "dev wire0" in net.run("gateway-1", "ip", "route", "get", "10.128.0.3").stdout
    assert "10.128.0.2 dev wire1" in net.run("R1", "ip", "route").stdout
    ping = net.run("n0", "ping", "-c", "4", "-i", "0.3", "B").stdout
    assert " 0% packet loss" in ping
    assert f"ttl={64 - hops - 2}" in ping, "relays, the gateway and both routers"
    times = [float(line.rpartition("time=")[2].split()[0]) for line in ping.splitlines() if "time=" in line]
    assert min(times) > 240, "40 ms on each of three wires, there and back"
    said = net.run("n0", "ping", "-c", "1", "-t", str(hops + 1), "B").stdout
    assert "From R1 " in said
    measured = net.iperf("B", "n0", "-t", "4")["end"]["sum_received"]["bits_per_second"]
    assert measured > 100e3
    fast = net.iperf("R1", "B", "-u", "-b", "20M", "-l", "1000", "-t", "2")["end"]["sum"]
    assert 0.3 < fast["lost_percent"] / 100 < 0.7, "twice what a wire carries"
    report = net.end()
    lost = {reason: count for layer in report["packets"]["lost"].values() for reason, count in layer.items()}
    assert lost["wired-queue-full"] > 1000
    assert any(flow["src"] == "R1" and flow["dst"] == "B" for flow in report["flows"])


def test_ipv6_and_its_groups_reach_one_hop(emulate: Starter) -> None:
    needs("ping")
    net = emulate(*TAP, hops=2)
    if not Path("/proc/sys/net/ipv6").exists():
        net.end()
        return
    deadline = time.monotonic() + LONGEST
    while "tentative" in net.run("n0", "ip", "-6", "addr", "show", "mesh0").stdout:
        assert time.monotonic() < deadline, "no address of the link is found to be free"
        time.sleep(0.1)
    assert net.run("n0", "ping", "-c", "2", "-i", "0.2", "fe80::ff:fe00:1%mesh0").returncode == 0
    assert net.run("n0", "ping", "-c", "1", "-W", "1", "fe80::ff:fe00:2%mesh0").returncode != 0, "two hops"
    # Both ends answer at once; after a collision, only the next request asks again.
    group = net.run("n1", "ping", "-c", "12", "-i", "0.4", "ff02::1%mesh0").stdout
    assert all(f"fe80::ff:fe00:{n}" in group for n in range(3)), group


def test_a_routing_daemon_finds_four_hops_and_repairs_them(emulate: Starter, tmp_path: Path) -> None:
    needs("babeld", "ping")
    # There are two ways round; the relay of one walks away after a while.
    file = tmp_path / "ring.toml"
    places = [(1, 300), (201, 300), (401, 300), (601, 300), (801, 300), (401, 420)]
    (tmp_path / "walk.tcl").write_text(
        "".join(
            f"$node_({n}) set X_ {x}.0\n$node_({n}) set Y_ {y}.0\n$node_({n}) set Z_ 0.0\n"
            for n, (x, y) in enumerate(places)
        )
        + '$ns_ at 30.0 "$node_(2) setdest 401.0 5000.0 900.0"\n',
        encoding="utf-8",
    )
    file.write_text(
        'profile = "standard"\nduration = "90s"\n'
        '[mobility]\nmodel = "ns2"\nfile = "walk.tcl"\n'
        '[[flows]]\nfrom = 0\nto = 4\ntransport = "newreno"\n',
        encoding="utf-8",
    )
    net = emulate(*TAP, file=file)
    started = time.monotonic()
    for n in range(len(places)):
        rule = f"redistribute local if mesh0 ip {f'10.0.0.{n + 1}/32'} allow"
        files = ["-I", str(tmp_path / f"{n}.pid"), "-S", str(tmp_path / f"{n}.state")]
        timers = "default type wireless hello-interval 1 update-interval 2"
        words = [option for each in (timers, rule, "redistribute local deny") for option in ("-C", each)]
        net.run(f"n{n}", "ip", "addr", "replace", f"10.0.0.{n + 1}/32", "dev", "mesh0")
        net.run(f"n{n}", "ip", "addr", "del", f"10.0.0.{n + 1}/9", "dev", "mesh0")
        net.start(f"n{n}", "babeld", *files, *words, "mesh0")

    def reaches() -> bool:
        """Whether the far node answers over three relays, either way round."""
        return "ttl=61" in net.run("n0", "ping", "-c", "1", "-W", "1", "n4").stdout

    def wait(until: float) -> None:
        while not reaches():
            assert time.monotonic() - started < until, net.run("n0", "ip", "route").stdout
            time.sleep(0.2)

    wait(29)
    time.sleep(max(0.0, 31 - (time.monotonic() - started)))
    wait(85)
    via = net.run("n1", "ip", "route", "get", "10.0.0.5").stdout
    assert "via 10.0.0.6" in via, "round the gap"
