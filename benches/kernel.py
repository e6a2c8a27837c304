"""Adaptive pacing in the kernel, compared with the simulator's and with the kernel's own TCPs, over emulated chains.

    benches/kernel.py [ap2|chains|draw|gaps|cross|cost ...]      # default: all

SEEDS=1 uses only the first seed. Needs root, iperf3, tcpdump, bpftool and the output of `make linux` and `make bpf`.

Prints a table for each question and draws docs/img/kernel.png; docs/kernel.md shows them. Routes are static,
acknowledgements are not delayed except in `ap2`, and the minimum RTO is 200 ms in the simulated flows, too.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from emulation import CHAIN, ROOT, chain, simulated

import fourhop
from fourhop.emulation import Emulation
from fourhop.study import Sample, ratio

PROGRAM = str(ROOT / "target" / "release" / "fourhop-cc")
SECONDS = 20
SEEDS = range(1, int(os.environ.get("SEEDS", "3")) + 1)
AP2_SEEDS, OTHER_SEEDS = int(os.environ.get("SEEDS", "10")), int(os.environ.get("SEEDS", "4"))
"""Emulated runs per row in `ap2`."""
SIMULATED = 40
"""Simulated runs beside them."""
HOPS = (1, 2, 4, 7)
FIGURES = ROOT / "docs" / "img" / "kernel.json"
# Choices of a user, and the simulator's counterpart, if it has one.
CONTROLS = {
    "fh_tcp_ap": ("tcp-ap-sack", ["tcp_ap.release=gate", "tcp_ap.samples=unambiguous", "tcp_ap.hops=ttl"]),
    "fh_rbp": ("rbp", []),
    "cubic": ("cubic", []),
    "bbr": (None, []),
}


@contextmanager
def loaded(*namespaces: str, keys: str = "", rate: str = "2Mbps") -> Iterator[None]:
    """Load the kernel's programs, and set up these namespaces for them."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        for name in namespaces:
            file.write(f'[[system]]\nnamespace = "{name}"\ndevices = ["mesh0"]\n')
        file.write(f'[[destination]]\nto = "10.0.0.0/8"\nrate = "{rate}"\n{keys}\n')
        file.flush()
        with subprocess.Popen([PROGRAM, "load", "--config", file.name], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("loaded")
            try:
                yield
            finally:
                process.terminate()


def prepare(net: Emulation, sender: str, receiver: str, control: str, quick: bool = True) -> None:
    """Set up the routes of both ends; the receiver's route is an ordinary one unless acknowledgements are quick."""
    addresses = {name: net["n0"].run("getent", "hosts", name).stdout.split()[0] for name in (sender, receiver)}
    net[sender].run(PROGRAM, "route", addresses[receiver], "--set", control)
    if quick:
        net[receiver].run(PROGRAM, "route", addresses[sender], "--set", "reno", "--initial-window", "0", "--quick-ack")


def transfer(net: Emulation, sender: str, receiver: str, port: int = 5201) -> dict[str, Any]:
    """iperf3's measurement."""
    net[receiver].start("iperf3", "-s", "-1", "-p", str(port))
    for _ in range(200):
        if f":{port} " in net[receiver].run("ss", "-Hltn").stdout:
            break
        time.sleep(0.05)
    command = ("iperf3", "-J", "-p", str(port), "-c", receiver, "-t", str(SECONDS), "-i", "0.1")
    said = json.loads(net[sender].run(*command, timeout=SECONDS + 60).stdout)
    end: dict[str, Any] = said["end"]
    late = [row["streams"][0]["rtt"] for row in said["intervals"]][10 * SECONDS // 4 :]
    return {
        "p95": statistics.quantiles(late, n=20)[-1] / 1e3,
        "goodput": end["sum_received"]["bits_per_second"] / 1e3,
        "rtt": end["streams"][0]["sender"]["mean_rtt"] / 1e3,
        "again": end["sum_sent"]["retransmits"],
        "segments": end["sum_received"]["bytes"] / said["start"]["tcp_mss_default"],
    }


def once(hops: int, control: str, seed: int) -> dict[str, Any]:
    """One transfer over a chain. Each sets up its own namespace, as the programs are already loaded."""
    with chain(hops, seed, "static") as net:
        for name, value in (("tcp_tso_rtt_log", "0"), ("tcp_pacing_ca_ratio", "200")):
            if control.startswith("fh_"):
                net["n0"].run("sh", "-c", f"echo {value} > /proc/sys/net/ipv4/{name}")
        if control.startswith("fh_"):
            net["n0"].run("ip", "link", "set", "mesh0", "gso_max_segs", "1")
        prepare(net, "n0", f"n{hops}", control)
        return transfer(net, "n0", f"n{hops}")


def chains() -> None:
    """Goodput, round trip and retransmissions by hops; the simulator's median beside."""
    found: dict[str, list[dict[str, list[float]]]] = {control: [] for control in CONTROLS}
    print("| hops | congestion control | kbit/s | simulator | round trip | sent again |\n|---|---|---|---|---|---|")
    with loaded():
        for hops in HOPS:
            rows = []
            for seed in SEEDS:
                with ThreadPoolExecutor(len(CONTROLS)) as threads:
                    rows.append(list(threads.map(lambda control: once(hops, control, seed), CONTROLS)))  # noqa: B023
            for n, (control, (transport, settings)) in enumerate(CONTROLS.items()):
                each = {key: [row[n][key] for row in rows] for key in rows[0][n]}
                found[control].append(each)
                mean = {key: statistics.mean(values) for key, values in each.items()}
                expected = "-"
                if transport is not None:
                    keys = ["tcp.window=none", "tcp.ack_policy=every-segment", "tcp.rto_min=200ms"]
                    runs = simulated(hops, f'transport = "{transport}"', "routing.protocol=static", *keys, *settings)
                    expected = f"{statistics.median(run['goodput_bps'] for run in runs) / 1e3:.1f}"
                again = f"{min(each['again'])} to {max(each['again'])}"
                print(
                    f"| {hops} | `{control}` | {mean['goodput']:.1f} | {expected} | {mean['rtt']:.0f} ms | {again} |",
                    flush=True,
                )
    FIGURES.write_text(json.dumps(found) + "\n", encoding="utf-8")
    draw()


def draw() -> None:
    """The same as a picture: the mean of the seeds, and whiskers from minimum to maximum."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    found: dict[str, list[dict[str, list[float]]]] = json.loads(FIGURES.read_text(encoding="utf-8"))
    figure, axes = pyplot.subplots(1, 3, figsize=(9, 3), layout="constrained")
    labels = {"goodput": "goodput, kbit/s", "rtt": "round trip, ms", "again": f"segments sent again in {SECONDS} s"}
    for axis, (key, label) in zip(axes, labels.items(), strict=True):
        for n, (control, rows) in enumerate(found.items()):
            mean = [statistics.mean(row[key]) for row in rows]
            below = [m - min(row[key]) for m, row in zip(mean, rows, strict=True)]
            above = [max(row[key]) - m for m, row in zip(mean, rows, strict=True)]
            # Side by side, so that none hides another.
            places = [hops + 0.12 * (n - 1.5) for hops in HOPS]
            axis.errorbar(places, mean, (below, above), marker="os^D"[n], markersize=5, capsize=3, label=control)
        axis.set(xlabel="hops", ylabel=label, xticks=HOPS, ylim=(0, None))
    axes[0].legend(frameon=False)
    figure.savefig(FIGURES.with_suffix(".png"), dpi=150, metadata={"Software": None})


def gaps() -> None:
    """How far apart segments leave beside the kernel's interval when the first of the two left."""
    for hops in HOPS:
        with chain(hops, 1, "static") as net, loaded(f"{net.id}-n0"), tempfile.NamedTemporaryFile() as capture:
            prepare(net, "n0", f"n{hops}", "fh_tcp_ap")
            words = ("tcpdump", "-i", "mesh0", "-U", "-s", "80", "-w", capture.name, "tcp dst port 5201")
            listening = net["n0"].start(*words, output=subprocess.DEVNULL)
            with ThreadPoolExecutor(1) as thread:
                sending = thread.submit(transfer, net, "n0", f"n{hops}")
                watch = [PROGRAM, "status", "--json", "--watch", "--every", "2ms"]
                with subprocess.Popen(watch, stdout=subprocess.PIPE, text=True) as watching:
                    sending.add_done_callback(lambda _: watching.terminate())
                    lines, _ = watching.communicate()
            rows = [row for line in lines.splitlines() for row in json.loads(line) if row["acked_bytes"] > 100_000]
            states = [(row["time_s"], row["samples"], row["interval_s"]) for row in rows]
            listening.terminate()
            listening.wait(timeout=20)
            command = ["tcpdump", "-tt", "-nn", "-r", capture.name, "greater 1000"]
            text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            sent = [float(line.split()[0]) for line in text.splitlines()]
            # Between two readings with the same number of samples, the interval has not changed.
            calm = [(a[0], b[0], a[2]) for a, b in itertools.pairwise(states) if a[1] == b[1]]
            ratios = sorted(
                (following - first) / interval
                for first, following in itertools.pairwise(sent)
                for begin, end, interval in calm
                if begin < first < end
            )
            deciles = statistics.quantiles(ratios, n=20)
            print(f"| {hops} | {len(ratios)} | {deciles[0]:.3f} | {deciles[9]:.3f} | {deciles[18]:.3f} |", flush=True)


def cross() -> None:
    """Two flows that cross in the middle of two chains of four hops: Jain's index of their goodputs."""
    for control in ("fh_tcp_ap", "cubic", "bbr"):
        indices, sums = [], []
        for seed in SEEDS:
            with fourhop.emulate(fourhop.Scenario(CROSS, "cross.toml"), flows=False, seed=seed) as net:
                senders = [f"{net.id}-{name}" for name in ("n0", "n5")]
                with loaded(*senders if control.startswith("fh_") else ()), ThreadPoolExecutor(2) as threads:
                    pairs = (("n0", "n4", 5201), ("n5", "n8", 5202))
                    for sender, receiver, _ in pairs:
                        prepare(net, sender, receiver, control)
                    rates = [row["goodput"] for row in threads.map(lambda pair: transfer(net, *pair), pairs)]
            indices.append(sum(rates) ** 2 / (2 * sum(rate**2 for rate in rates)))
            sums.append(sum(rates))
        shown = ", ".join(f"{index:.3f}" for index in indices)
        print(f"| `{control}` | {shown} | {statistics.mean(sums):.1f} |", flush=True)


def ap2() -> None:
    """AP2 beside others on 802.11b and 802.11n; receivers acknowledge at once, or delay as usual.

    Segments that arrive together in an aggregate are joined (GRO), and a receiver acknowledges what is joined once. The
    simulator's receivers get them one by one. Several seeds: on 802.11n goodput varies by up to a third.
    """
    controls = {"fh_ap2": "ap2", "fh_tcp_ap": None, "cubic": "cubic", "bbr": "bbr"}
    print(
        "| links, acknowledgements | congestion control | kbit/s | simulator | ratio | p95 round trip | simulator "
        "| sent again | acknowledgements per 100 segments |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for links, rate, joined in (
        (ROOT / "scenarios" / "80211n.toml", "65Mbps", (True, False)),
        (CHAIN, "2Mbps", (True,)),
    ):
        overrides = ["topology.hops=4", "routing.protocol=static"]
        for gro, quick, (control, transport) in itertools.product(joined, (True, False), controls.items()):
            if transport is None and not gro:
                continue
            seeds = range(1, 1 + (AP2_SEEDS if control == "fh_ap2" else OTHER_SEEDS))
            # One by one: two unpaced senders with real-time priority would leave no processor to the kernel's threads.
            with loaded(rate=rate):
                rows = [beside(links, overrides, control, quick, gro, seed) for seed in seeds]
            mean = {key: statistics.mean(row[key] for row in rows) for key in rows[0]}
            goodput, trip, times = "-", "-", "-"
            if transport is not None:
                simulated, late = counterpart(links, transport, quick, overrides)
                goodput, trip = f"{simulated.mean:.0f}", f"{late:.0f} ms"
                if len(rows) > 1:
                    times = str(ratio(Sample(tuple(row["goodput"] for row in rows), tuple(seeds)), simulated))
            receivers = ("quick" if quick else "usual") + ("" if gro else ", segments one by one")
            print(
                f"| {links.stem}, {receivers} | `{control}` | {mean['goodput']:.0f} | {goodput} | {times} "
                f"| {mean['p95']:.0f} ms | {trip} | {mean['again']:.0f} | {mean['acks']:.0f} |",
                flush=True,
            )


def beside(links: Path, overrides: list[str], control: str, quick: bool, gro: bool, seed: int) -> dict[str, Any]:
    """One transfer over four hops, with the settings of the congestion control."""
    scenario = fourhop.Scenario.from_toml(links, overrides=overrides)
    with fourhop.emulate(scenario, seed=seed, flows=False, gro=gro) as net:
        if control.startswith("fh_"):
            net["n0"].run("sh", "-c", "echo 0 > /proc/sys/net/ipv4/tcp_tso_rtt_log")
        if control == "fh_tcp_ap":
            net["n0"].run("ip", "link", "set", "mesh0", "gso_max_segs", "1")
        prepare(net, "n0", "n4", control, quick)
        found = transfer(net, "n0", "n4")
        names, values = (line.split() for line in net["n4"].run("grep", "Tcp:", "/proc/net/snmp").stdout.splitlines())
        sent = dict(zip(names[1:], map(int, values[1:]), strict=True))["OutSegs"]
        return {**found, "acks": 100.0 * sent / found["segments"]}


def counterpart(links: Path, transport: str, quick: bool, overrides: list[str]) -> tuple[Sample, float]:
    """The simulator's goodput in kbit/s, one value per run, and the p95 of the smoothed round trip in ms."""
    keys = [f"duration={SECONDS}s", "warmup=0s", "tcp.window=none", "tcp.rto_min=200ms", "sample_every=100ms"]
    policy = ["tcp.ack_policy=every-segment"] if quick else []
    text = links.read_text(encoding="utf-8").partition("[[flows]]")[0]
    text += f'[[flows]]\nfrom = "first"\nto = "last"\ntransport = "{transport}"\n'
    scenario = fourhop.Scenario(text, "chain.toml", overrides=[*overrides, *keys, *policy])
    runs = fourhop.run(scenario, SIMULATED, jobs=1)
    late = runs.series.filter(runs.series["time_s"] > SECONDS / 4)["srtt_s"].quantile(0.95)
    # Their seeds have nothing in common with those of the emulated runs.
    units = tuple(f"simulated {seed}" for seed in runs.flows["seed"])
    return Sample(tuple(runs.flows["goodput_bps"] / 1e3), units), (late or 0) * 1e3


CROSS = """
profile = "standard"
duration = "60s"
[topology]
kind = "cross"
hops = 4
[mac]
rts_threshold = "0B"
[routing]
protocol = "static"
[[flows]]
from = 0
to = 4
transport = "newreno"
"""


def cost() -> None:
    """Nanoseconds of each program for each time it ran, as the kernel counts them."""
    switch = Path("/proc/sys/kernel/bpf_stats_enabled")
    before = switch.read_text(encoding="ascii")
    switch.write_text("1", encoding="ascii")
    try:
        with chain(1, 1, "static") as net, loaded(f"{net.id}-n0"):
            prepare(net, "n0", "n1", "fh_tcp_ap")
            transfer(net, "n0", "n1")
            shown = subprocess.run(["bpftool", "prog", "show"], capture_output=True, text=True, check=True).stdout
            for name, total, runs in re.findall(r"name (fh_\w+) .*run_time_ns (\d+) run_cnt (\d+)", shown):
                print(f"| `{name}` | {int(runs)} | {int(total) / int(runs) / 1e3:.2f} us |")
    finally:
        switch.write_text(before, encoding="ascii")


if __name__ == "__main__":
    for question in sys.argv[1:] or ["ap2", "chains", "gaps", "cross", "cost"]:
        print(f"\n{question}")
        known = {"ap2": ap2, "chains": chains, "draw": draw, "gaps": gaps, "cross": cross, "cost": cost}
        known[question]()
