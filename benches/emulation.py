"""Emulated versus simulated: real programs and the kernel's TCP over the same mesh as the simulator's own flows.

    benches/emulation.py [tcp|channels|unbounded|today|udp|ping|size|fast|aggregates|windows|lateness ...]

Default: all. Needs root, iperf3, ping, ss and the program of `make linux`. Prints a table for each question;
docs/emulation.md shows them. The receiver's window limits TCP: TCP_WINDOW_CLAMP, set again after every read, since the
kernel changes it when data arrive, even if locked. Acknowledgements are not delayed (`quickack`), as in the simulated
flows, and the minimum RTO is the kernel's 200 ms.
"""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import fourhop
from fourhop.emulation import Emulation, Node

ROOT = Path(__file__).resolve().parent.parent
CHAIN = ROOT / "scenarios" / "chain-standard.toml"
SECONDS = 40
SEEDS = 20
REAL_SEEDS = 5
WARMUP = SECONDS // 10
"""Goodput counts from here on, in seconds."""
OVERSHOOT = SECONDS // 4
"""The same for an unbounded window: losses of slow start at a full queue hold back delivery for seconds."""

SINK = """
import socket, sys, time
window, seconds, warmup = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
s = socket.socket()
if window:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window)
s.bind(("", 5201)); s.listen(); print("ready", flush=True)
c, _ = s.accept()
if window: c.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window)
begun, total, marks = time.monotonic(), 0, []
while data := c.recv(65536):
    # The kernel sets the clamp anew when it learns how much memory a segment takes (tcp_measure_rcv_mss).
    if window: c.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window)
    total += len(data); marks.append((time.monotonic() - begun, total))
inside = [m for m in marks if warmup <= m[0] <= seconds]
print((inside[-1][1] - inside[0][1]) * 8 / (inside[-1][0] - inside[0][0]))
"""
SOURCE = """
import socket, struct, sys, time
host, seconds, control = sys.argv[1], float(sys.argv[2]), sys.argv[3]
s = socket.socket(); s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
s.connect((host, 5201)); end = time.monotonic() + seconds
s.settimeout(1)
while time.monotonic() < end:
    try: s.send(bytes(16384))
    except TimeoutError: pass
# tcpi_snd_wnd of struct tcp_info: the window that the receiver offers.
print(struct.unpack_from("I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 228)[0])
"""
DATAGRAM_SINK = """
import socket, sys, time
seconds = float(sys.argv[1])
s = socket.socket(type=socket.SOCK_DGRAM); s.bind(("", 5201)); s.settimeout(seconds + 30); print("ready", flush=True)
s.recv(2048); begun, total = time.monotonic(), 0
while (now := time.monotonic() - begun) < seconds:
    try: total += len(s.recv(2048)) if now >= seconds * 0.1 else len(s.recv(2048)) * 0
    except TimeoutError: break
    s.settimeout(max(0.001, seconds - (time.monotonic() - begun)))
print(total * 8 / (seconds * 0.9))
"""
DATAGRAM_SOURCE = """
import socket, sys, time
host, seconds, rate, size = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), 1000
s = socket.socket(type=socket.SOCK_DGRAM); begun = time.monotonic()
for n in range(int((seconds + 3) * rate / (8 * size))):
    time.sleep(max(0, begun + n * 8 * size / rate - time.monotonic()))
    try: s.sendto(bytes(size), (host, 5201))
    except OSError: pass
"""


@contextmanager
def chain(hops: int, seed: int = 1, routing: str = "aodv", more: Sequence[str] = ()) -> Iterator[Emulation]:
    """An emulated chain without scenario flows; reports if it did not keep real time."""
    overrides = [f"topology.hops={hops}", f"routing.protocol={routing}", *more]
    scenario = fourhop.Scenario.from_toml(CHAIN, overrides=overrides)
    with fourhop.emulate(scenario, flows=False, seed=seed) as net:
        yield net
    late, truth = net.report["lateness_us"], net.report["truth"]
    note = "" if truth["holds"] else f"   NOT TRUE: {truth['because']}"
    lateness = ", ".join(f"{name} {late[name]:.0f}" for name in ("p50", "p99", "max"))
    print(f"    {hops} hops: late {lateness} us, cpu {net.report['machine']['cpu']:.0%}{note}")


def simulated(hops: int, flow: str, *settings: str) -> list[dict[str, Any]]:
    """The simulated flow over the same chain, seed by seed."""
    text, _, _ = CHAIN.read_text(encoding="utf-8").partition("[[flows]]")
    text += f'[[flows]]\nfrom = "first"\nto = "last"\n{flow}\n'
    overrides = [f"topology.hops={hops}", f"duration={SECONDS}s", f"warmup={WARMUP}s", *settings]
    runs = fourhop.run(fourhop.Scenario(text, "chain.toml", overrides=overrides), SEEDS, jobs=1)
    return runs.flows.to_dicts()


def kernel_tcp(hops: int, window: int, control: str, routing: str, warmup: int, more: Sequence[str] = ()) -> float:
    """Goodput of the kernel's TCP over a chain in bit/s, after `warmup`: the mean over seeds, which run at once."""
    with ThreadPoolExecutor(REAL_SEEDS) as threads:
        once = partial(kernel_flow, hops, window, control, routing, warmup, more=more)
        return statistics.mean(goodput for goodput, _ in threads.map(once, range(1, REAL_SEEDS + 1)))


def kernel_flow(
    hops: int, window: int, control: str, routing: str, warmup: int, seed: int, more: Sequence[str] = ()
) -> tuple[float, float]:
    """The same for one seed, and the mean round trip of the whole connection in seconds, as seen by the emulator."""
    with chain(hops, seed, routing, more) as net:
        goodput = clamped(net["n0"], net[f"n{hops}"], window, SECONDS, warmup, control)
    flow = max(net.report["flows"], key=lambda flow: float(flow["arrived_bytes"]))
    return goodput, flow["rtt_mean_s"]


def clamped(source: Node, sink: Node, window: int, seconds: int, warmup: int, control: str) -> float:
    """Goodput of the kernel's TCP between two nodes after `warmup`, in bit/s; a window of 0 is unbounded."""
    for node in (source, sink):
        node.run("ip", "route", "change", "10.0.0.0/8", "dev", "mesh0", "quickack", "1")
    server = sink.start(sys.executable, "-c", SINK, str(window), str(seconds), str(warmup), output=subprocess.PIPE)
    assert server.stdout is not None
    assert server.stdout.readline() == "ready\n", server.stdout.read()
    words = (sys.executable, "-c", SOURCE, sink.name, str(seconds), control)
    offered = int(source.run(*words, timeout=seconds + 30).stdout)
    said, _ = server.communicate(timeout=60)
    assert not window or offered == window, f"offered are {offered} bytes: the clamp does not bind"
    return float(said)


def compare(what: str, real: float, runs: list[dict[str, Any]], column: str = "goodput_bps") -> None:
    """Prints a table row: real, mean of the runs, their range, difference; in kbit/s, or ms for round trips."""
    expected = [run[column] if column == "goodput_bps" else run[column] * 1e6 for run in runs]
    mean = statistics.mean(expected)
    shown, low, high = (f"{value / 1e3:.1f}" for value in (mean, min(expected), max(expected)))
    print(f"| {what} | {real / 1e3:.1f} | {shown} | {low} to {high} | {real / mean - 1:+.1%} |")


def tcp() -> None:
    """A window that no queue overflows with, over routes that never break and over those of AODV."""
    segments = 8
    for routing, hops in itertools.product(("static", "aodv"), (1, 2, 4, 7)):
        settings = [f"tcp.window={segments}", "tcp.ack_policy=every-segment", "tcp.rto_min=200ms"]
        settings += [f"routing.protocol={routing}"]
        expected = simulated(hops, 'transport = "sack"', *settings)
        real = kernel_tcp(hops, segments * 1448, "reno", routing, WARMUP)
        compare(f"Reno, window {segments} segments, {routing} routes, {hops} hops", real, expected)


def channels() -> None:
    """A window of 8 segments over four hops of one channel, and of two that the links take in turn."""
    for numbers in ((36,), (36, 44)):
        plan = ", ".join(f"{{channel={number}}}" for number in numbers)
        settings = ["tcp.window=8", "tcp.ack_policy=every-segment", "tcp.rto_min=200ms", "routing.protocol=static"]
        radios = [f"radios=[{plan}]"]
        expected = simulated(4, 'transport = "sack"', *settings, *radios)
        real = kernel_tcp(4, 8 * 1448, "reno", "static", WARMUP, radios)
        compare(f"Reno, window 8 segments, static routes, 4 hops, {len(numbers)} channels", real, expected)


def unbounded() -> None:
    """As the kernel is: what differs is its TCP, not the mesh."""
    for control, transport in (("cubic", "cubic"), ("reno", "sack")):
        for hops in (1, 2, 4, 7):
            settings = ["tcp.window=none", "tcp.ack_policy=every-segment", "tcp.rto_min=200ms", f"warmup={OVERSHOOT}s"]
            expected = simulated(hops, f'transport = "{transport}"', *settings)
            real = kernel_tcp(hops, 0, control, "aodv", OVERSHOOT)
            compare(f"{control}, unbounded, {hops} hops", real, expected)


LINUX = ["tcp.rto_granularity=200ms"]
"""The kernel's RTO is the round trip plus at least 200 ms (`tcp_rto_min`), rather than at least 200 ms."""

TODAY = ["tcp.sack_recovery=rack-tlp", "tcp.hystart=true"]
"""Features of the kernel's CUBIC beyond RFC 9438. It is not paced, as the devices of nodes have no `fq`."""


def today() -> None:
    """BBR and CUBIC as kernels have them, beside ours: goodput and round trip; what kernels add to CUBIC, by steps."""
    settings = ["tcp.window=none", "tcp.ack_policy=every-segment", "tcp.rto_min=200ms", f"warmup={OVERSHOOT}s"]
    settings += LINUX
    for control, routing, hops in (
        *itertools.product(("bbr", "cubic"), ("static",), (1, 4)), ("cubic", "aodv", 7), ("bbr", "aodv", 7),
    ):  # fmt: skip
        with ThreadPoolExecutor(REAL_SEEDS) as threads:
            once = partial(kernel_flow, hops, 0, control, routing, OVERSHOOT)
            real = list(threads.map(once, range(1, REAL_SEEDS + 1)))
        goodput, rtt = (statistics.mean(values) for values in zip(*real, strict=True))
        print(f"    kernel: {', '.join(f'{bits / 1e3:.0f} kbit/s {seconds * 1e3:.0f} ms' for bits, seconds in real)}")
        variants = {control: TODAY if control == "cubic" else []}
        if hops == 7 and control == "cubic":
            added = {"RFC 9438 and 6675 alone": [], "with RACK-TLP": TODAY[:1], "with HyStart++": TODAY[1:]}
            variants |= added | {"with all, paced": [*TODAY, "tcp.stack_pacing=true"]}
        for name, more in variants.items():
            runs = simulated(hops, f'transport = "{control}"', *settings, f"routing.protocol={routing}", *more)
            compare(f"{name}, {routing}, {hops} hops", goodput, runs)
            compare(f"{name}, {routing}, {hops} hops, round trip in ms", rtt * 1e6, runs, "rtt_mean_s")


def udp() -> None:
    """Below and above what a chain carries."""
    for hops, rates in ((1, (800, 2500)), (4, (200, 600))):
        for rate in rates:
            flow = f'transport = "udp"\napp = "cbr"\nrate = "{rate}kbps"\npayload = "1000B"'
            expected = simulated(hops, flow)
            with chain(hops) as net:
                sink = net[f"n{hops}"].start(sys.executable, "-c", DATAGRAM_SINK, str(SECONDS), output=subprocess.PIPE)
                assert sink.stdout is not None
                assert sink.stdout.readline() == "ready\n", sink.stdout.read()
                words = (sys.executable, "-c", DATAGRAM_SOURCE, f"n{hops}", str(SECONDS), str(rate * 1000))
                net["n0"].run(*words, timeout=SECONDS + 60)
                measured = float(sink.communicate(timeout=60)[0])
            compare(f"UDP {rate} kbit/s, {hops} hops", measured, expected)


def ping() -> None:
    """Round trips of an otherwise idle chain: medians."""
    for hops in (1, 4, 7):
        expected = simulated(hops, 'transport = "ping"\napp = "ping"\ninterval = "200ms"\npayload = "56B"')
        with chain(hops) as net:
            lines = net["n0"].run("ping", "-c", "100", "-i", "0.2", f"n{hops}").stdout.splitlines()
        times = [float(line.rpartition("time=")[2].split()[0]) for line in lines if "time=" in line]
        compare(f"ping, {hops} hops", statistics.median(times) * 1e3, expected, "rtt_median_s")


def serve(node: Node) -> None:
    """Starts a server for one measurement, and waits until it listens."""
    node.start("iperf3", "-s", "-1")
    while ":5201 " not in node.run("ss", "-Hltn").stdout:
        time.sleep(0.05)


def size() -> None:
    """How many nodes a machine carries: ten simulated flows across, and one kernel's TCP over two hops."""
    for nodes in (10, 50, 120, 300):
        rows = max(1, nodes // 10)
        text = CHAIN.read_text(encoding="utf-8").partition("[[flows]]")[0]
        grid = f'kind = "grid"\nrows = {rows}\ncolumns = {nodes // rows}\nspacing = "200m"'
        text = text.replace('kind = "chain"\nhops = 4', grid)
        pairs = [(n * nodes // 10, (n * nodes // 10 + nodes // 3 + 1) % nodes) for n in range(10)]
        flow = '[[flows]]\nfrom = {}\nto = {}\ntransport = "newreno"\n'
        flows = "".join(flow.format(*pair) for pair in pairs)
        scenario = fourhop.Scenario(text + flows, "grid.toml")
        with fourhop.emulate(scenario) as net:
            serve(net["n2"])
            net["n0"].run("iperf3", "-c", "n2", "-t", "15", timeout=60, check=False)
        print(carried(net.report))


def fast() -> None:
    """Eight nodes at 54 Mbit/s OFDM, one hop and four at the same time: what they carry, and what that takes."""
    radio = ["radio.phy=ofdm", "radio.rate=54Mbps", "radio.basic_rate=6Mbps", "mac.rts_threshold=3000B"]
    scenario = fourhop.Scenario.from_toml(CHAIN, overrides=["topology.hops=7", *radio])
    for receivers in (range(0, 2, 2), range(0, 8, 2)):
        with fourhop.emulate(scenario, flows=False) as net, ThreadPoolExecutor(4) as threads:
            for n in receivers:
                serve(net[f"n{n}"])
            clients = [(net[f"n{n + 1}"], f"n{n}") for n in receivers]
            for client in [threads.submit(a.run, "iperf3", "-c", b, "-t", "15", timeout=60) for a, b in clients]:
                client.result()
        arrived = sum(flow["arrived_bytes"] for flow in net.report["flows"])
        print(carried(net.report), f"{arrived * 8 / 15e6:.1f} Mbit/s")


def aggregates() -> None:
    """CUBIC over 802.11n: segments of an aggregate one by one, joined (GRO), and joined without running ahead."""
    file = ROOT / "scenarios" / "80211n.toml"
    variants = {"one by one": ["--no-gro"], "joined": [], "joined, not ahead": ["--ahead", "0us"]}
    for hops in (1, 4):
        overrides = [f"topology.hops={hops}", "duration=15s", "warmup=5s", *LINUX, *TODAY]
        runs = fourhop.run(fourhop.Scenario.from_toml(file, overrides=overrides), SEEDS, jobs=1).flows.to_dicts()
        carried: dict[str, list[float]] = {name: [] for name in variants}
        for seed, (name, more) in itertools.product(range(1, REAL_SEEDS + 1), variants.items()):
            scenario = fourhop.Scenario.from_toml(file, overrides=overrides[:1])
            with Emulation(scenario, ["--without-flows", "--tick", "1us", "--seed", str(seed), *more]) as net:
                serve(net[f"n{hops}"])
                done = net["n0"].run("iperf3", "-J", "-c", f"n{hops}", "-t", "10", "-O", "5", timeout=60)
            carried[name].append(json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"])
            late, machine = net.report["lateness_us"], net.report["machine"]
            each = machine["cpu"] * net.report["ran_s"] / late["count"] * 1e6
            parts = [net.report[part] for part in ("lateness_us", "kernel_us", "entering_us")]
            quantiles = (f"{part['p50']:.0f} and {part['p99']:.0f} us" for part in parts)
            print(f"    {name}:", *quantiles, f"{each:.1f} us per packet", sep=", ")
        for name, goodputs in carried.items():
            compare(f"{name}, {hops} hops", statistics.mean(goodputs), runs)
    # Capacity of the network, without the two TCPs.
    text = file.read_text(encoding="utf-8").partition("[[flows]]")[0]
    flow = (
        '[[flows]]\nfrom = "first"\nto = "last"\ntransport = "udp"\napp = "cbr"\nrate = "40Mbps"\npayload = "1448B"\n'
    )
    overrides = ["duration=12s", "warmup=2s"]
    runs = fourhop.run(fourhop.Scenario(text + flow, file.name, overrides=overrides), SEEDS, jobs=1).flows.to_dicts()
    goodputs = []
    for seed in range(1, REAL_SEEDS + 1):
        with Emulation(fourhop.Scenario.from_toml(file), ["--without-flows", "--seed", str(seed)]) as net:
            serve(net["n4"])
            words = ("iperf3", "-J", "-u", "-b", "40M", "-l", "1448", "-c", "n4", "-t", "12", "-O", "2")
            done = net["n0"].run(*words, timeout=60)
        goodputs.append(json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"])
    compare("UDP, 4 hops", statistics.mean(goodputs), runs)


def windows() -> None:
    """Reno over four hops of 802.11n with windows that leave nothing to congestion control: is the network the same?"""
    file = ROOT / "scenarios" / "80211n.toml"
    text = file.read_text(encoding="utf-8").partition("[[flows]]")[0]
    text += '[[flows]]\nfrom = "first"\nto = "last"\ntransport = "sack"\n'
    settings = ["duration=12s", "warmup=2s", "tcp.ack_policy=every-segment", "tcp.rto_min=200ms", "tcp.mss=1448B"]
    for segments in (8, 24, 64):
        overrides = [*settings, f"tcp.window={segments}", *LINUX]
        runs = fourhop.run(fourhop.Scenario(text, file.name, overrides=overrides), SEEDS, jobs=1).flows.to_dicts()
        goodputs = []
        for seed in range(1, REAL_SEEDS + 1):
            with Emulation(fourhop.Scenario.from_toml(file), ["--without-flows", "--seed", str(seed)]) as net:
                goodputs.append(clamped(net["n0"], net["n4"], segments * 1448, 12, 2, "reno"))
        compare(f"Reno, window {segments} segments, 4 hops", statistics.mean(goodputs), runs)


def lateness() -> None:
    """Ten runs of the kernel's TCP over four hops: the bar is 150 us (p50) and 500 us (p99) in nine of them."""
    met = 0
    for seed in range(1, 11):
        with chain(4, seed) as net:
            serve(net["n4"])
            net["n0"].run("iperf3", "-c", "n4", "-t", "10", timeout=60, check=False)
        late = net.report["lateness_us"]
        met += late["p50"] <= 150 and late["p99"] <= 500
    print(f"met in {met} of 10")


def carried(report: dict[str, Any]) -> str:
    """A table row on how a machine coped with an emulation."""
    late, machine = report["lateness_us"], report["machine"]
    shown = [f"{late[name]:.0f}" for name in ("p50", "p99", "max")]
    cells = [f"{report['setup_s']:.2f} s", f"{machine['saturated_speed']:.1f}", f"{machine['cpu']:.0%}", *shown]
    return f"| {report['nodes']} | {' | '.join(cells)} | {'yes' if report['truth']['holds'] else 'no'} |"


QUESTIONS: dict[str, Callable[[], None]] = {
    "tcp": tcp,
    "channels": channels,
    "unbounded": unbounded,
    "today": today,
    "udp": udp,
    "ping": ping,
    "size": size,
    "fast": fast,
    "aggregates": aggregates,
    "windows": windows,
    "lateness": lateness,
}


def main() -> None:
    """Answers the questions named on the command line."""
    for name in sys.argv[1:] or QUESTIONS:
        question = QUESTIONS[name]
        print(f"\n{question.__doc__}\n", flush=True)
        question()


if __name__ == "__main__":
    main()
