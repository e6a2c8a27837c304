"""How many nodes a real-time scheduler carries: `fourhop emulate --tap` beside ns-3.37's TapBridge on the same chains.

    benches/ns3/taps.py [ours|ns3] [NODES ...]      # default: both, with 10 50 120 300

Needs root, iperf3, iproute2, the program of `make linux`, and for ns-3 `make -C benches/ns3 taps` and Debian's packages
libns3-dev and ns3. The latter has tap-creator, but the libraries look for it in the folder where they were built: find
that path by `strings libns3-tap-bridge.so.37 | grep tap-creator`, and link it to /usr/libexec/ns3/ns3.37-tap-creator.
Every node is a network namespace whose kernel routes along the chain. Of every ten nodes, the first sends TCP to
the fifth for 15 s, and the flows share the air with nobody. Both run under SCHED_FIFO 20.
"""

from __future__ import annotations

import ipaddress
import itertools
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fourhop

HERE = Path(__file__).resolve().parent
CHAIN = HERE.parent.parent / "scenarios" / "chain-standard.toml"
SECONDS = 15
HOPS = 4

Run = Callable[[int, list[str]], subprocess.CompletedProcess[str]]


def pairs(nodes: int) -> list[tuple[int, int]]:
    """Senders and receivers."""
    return [(first, first + HOPS) for first in range(0, nodes, 10)]


def address(node: int) -> str:
    """As in the emulator: node 0 is 10.0.0.1."""
    return str(ipaddress.IPv4Address("10.0.0.1") + node)


def carried(nodes: int, run: Run) -> float:
    """Mean goodput of the flows, in bit/s; a flow that never connected counts as zero."""
    for _, to in pairs(nodes):
        run(to, ["iperf3", "-s", "-1", "-D"])
    time.sleep(1)

    def flow(ends: tuple[int, int]) -> float:
        words = ["iperf3", "-J", "-c", address(ends[1]), "-t", str(SECONDS), "--connect-timeout", "10000"]
        done: dict[str, Any] = json.loads(run(ends[0], words).stdout or "{}")
        return float(done.get("end", {}).get("sum_received", {}).get("bits_per_second", 0))

    with ThreadPoolExecutor(len(pairs(nodes))) as threads:
        rates = list(threads.map(flow, pairs(nodes)))
    return sum(rates) / len(rates)


def ours(nodes: int) -> str:
    """The emulator's row of the table."""
    text = CHAIN.read_text(encoding="utf-8")
    # Chains have 256 hops at most.
    places = [[f"{200 * n}m", "0m"] for n in range(nodes)]
    text = text.replace('kind = "chain"\nhops = 4', f'kind = "positions"\npositions = {json.dumps(places)}')
    scenario = fourhop.Scenario(text, "chain.toml", overrides=["routing.protocol=static"])
    with fourhop.emulate(scenario, tap=True, flows=False) as net:

        def run(node: int, words: list[str]) -> subprocess.CompletedProcess[str]:
            return net[f"n{node}"].run(*words, timeout=SECONDS + 60, check=False)

        rate = carried(nodes, run)
    late, report = net.report["lateness_us"], net.report
    return row(f"{nodes}", report["machine"]["cpu"], (late["p50"], late["p99"], late["max"]), rate)


def ns3(nodes: int) -> str:
    """ns-3's row of the table: how late its events are."""
    batch("-n", "", (f"tuntap add mode tap name nt{n}" for n in range(nodes)))
    seconds = SECONDS + 2
    command = ["chrt", "-f", "20", str(HERE / "taps"), f"--nodes={nodes}", f"--seconds={seconds}"]
    try:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for n in range(nodes):
                subprocess.run(["ip", "netns", "add", f"nt{n}"], check=True)
            line = process.stdout.readline()
            assert line == "ready\n", process.communicate()
            # TapBridge ends the program when it cannot write to a device: all are up before anybody sends.
            for n in range(nodes):
                join(n)
            for n in range(nodes):
                batch("-n", f"nt{n}", routes(n, nodes))

            def run(node: int, words: list[str]) -> subprocess.CompletedProcess[str]:
                inside = ["ip", "netns", "exec", f"nt{node}", *words]
                try:
                    return subprocess.run(inside, capture_output=True, text=True, timeout=SECONDS + 30, check=False)
                except subprocess.TimeoutExpired:
                    # So late that the program has not even ended: it has carried nothing.
                    return subprocess.CompletedProcess(inside, 1, "", "")

            process.send_signal(signal.SIGUSR1)
            rate = carried(nodes, run)
            # It counts simulated seconds, which may be long ones.
            said, _, _ = select.select([process.stdout], [], [], 4 * seconds)
            out = process.stdout.readline() if said else ""
            process.kill()
    finally:
        for n in range(nodes):
            inside = subprocess.run(["ip", "netns", "pids", f"nt{n}"], capture_output=True, text=True, check=False)
            for pid in inside.stdout.split():
                os.kill(int(pid), signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", f"nt{n}"], check=False)
            subprocess.run(["ip", "link", "del", f"nt{n}"], check=False, stderr=subprocess.DEVNULL)
    if not out:
        return f"{nodes} | {seconds} simulated seconds took more than four times as long, or it failed |"
    cpu, p50, p99, most = map(float, out.split())
    return row(f"{nodes}", cpu, (p50, p99, most), rate)


def join(node: int) -> None:
    """Gives a node its device, which sends nothing by itself."""
    name = f"nt{node}"
    subprocess.run(["ip", "link", "set", name, "netns", name], check=True)
    variables = "echo 1 > ipv6/conf/all/disable_ipv6; echo 1 > ipv4/ip_forward; echo 0 > ipv4/conf/all/send_redirects"
    # ns-3 numbers its devices from 1, and its MAC still answers to that number when the bridge has learned another.
    own = f"00:00:00:00:{node + 1 >> 8:02x}:{node + 1 & 255:02x}"
    inside = f"cd /proc/sys/net && {variables} && ip link set {name} address {own} up"
    subprocess.run(["ip", "netns", "exec", name, "sh", "-c", inside], check=True)


def routes(node: int, nodes: int) -> list[str]:
    """Its address, and the route to every node that it sends to or for."""
    first = node - node % 10
    far = [to for to in range(first, min(first + HOPS + 1, nodes)) if abs(to - node) > 1]
    ways = [f"route add {address(to)} via {address(node + (1 if to > node else -1))}" for to in far]
    return [f"addr add {address(node)}/9 dev nt{node}", *ways]


def batch(option: str, namespace: str, lines: Iterator[str] | list[str]) -> None:
    """Several commands of ip(8) at once."""
    where = [option, namespace] if namespace else []
    subprocess.run(["ip", *where, "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=True)


def row(nodes: str, cpu: float, late: tuple[float, float, float], rate: float) -> str:
    """A row of the table."""
    return f"{nodes} | {cpu:.0%} | {' | '.join(f'{value:.0f} us' for value in late)} | {rate / 1e3:.0f} kbit/s |"


def main() -> None:
    """Runs both, or the one named."""
    known = {"ours": ours, "ns3": ns3}
    words = sys.argv[1:]
    who = [word for word in words if word in known] or list(known)
    sizes = [int(word) for word in words if word not in known] or [10, 50, 120, 300]
    print("| who | nodes | processor | late by p50 | p99 | most | mean goodput |")
    for name, nodes in itertools.product(who, sizes):
        load = Path("/proc/loadavg").read_text(encoding="ascii").split()[0]
        print(f"| {name} | {known[name](nodes)} load before: {load}", flush=True)


if __name__ == "__main__":
    main()
