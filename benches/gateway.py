"""Downloads to every node of a chain at once, through a plain gateway, through FQ-CoDel and through fourhop-gateway.

    benches/gateway.py fair [cubic|bbr] [SECONDS]       # what each node gets, fairness, ping under load
    benches/gateway.py alone                            # what each node gets when it loads alone
    benches/gateway.py agree                            # one download over four hops, beside the simulator's gateway
    benches/gateway.py links [SECONDS] [LINKS...]       # one download over links of 2 Mbit/s and of 802.11n
    benches/gateway.py drawn [NETWORKS]                 # simulated: kinds of gateways before drawn networks
    benches/gateway.py hindsight [NETWORKS]             # simulated: beside the best fixed windows in hindsight
    benches/gateway.py speed                            # packets per second and latency, beside an accept-all client

SEEDS=1 uses only the first seed. Needs root, iperf3, ping and the programs of `make linux`. The chain has six hops and
its gateway at one end; a server is behind a wire of 40 ms. `plain` and `ours` use the kernel's forwarding between the
devices of the emulated gateway; FQ-CoDel and the simulator's gateway are those of the simulated routing, in the same
places.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

import fourhop
from fourhop.emulation import Emulation

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = str(ROOT / "target" / "release" / "fourhop-gateway")
SEEDS = range(1, int(os.environ.get("SEEDS", "3")) + 1)
CHAIN = (ROOT / "benches" / "gateway.toml").read_text(encoding="utf-8")
NODES = range(1, 7)
FILE = """
[mesh]
devices = ["mesh0"]
rate = "{rate}"
[pace]
{pace}
[service]
user = "root"
socket = "{folder}/control"
"""
# Cases of the comparison: keys of the scenario, whether kernels forward, and the daemon's [pace].
WAYS: dict[str, tuple[list[str], bool, str | None]] = {
    "plain": ([], True, None),
    "fq-codel": (["gateway.kind=fq-codel"], False, None),
    "ours": ([], True, 'mode = "gap"'),
    "ap2": ([], True, 'mode = "ap2"'),
    "on time": ([], True, 'mode = "gap"'),
    "own intervals": ([], True, 'mode = "gap"\nshare = "own"'),
    "own, all": ([], True, 'mode = "gap"\nshare = "own"\namong = "all"'),
    "unbounded": ([], True, 'mode = "gap"\nsojourn = "none"'),
    "simulated": (["gateway.kind=gap", "gateway.sojourn=50ms"], False, None),
}


@contextmanager
def network(
    way: str, seed: int, *more: str, rate: str = "11Mbps", chain: str = CHAIN
) -> Iterator[tuple[Emulation, Path]]:
    """The chain with this variant at its gateway, configured with this rate, and the folder of its state."""
    keys, tap, pace = WAYS[way]
    scenario = parse([*keys, *more], chain)
    with tempfile.TemporaryDirectory() as name, fourhop.emulate(scenario, seed=seed, tap=tap, flows=False) as net:
        folder = Path(name)
        if pace is not None:
            (folder / "gateway.toml").write_text(FILE.format(pace=pace, folder=folder, rate=rate), encoding="utf-8")
            # If other work occupies the processor, packets wait for it, which looks like a longer path.
            first = ("chrt", "-f", "10") if way == "on time" else ()
            net["n0"].start(*first, PROGRAM, "run", "--config", str(folder / "gateway.toml"))
            for _ in range(200):
                if (folder / "control").exists():
                    break
                time.sleep(0.05)
        yield net, folder


def parse(keys: list[str], chain: str = CHAIN) -> fourhop.Scenario:
    """The scenario with these keys changed."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(chain)
        file.flush()
        return fourhop.Scenario.from_toml(file.name, overrides=keys)


def downloads(net: Emulation, control: str, seconds: int) -> dict[str, Any]:
    """Every node downloads from the server at once, while the farthest is pinged."""
    last = f"n{max(NODES)}"
    for n in NODES:
        net[f"n{n}"].start("iperf3", "-s", "-1", "-p", str(5200 + n))
    time.sleep(1)
    idle = pings(net["S"].run("ping", "-c", "10", "-i", "0.3", last, check=False).stdout)
    command = ("iperf3", "-J", "-C", control, "-t", str(seconds))
    senders = [net["S"].start(*command, "-c", f"n{n}", "-p", str(5200 + n), output=subprocess.PIPE) for n in NODES]
    time.sleep(seconds * 0.2)
    count = int(seconds * 0.7 / 0.2)
    loaded = {
        n: net["S"].start("ping", "-n", "-c", str(count), "-i", "0.2", "-W", "10", f"n{n}", output=subprocess.PIPE)
        for n in (1, max(NODES))
    }
    times = {n: pings(process.communicate(timeout=seconds + 60)[0]) for n, process in loaded.items()}
    found = [json.loads(sender.communicate(timeout=seconds + 60)[0])["end"] for sender in senders]
    goodput = [end["sum_received"]["bits_per_second"] / 1e3 for end in found]
    return {
        "goodput": goodput,
        "sum": sum(goodput),
        "index": sum(goodput) ** 2 / (len(goodput) * sum(g * g for g in goodput)),
        "again": sum(end["sum_sent"]["retransmits"] for end in found),
        "idle": statistics.median(idle) if idle else float("nan"),
        "ping": {n: (quantile(t, 0.5), quantile(t, 0.99), 1 - len(t) / count) for n, t in times.items()},
    }


def pings(text: str) -> list[float]:
    """Round trips in ms."""
    return [float(line.rpartition("time=")[2].split()[0]) for line in text.splitlines() if "time=" in line]


def quantile(values: list[float], share: float) -> float:
    """The quantile of values at a share."""
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def fair(control: str = "cubic", seconds: str = "40", *ways: str) -> None:
    """One line for each way and seed."""
    for way in ways or WAYS:
        for seed in SEEDS:
            with network(way, seed) as (net, folder):
                found = downloads(net, control, int(seconds))
                state = subprocess.run(
                    [PROGRAM, "status", "--json", "--socket", folder / "control"],
                    capture_output=True,
                    text=True,
                    check=False,
                ).stdout
            lost = net.report["packets"]["lost"]
            each = " ".join(f"{g:.0f}" for g in found["goodput"])
            ping = "; ".join(f"n{n} {p:.0f}/{q:.0f} ms, {loss:.0%} lost" for n, (p, q, loss) in found["ping"].items())
            print(
                f"| {way} | {seed} | {each} | {found['sum']:.0f} | {found['index']:.3f} | {ping} | "
                f"{found['idle']:.0f} | {found['again']} |",
                flush=True,
            )
            print("   lost:", lost)
            if state:
                print("   state:", {k: v for k, v in json.loads(state).items() if k in ("totals", "sojourn")})


def alone(seconds: str = "20") -> None:
    """Goodput of each node when the others are silent, and what an even split of the time would give them all."""
    goodput = {}
    for n in NODES:
        with network("plain", 1) as (net, _):
            net[f"n{n}"].start("iperf3", "-s", "-1", "-p", "5201")
            time.sleep(1)
            command = ("iperf3", "-J", "-c", f"n{n}", "-p", "5201", "-t", seconds)
            end = json.loads(net["S"].run(*command, timeout=float(seconds) + 60).stdout)["end"]
            goodput[n] = end["sum_received"]["bits_per_second"] / 1e3
            print(f"| {n} | {goodput[n]:.0f} |", flush=True)
    each = 1 / sum(1 / g for g in goodput.values())
    print(f"the same for each: {each:.0f}, together {each * len(goodput):.0f}")


def agree(seconds: str = "60", *ways: str) -> None:
    """One download over four hops: daemon, simulator's gateway under the kernel's TCP, simulator; and link failures."""
    keys = ["topology.hops=4", "gateway.kind=gap", "gateway.sojourn=50ms", f"duration={seconds}s"]
    transport = ["flows[0].transport=cubic", "tcp.window=none", "tcp.ack_policy=delayed", "tcp.rto_min=200ms"]
    if not ways:
        runs = fourhop.run(parse([*keys, *transport]), 10, jobs=1)
        goodput = [flow["goodput_bps"] / 1e3 for flow in runs.flows.to_dicts()]
        print(f"| simulator | {statistics.median(goodput):.0f} ({min(goodput):.0f} to {max(goodput):.0f}) | |")
    for way in ways or ("plain", "simulated", "ours", "on time"):
        for seed in SEEDS:
            with network(way, seed, "topology.hops=4") as (net, _):
                net["n4"].start("iperf3", "-s", "-1", "-p", "5201")
                time.sleep(1)
                command = ("iperf3", "-J", "-c", "n4", "-p", "5201", "-t", seconds)
                end = json.loads(net["S"].run(*command, timeout=float(seconds) + 60).stdout)["end"]
            lost = net.report["packets"]["lost"].get("mac", {})
            failures = sum(count for reason, count in lost.items() if reason.endswith("retry-limit"))
            rate = end["sum_received"]["bits_per_second"] / 1e3
            rtt = end["streams"][0]["sender"]["mean_rtt"] / 1e3
            again = end["sum_sent"]["retransmits"]
            print(f"| {way} | {seed} | {rate:.0f} | {rtt:.0f} ms | {again} | {failures} |", flush=True)


def links(seconds: str = "20", *names: str) -> None:
    """One download over one and four hops of 2 Mbit/s, and over 802.11n: what pacing costs, whatever the receiver."""
    fast = (ROOT / "scenarios" / "80211n.toml").read_text(encoding="utf-8").partition("[[flows]]")[0]
    wired = CHAIN[CHAIN.index("[wired]") :]
    cases: tuple[tuple[str, str, str, list[str]], ...] = (
        ("2 Mbit/s, 1 hop", CHAIN, "2Mbps", ["topology.hops=1", "radio.rate=2Mbps"]),
        ("2 Mbit/s, 4 hops", CHAIN, "2Mbps", ["topology.hops=4", "radio.rate=2Mbps"]),
        ("802.11n, 4 hops", fast + wired, "300Mbps", []),
    )
    print("| links | receiver | plain kbit/s | `gap` | | `ap2` | |\n|---|---|---|---|---|---|---|")
    for name, chain, rate, keys in cases:
        if names and name not in names:
            continue
        last = "n1" if "1 hop" in name and "4" not in name else "n4"
        for quick in (True, False):
            found: dict[str, list[float]] = {"plain": [], "ours": [], "ap2": []}
            for way, goodput in found.items():
                for seed in SEEDS:
                    with network(way, seed, *keys, rate=rate, chain=chain) as (net, _):
                        if quick:
                            server = net[last].run("getent", "hosts", "S").stdout.split()[0]
                            way_back = net[last].run("ip", "-o", "route", "get", server).stdout
                            hop = re.search(r"(via \S+ )?dev \S+", way_back)
                            assert hop is not None, way_back
                            net[last].run("ip", "route", "replace", server, *hop[0].split(), "quickack", "1")
                        net[last].start("iperf3", "-s", "-1", "-p", "5201")
                        time.sleep(1)
                        command = ("iperf3", "-J", "-c", last, "-p", "5201", "-t", seconds)
                        end = json.loads(net["S"].run(*command, timeout=float(seconds) + 60).stdout)["end"]
                    goodput.append(end["sum_received"]["bits_per_second"] / 1e3)
            plain, gap, ap2 = (" ".join(f"{one:.0f}" for one in each) for each in found.values())
            by, by_ap2 = (statistics.mean(found[way]) / statistics.mean(found["plain"]) - 1 for way in ("ours", "ap2"))
            receiver = "quick" if quick else "ordinary"
            print(f"| {name} | {receiver} | {plain} | {gap} | {by:+.0%} | {ap2} | {by_ap2:+.0%} |", flush=True)


def networks_of(networks: str) -> Iterator[tuple[str, list[fourhop.Scenario], dict[str, Any]]]:
    """Networks of comparison/ap2 with a gateway, by class, and the keys of FQ-CoDel there."""
    sys.path.insert(0, str(ROOT / "papers"))
    draws, worlds = (importlib.import_module(f"comparison.{name}") for name in ("_drawn", "_worlds"))
    # 2039 is the first network not used in designing the mode; every sixth has a gateway.
    numbers = range(2039, 2039 + 6 * int(networks), 6)
    for kind, name in draws.CLASSES.items():
        bases = [draws.draw(kind, n).with_(sample_every="20ms", transport="cubic", **worlds.KERNEL) for n in numbers]
        fq: dict[str, Any] = {"gateway.kind": "fq-codel"}
        if kind == "old":
            yield name, [base.with_(duration="30s") for base in bases], fq
        else:
            yield name, bases, fq | {"gateway.backlog": 64}


def measured(base: fourhop.Scenario, keys: dict[str, Any], seed: int = 1000) -> tuple[float, float, float]:
    """Goodput, p95 round trip and Jain's index."""
    run = fourhop.run(base.with_(**keys), runs=1, seed=seed)
    late = run.series.filter(pl.col("time_s") > 0.25 * pl.col("time_s").max())
    trips = late.group_by("flow").agg(pl.col("srtt_s").quantile(0.95))["srtt_s"].drop_nulls().to_list()
    assert run.jain is not None
    return run.aggregate.mean, statistics.mean(trips), run.jain.mean


def beside(ours: list[tuple[float, float, float]], theirs: list[tuple[float, float, float]]) -> str:
    """Ratios of goodput and round trip, and both indices."""
    pairs = list(zip(ours, theirs, strict=True))
    ratios = [statistics.geometric_mean(a[n] / b[n] for a, b in pairs) for n in (0, 1)]
    jain = [statistics.mean(one[2] for one in side) for side in (ours, theirs)]
    return f"{ratios[0]:.2f} | {ratios[1]:.2f} | {jain[0]:.2f} | {jain[1]:.2f} |"


def drawn(networks: str = "12") -> None:
    """Goodput and p95 round trip beside FQ-CoDel's, Jain's index and FQ-CoDel's, before networks of comparison/ap2."""
    for name, bases, fq in networks_of(networks):
        theirs = [measured(base, fq) for base in bases]
        for mode, keys in (("gap", {"gateway.sojourn": "50ms"}), ("ap2", {})):
            ours = [measured(base, {"gateway.kind": mode, **keys}) for base in bases]
            print(f"| {name} | {mode} | {beside(ours, theirs)}", flush=True)


def hindsight(networks: str = "12") -> None:
    """The best of fixed windows for all downloads, chosen with one seed and measured with another.

    A gateway that advertises no larger window can do the same. A price is the per cent of goodput to give up for each
    per cent of round trip.
    """
    for name, bases, fq in networks_of(networks):
        windows = {
            f"{way['gateway.kind']}, {size}": {**way, "tcp.window": size}
            for way in ({"gateway.kind": "plain"}, fq)
            for size in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
        }
        ways = windows | {"fq-codel": fq, "ap2": {"gateway.kind": "ap2"}}
        learnt, tried = (
            [{way: measured(base, keys, seed) for way, keys in ways.items()} for base in bases] for seed in (1001, 1000)
        )
        theirs = [row["fq-codel"] for row in tried]
        print(f"| {name} | ap2 | {beside([row['ap2'] for row in tried], theirs)}", flush=True)
        for price in (0.0, 0.1, 0.2, 0.3, 0.5, 1.0):

            def worth(run: tuple[float, float, float], price: float = price) -> float:
                return math.log(run[0]) - price * math.log(run[1])

            best = [max(windows, key={way: worth(row[way]) for way in windows}.__getitem__) for row in learnt]
            ours = [row[way] for way, row in zip(best, tried, strict=True)]
            print(f"| {name} | fixed windows, price {price:g} | {beside(ours, theirs)}", flush=True)


def spent(pid: int | None) -> float:
    """Processor time of a process in seconds, including the kernel's on its behalf."""
    if pid is None:
        return 0
    user, kernel = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(kernel)) / 100


def speed() -> None:
    """Unanswered TCP segments of 240 bytes from an unpaced node, through three namespaces."""
    sys.path.insert(0, str(ROOT))
    from tests.linux.border import NODE, Border

    examples = ROOT / "target" / "release" / "examples"

    def through(border: Border, rate: float, seconds: float = 3) -> dict[str, float]:
        receiver = border.start("node", examples / "load", "receive", str(seconds + 1.5))
        assert receiver.stdout is not None
        receiver.stdout.readline()
        sent = json.loads(border.run("host", examples / "load", "send", NODE, str(rate), str(seconds)).stdout)
        found: dict[str, float] = json.loads(receiver.communicate()[0])
        return found | {"sent": sent["sent"] / sent["seconds"]}

    def begin(border: Border, what: str) -> int | None:
        """Start the process that handles the packets, if any, and return its id."""
        if what == "accept all":
            text = border.run("gate", PROGRAM, "run", "--config", border.file(), "--print-rules", "iptables").stdout
            border.run("gate", "sh", "-c", text)
            client = border.start("gate", examples / "accept_all")
            assert client.stderr is not None
            client.stderr.readline()
        elif what == "gateway":
            client = border.gateway(mesh='hops = "table"\n[[node]]\nto = "10.9.0.77"\nhops = 2')
        else:
            return None
        return client.pid

    most: dict[str, float] = {}
    print(Path("/proc/loadavg").read_text().strip())
    for what in ("forwarding", "accept all", "gateway"):
        with tempfile.TemporaryDirectory(prefix="fourhop-") as folder:
            Path(folder).chmod(0o755)
            border = Border(f"gws{len(most)}", Path(folder))
            try:
                border.build()
                border.run("node", "sh", "-c", "iptables -A OUTPUT -p tcp --tcp-flags RST RST -j DROP")
                pid = begin(border, what)
                before = spent(pid)
                full = through(border, 1e6)
                cost = (spent(pid) - before) / full["received"] * 1e6
                most[what] = full["received"] / full["seconds"]
                late = f"{full['p50_us']:.0f} | {full['p99_us']:.0f}"
                print(f"| {what} | most | {full['sent']:.0f} | {most[what]:.0f} | {late} | {cost:.1f} |", flush=True)
                base = most.get("gateway", most[what])
                for share in (0.1, 0.5, 0.9):
                    found = through(border, share * base)
                    rate = found["received"] / max(found["seconds"], 1e-9)
                    print(
                        f"| {what} | {share:.0%} | {found['sent']:.0f} | {rate:.0f} | {found['p50_us']:.0f} | "
                        f"{found['p99_us']:.0f} |",
                        flush=True,
                    )
                if what == "gateway":
                    state = border.status()["totals"]
                    print("   ", {name: state[name] for name in ("packets", "overload", "waited")})
            finally:
                border.remove()
    print(Path("/proc/loadavg").read_text().strip())


if __name__ == "__main__":
    known: dict[str, Callable[..., None]] = {
        "fair": fair,
        "alone": alone,
        "agree": agree,
        "links": links,
        "drawn": drawn,
        "hindsight": hindsight,
        "speed": speed,
    }
    known[sys.argv[1]](*sys.argv[2:])
