"""The routing daemon over the simulated air, compared with the simulator's own AODV and with the testbed paper.

    benches/aodvd.py [searches|walks|draw|many|flood ...]      # default: all

Needs root, ping, iperf3 and the programs of `make linux`. Prints a table for each question and draws
docs/img/aodvd.png; docs/aodvd.md shows them. The hallway is that of the testbed studies (papers/testbed).
"""

from __future__ import annotations

import json
import math
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

import polars

import fourhop
from fourhop.emulation import Emulation

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from papers.testbed import _common as testbed  # noqa: E402
from tests.linux.aodvd import PROGRAM, Daemons, address  # noqa: E402

FIGURES = ROOT / "docs" / "img" / "aodvd.json"
HOPS = (2, 3, 4)
SEARCHES = 40
WARM = 5.0
"""Seconds of HELLO messages before the first measurement."""
PAPER_MS = {2: (7.0, 965.0), 3: (10.0, 3212.0), 4: (331.0, 5183.0)}
"""Table 2 of the paper: median and maximum."""
WALK_S = 120
SEEDS = (1,)
RUNS = 5


class Net:
    """An emulation with the interface that the tests expect."""

    def __init__(self, net: Emulation) -> None:
        self.net = net

    def run(self, node: str, *words: str) -> subprocess.CompletedProcess[str]:
        return self.net[node].run(*words, check=False)

    def start(self, node: str, *words: str) -> subprocess.Popen[str]:
        return self.net[node].start(*words)


@contextmanager
def mesh(scenario: fourhop.Scenario, seed: int = 1, more: str = "") -> Iterator[Daemons]:
    """The nodes of an emulation, ready for daemons; the emulator's final output is in `report`."""
    with tempfile.TemporaryDirectory(prefix="fourhop-aodvd-") as folder:
        radio = f"{folder}/radio"
        with fourhop.emulate(scenario, tap=True, flows=False, seed=seed, radio=radio) as net:
            # The source of signal strengths, whether used or not.
            yield Daemons(Net(net), Path(folder), more)  # type: ignore[arg-type]
        if not net.report["truth"]["holds"]:
            print(f"    (not true in time: {net.report['truth']['because']})", flush=True)


def signal(daemons: Daemons, threshold: float | None) -> str:
    """The configuration table of a daemon that uses signal strengths, or only shows them."""
    said = f'[signal]\nsource = "emulator"\nemulator = "{daemons.folder}/radio"\n'
    return said if threshold is None else f"{said}threshold = {threshold:.2f}\n"


def stop(daemons: Daemons) -> None:
    for process in daemons.processes.values():
        process.terminate()
    for process in daemons.processes.values():
        process.wait(20)
    daemons.processes.clear()


def searched(hops: int) -> list[float]:
    """Times of route discoveries over `hops`, in ms, each by daemons without routes; infinite if it failed."""
    found = []
    with mesh(testbed.hallway("standard", hops)) as daemons:
        for _ in range(SEARCHES):
            daemons.start(*range(hops + 1), tables=signal(daemons, testbed.threshold_dbm()))
            time.sleep(WARM)
            daemons.net.run(f"n{hops}", "ping", "-c", "1", "-W", "15", "n0")
            time.sleep(0.3)
            searches = {one["destination"]: one for one in daemons.show(hops)["searches"]}
            first = searches.get(address(0), {}).get("first_s")
            found.append(math.inf if first is None else 1e3 * first)
            stop(daemons)
    return sorted(found)


def simulated_searches(hops: int) -> list[float]:
    """The same in the simulator, as in the study of table 2."""
    scenario = testbed.hallway(
        "standard", hops, "ping", routing=testbed.aware(ttl_start=2), duration="30s", warmup="1s"
    )
    times = fourhop.run(scenario, runs=SEARCHES, jobs=1).flows["discovery_first_s"].to_list()
    return sorted(math.inf if one is None else 1e3 * one for one in times)


def searches() -> None:
    """Time from the first request to the reply."""
    print("| hops | | least | median | largest | below 30 ms | 320 ms and more | ended |")
    print("|---|---|---|---|---|---|---|---|")
    with ThreadPoolExecutor(len(HOPS)) as pool:
        found = dict(zip(HOPS, pool.map(searched, HOPS), strict=True))
    for hops in HOPS:
        median, largest = PAPER_MS[hops]
        print(f"| {hops} | the paper | | {median:g} ms | {largest:g} ms | | | 40 of 40 |")
        for name, times in (("simulator", simulated_searches(hops)), ("daemon", found[hops])):
            ended = [one for one in times if math.isfinite(one)]
            shares = [sum(ms < 30 for ms in times), sum(ms >= 320 for ms in times)]
            print(
                f"| {hops} | {name} | {times[0]:.0f} ms | {statistics.median(times):.0f} ms | {max(ended):.0f} ms | "
                f"{shares[0]} | {shares[1]} | {len(ended)} of {len(times)} |",
                flush=True,
            )


def walk(speed: float, aware: bool, seed: int) -> dict[str, Any]:
    """The client walks from the server to the end of four hops with iperf3 running."""
    with mesh(testbed.walking("standard", 4, speed), seed) as daemons:
        begun = time.monotonic()
        daemons.start(*range(5), tables=signal(daemons, testbed.threshold_dbm() if aware else None))
        server = daemons.net.start("n0", "iperf3", "-s", "-1")
        time.sleep(max(0.0, testbed.START_S - (time.monotonic() - begun)))
        # An outage can cost iperf3 its control connection, for which it would wait for ever: `timeout` stops it.
        limit = ("timeout", "-s", "INT", "-k", "5", str(WALK_S + 10))
        done = daemons.net.run("n4", *limit, "iperf3", "-J", "-C", "reno", "-c", "n0", "-l", "8K", "-t", str(WALK_S))
        server.kill()
        measured = json.loads(done.stdout)
        if "error" in measured and "sum_received" not in measured.get("end", {}):
            print(f"    ({measured['error']})")
        seconds = [one["sum"]["bits_per_second"] / 1e3 for one in measured["intervals"]]
        state = daemons.show(4)
        search = next(one for one in state["searches"] if one["destination"] == address(0))
        received = measured["end"].get("sum_received", {}).get("bits_per_second", 0.0) / 1e3
        return {
            "kbit": received or statistics.fmean(seconds or [0.0]),
            "seconds": seconds,
            "outages": sum(one == 0 for one in seconds),
            "changes": search["route_changes"],
            "searches": search["found"],
        }


def simulated_walks(speed: float, aware: bool) -> list[dict[str, Any]]:
    """The simulator's prediction."""
    routing = testbed.aware() if aware else dict(testbed.PLAIN)
    scenario = testbed.walking("standard", 4, speed, routing=routing, sample_every="1s")
    result = fourhop.run(scenario, runs=RUNS, jobs=1)
    rows = []
    for flow in result.flows.iter_rows(named=True):
        series = result.series.filter((polars.col("seed") == flow["seed"]) & (polars.col("time_s") > testbed.START_S))
        rows.append(
            {
                "kbit": flow["goodput_bps"] / 1e3,
                "outages": int((series["goodput_bps"] == 0).sum()),
                "changes": flow["route_changes"],
            }
        )
    return rows


def label(speed: float, aware: bool) -> str:
    return f"{speed:g} m/s, {'with' if aware else 'without'} signal"


def walks() -> None:
    """Throughput, outages and route changes of a client that walks, with and without regard to the signal."""
    cases = [(speed, aware) for speed in (0.33, 1.0) for aware in (True, False)]
    with ThreadPoolExecutor(len(cases)) as pool:
        real = list(pool.map(lambda case: [walk(case[0], case[1], seed) for seed in SEEDS], cases))
    FIGURES.write_text(
        json.dumps({label(*case): rows for case, rows in zip(cases, real, strict=True)}) + "\n", encoding="utf-8"
    )
    draw()
    print(f"| walk | | kbit/s | seconds of {WALK_S} without data | changes of the next hop | searches |")
    print("|---|---|---|---|---|---|")
    for case, runs in zip(cases, real, strict=True):
        for name, rows in (("daemon", runs), ("simulator", simulated_walks(*case))):
            cells = []
            for key in ("kbit", "outages", "changes", "searches"):
                values = [row[key] for row in rows if key in row]
                mean = f"{statistics.fmean(values):.4g} ({min(values):.4g} to {max(values):.4g})" if values else ""
                cells.append(mean)
            print(f"| {label(*case)} | {name} | {' | '.join(cells)} |", flush=True)


def draw() -> None:
    """One walk of each kind, second by second."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    found: dict[str, list[dict[str, list[float]]]] = json.loads(FIGURES.read_text(encoding="utf-8"))
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3), layout="constrained", sharey=True)
    for n, (name, rows) in enumerate(found.items()):
        speed, what = name.split(", ")
        axes[n // 2].plot([one / 1e3 for one in rows[0]["seconds"]], label=what, linewidth=1.0)
        axes[n // 2].set(title=f"walking at {speed}", xlabel="seconds", ylim=(0, None))
    axes[0].set_ylabel("iperf3, Mbit/s")
    axes[0].legend(frameon=False)
    figure.savefig(FIGURES.with_suffix(".png"), dpi=150, metadata={"Software": None})


def resident(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS")))


def many() -> None:
    """Thirty nodes in a grid: what the daemons take of the processor, idle and with traffic."""
    seconds = 30
    scenario = fourhop.Scenario.from_dict(
        {
            "profile": "standard",
            "duration": "600s",
            "topology": {"kind": "grid", "rows": 5, "columns": 6},
            "flows": [{"from": 0, "to": 1, "transport": "newreno"}],
        }
    )
    print("| 30 daemons | processor, all | of the busiest | memory of the largest | messages/s, all nodes |")
    print("|---|---|---|---|---|")
    with mesh(scenario) as net:
        nodes = range(30)
        net.start(*nodes)
        time.sleep(WARM)
        for name, flows in (("idle", ()), ("ten flows of 20 packets/s", [(n, 29 - n) for n in range(10)])):
            pings = [
                net.net.start(f"n{src}", "ping", "-i", "0.05", "-w", str(seconds), f"n{dst}") for src, dst in flows
            ]
            before = [net.show(node) for node in nodes]
            time.sleep(seconds)
            after = [net.show(node) for node in nodes]
            spent = [b["processor_s"] - a["processor_s"] for a, b in zip(before, after, strict=True)]
            sent = sum(
                b["counters"][key] - a["counters"][key]
                for a, b in zip(before, after, strict=True)
                for key in (
                    "hellos_sent",
                    "rreq_originated",
                    "rreq_relayed",
                    "rrep_originated",
                    "rrep_forwarded",
                    "rerr_sent",
                )
            )
            memory = max(resident(process.pid) for process in net.processes.values())
            print(
                f"| {name} | {sum(spent) / seconds:.2%} | {max(spent) / seconds:.2%} | {memory / 1e3:.1f} MB | "
                f"{sent / seconds:.0f} |",
                flush=True,
            )
            for ping in pings:
                ping.wait(30)


FLOOD = """
import os, random, socket, struct, sys
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
out.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"right0")
draw = random.Random(1)
kinds = [
    struct.pack("!BBBBI4sI4sI", 1, 8, 0, 1, 7, bytes([10, 0, 0, 9]), 0, bytes([10, 0, 0, 2]), 5),
    struct.pack("!BBBB4sI4sI", 2, 0, 0, 1, bytes([10, 0, 0, 9]), 5, bytes([10, 0, 0, 1]), 3000),
    struct.pack("!BBBB4sI", 3, 0, 0, 1, bytes([10, 0, 0, 9]), 5),
    bytes([4, 0]),
]
for n in range(int(sys.argv[1])):
    message = bytearray(draw.choice(kinds))
    for _ in range(draw.randrange(4)):
        message[draw.randrange(len(message))] = draw.randrange(256)
    if draw.randrange(8) == 0:
        message = message[: draw.randrange(len(message) + 1)]
    out.sendto(bytes(message), ("255.255.255.255", 654))
"""


def flood() -> None:
    """A million mutated messages over a wire, as fast as one program sends them."""
    count = 1_000_000
    names = [f"fhaodvdflood{n}" for n in "ab"]

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True)

    with tempfile.TemporaryDirectory(prefix="fourhop-aodvd-") as folder:
        try:
            for n, name in enumerate(names):
                ip("netns", "add", name)
                ip("-n", name, "link", "set", "lo", "up")
                ip("-n", name, "addr", "add", f"10.0.0.{n + 1}/32", "dev", "lo")
            ip("link", "add", "left0", "netns", names[0], "type", "veth", "peer", "name", "right0", "netns", names[1])
            ip("-n", names[0], "link", "set", "left0", "up")
            ip("-n", names[1], "link", "set", "right0", "up")
            file = Path(folder) / "a.toml"
            file.write_text(
                'address = "10.0.0.1"\ninterfaces = ["left0"]\nmesh = ["10.0.0.0/24"]\n[limits]\nrate = 100000\n'
                f'originator_rate = 100000\n[system]\nuser = "root"\ncontrol = "{folder}/c"\nstate = "{folder}/s"\n'
            )
            inside = [["nsenter", f"--net=/run/netns/{name}"] for name in names]
            command = [*inside[0], str(PROGRAM), "run", "--config", str(file)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as daemon:
                assert daemon.stdout is not None
                daemon.stdout.readline()
                memory = []
                begun = time.monotonic()
                for _ in range(10):
                    subprocess.run([*inside[1], "python3", "-c", FLOOD, str(count // 10)], check=True)
                    memory.append(resident(daemon.pid))
                took = time.monotonic() - begun
                time.sleep(1.5)
                state = json.loads(
                    subprocess.run(
                        [str(PROGRAM), "routes", "--json", "--control", f"{folder}/c"],
                        check=True,
                        capture_output=True,
                        text=True,
                    ).stdout
                )
                daemon.terminate()
        finally:
            for name in names:
                subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
    print(f"{count} messages in {took:.0f} s; refused {state['refused']}")
    taken = sum(one["messages"] for one in state["neighbours"])
    lost = count - taken - sum(state["refused"].values())
    print(f"taken {taken}, lost at the full socket {lost}; routes {len(state['routes'])}")
    print(f"processor {state['processor_s']:.1f} s")
    print(f"memory after each tenth, MB: {', '.join(f'{kb / 1e3:.1f}' for kb in memory)}")


QUESTIONS = {"searches": searches, "walks": walks, "draw": draw, "many": many, "flood": flood}

if __name__ == "__main__":
    print(f"load: {Path('/proc/loadavg').read_text(encoding='utf-8').split()[0]}")
    for name in sys.argv[1:] or [one for one in QUESTIONS if one != "draw"]:
        print(f"\n{name}: {QUESTIONS[name].__doc__}", flush=True)
        QUESTIONS[name]()
