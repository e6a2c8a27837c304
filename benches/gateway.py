"""Downloads to every node of a chain at once, through a plain gateway, through FQ-CoDel and through fourhop-gateway.

    benches/gateway.py fair [cubic|bbr] [SECONDS]       # what each node gets, fairness, ping under load

Needs root, iperf3, ping and the programs of `make linux`. The chain has six hops and its gateway at one end; a server
is behind a wire of 40 ms. `plain` and `ours` are the kernel's forwarding between the devices of the emulated gateway;
FQ-CoDel and the simulator's gateway are those of the simulated routing, in the same places.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fourhop
from fourhop.emulation import Emulation

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = str(ROOT / "target" / "release" / "fourhop-gateway")
SEEDS = (1, 2, 3)
CHAIN = """
profile = "standard"
duration = "300s"
[radio]
rate = "11Mbps"
[topology]
kind = "chain"
hops = 6
[mac]
rts_threshold = "0B"
[routing]
protocol = "static"
[wired]
gateways = ["first"]
nodes = ["S"]
rate = "100Mbps"
delay = "40ms"
[[flows]]
from = "S"
to = "last"
transport = "newreno"
"""
NODES = range(1, 7)
FILE = """
[mesh]
devices = ["mesh0"]
rate = "11Mbps"
[pace]
{pace}
[service]
user = "root"
socket = "{folder}/control"
"""
# What is compared: keys of the scenario, whether kernels forward, and the daemon's [pace].
WAYS: dict[str, tuple[list[str], bool, str | None]] = {
    "plain": ([], True, None),
    "fq-codel": (["gateway.kind=fq-codel"], False, None),
    "ours": ([], True, ""),
    "own intervals": ([], True, 'share = "own"'),
    "own, all": ([], True, 'share = "own"\ngoodput_control = "all"'),
    "unbounded": ([], True, 'sojourn = "0s"'),
    "simulated": (["gateway.kind=gap", "gateway.sojourn=50ms"], False, None),
}


@contextmanager
def network(way: str, seed: int) -> Iterator[tuple[Emulation, Path]]:
    """The chain, with that at its gateway; where its state is."""
    keys, tap, pace = WAYS[way]
    scenario = parse(keys)
    with tempfile.TemporaryDirectory() as name, fourhop.emulate(scenario, seed=seed, tap=tap, flows=False) as net:
        folder = Path(name)
        if pace is not None:
            (folder / "gateway.toml").write_text(FILE.format(pace=pace, folder=folder), encoding="utf-8")
            net["n0"].start(PROGRAM, "run", "--config", str(folder / "gateway.toml"))
            for _ in range(200):
                if (folder / "control").exists():
                    break
                time.sleep(0.05)
        yield net, folder


def parse(keys: list[str]) -> fourhop.Scenario:
    """The scenario with these keys on top."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(CHAIN)
        file.flush()
        return fourhop.Scenario.from_toml(file.name, overrides=keys)


def downloads(net: Emulation, control: str, seconds: int) -> dict[str, Any]:
    """Every node loads from the server at once; ping to the farthest beside."""
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
    """Of sorted values the one at that share."""
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def fair(control: str = "cubic", seconds: str = "40", *ways: str) -> None:
    """One line for each way and seed."""
    for way in ways or WAYS:
        for seed in SEEDS[:1] if ways else SEEDS:
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
                for row in json.loads(state)["flows"][:8]:
                    print("    ", row)


if __name__ == "__main__":
    {"fair": fair}[sys.argv[1]](*sys.argv[2:])
