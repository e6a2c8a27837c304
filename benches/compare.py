"""fourhop, ns-2 and ns-3 on the same scenarios in one sitting.

The simulators take turns, seed by seed. Time is the processor time of the whole command, including start-up, so that
other load on the machine hardly disturbs the comparison. Simulators that are not installed are named and skipped.
Writes the tables between the marks in docs/performance.md and every run to docs/performance.json.

    .venv/bin/python benches/compare.py [--repetitions 5] [--only TEXT] [--unseen SEED] [--also FILE:SECONDS]... [--dry]

fourhop runs as `fourhop run` of `make build`, ns-2 as benches/ns2/run.tcl (Debian's ns2), ns-3 as benches/ns3/chain.cc
or wifi.cc (Debian's libns3-dev). ns-3 gets less simulated time. Only fourhop runs networks of 10,000 nodes, once.
crates/sim/examples/run.rs runs each network again, untimed, to count frames and receptions.
"""

import argparse
import datetime
import json
import os
import platform
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import make_scenarios
import saturated

import fourhop

ROOT = Path(__file__).resolve().parent.parent
FOURHOP = ROOT / ".venv" / "bin" / "fourhop"
COUNTER = ROOT / "target" / "release" / "examples" / "run"
NS3 = ROOT / "benches" / "ns3" / "chain"
NS3_WIFI = ROOT / "benches" / "ns3" / "wifi"
REPORT = ROOT / "docs" / "performance.md"
HEADERS = Path("/usr/include/ns3")
SIMULATORS = ("fourhop", "ns-2", "ns-3")


@dataclass
class Scenario:
    """A file, and the simulated seconds of each simulator; 0 means not at all."""

    name: str
    file: Path
    seconds: float
    ns2_seconds: float
    ns3_seconds: float
    once: bool = False
    wifi: tuple[str, ...] = ()
    """Arguments of benches/ns3/wifi.cc, which runs saturated 802.11n."""

    def duration(self, simulator: str) -> float:
        return {"fourhop": self.seconds, "ns-2": self.ns2_seconds, "ns-3": self.ns3_seconds}[simulator]


@dataclass
class Run:
    """Cost and result of one run."""

    scenario: str
    simulator: str
    seed: int
    simulated_s: float
    cpu_s: float
    wall_s: float
    peak_mib: float
    events: int | None
    goodput_kbps: float
    frames: int | None = None
    receptions: int | None = None

    @property
    def speed(self) -> float:
        """Simulated seconds per second of processor time."""
        return self.simulated_s / self.cpu_s

    @property
    def scheduled(self) -> int:
        """Its events, if the simulator counts them."""
        assert self.events is not None
        return self.events

    @property
    def received(self) -> int:
        """Its receptions, if the simulator counts them."""
        assert self.receptions is not None
        return self.receptions


def bench(name: str, seconds: float, ns2: float | None = None, ns3: float = 0.0, once: bool = False) -> Scenario:
    file = ROOT / "scenarios" / "bench" / f"{name}.txt"
    if not file.exists():
        make_scenarios.write(file.parent, name)
    return Scenario(name, file, seconds, seconds if ns2 is None else ns2, ns3, once)


SCENARIOS = [
    bench("chain7", 4000, ns3=60),
    bench("chain8", 4000, ns3=60),
    bench("chain16", 4000, ns3=40),
    bench("random120", 600, ns3=15),
    bench("grid7", 600, ns3=15),
    bench("grid10", 600, ns3=15),
    bench("random10000", 60, ns2=0, once=True),
]


def fewer(flows: int, seconds: float, folder: str) -> Scenario:
    """The first flows of the network of 10,000 nodes; one begins every 0.1 s."""
    lines = bench("random10000", seconds, ns2=0, once=True).file.read_text().splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if line.startswith("flow "))
    file = Path(folder) / "fewer.txt"
    file.write_text("".join(lines[: first + flows]))
    return Scenario(f"random10000, {flows} flows", file, seconds, 0.0, 0.0, once=True)


def unseen(seed: int, folder: str) -> Iterator[Scenario]:
    """New networks of the same kinds, drawn with `seed` and written into `folder`."""
    draw = random.Random(seed)
    hops, side = draw.choice((5, 6, 9, 10, 11, 12, 13)), draw.choice((6, 8, 9))
    made = {
        f"chain of {hops} hops": (make_scenarios.chain(hops), 4000, 60),
        f"grid of {side} x {side}, drawn": (make_scenarios.grid(side, 2 * (side - 2), seed), 600, 15),
        "120 random nodes, drawn": (make_scenarios.field(make_scenarios.NODES, 10, 2, 9, seed), 600, 15),
    }
    for number, (name, (network, seconds, ns3_seconds)) in enumerate(made.items()):
        file = Path(folder) / f"unseen-{number}.txt"
        file.write_text(make_scenarios.text(*network))
        yield Scenario(name, file, seconds, seconds, ns3_seconds)


def aggregates(folder: str) -> Iterator[Scenario]:
    """802.11n with aggregates and saturated senders; ns-2.35 has no 802.11n."""
    for name, network, words in (
        ("802.11n, 5 stations", saturated.cell(5), ("--stations=5",)),
        ("802.11n, 10 stations", saturated.cell(10), ("--stations=10",)),
        ("802.11n, 3 hops", saturated.chain(3), ("--hops=3", f"--aside={saturated.ASIDE}")),
    ):
        file = Path(folder) / f"{name}.toml"
        file.write_text(fourhop.Scenario.from_dict(saturated.document(network)).to_toml())
        yield Scenario(name, file, 100, 0.0, 5, wifi=words)


def prepare() -> tuple[list[str], list[str]]:
    """Builds what can be built. Returns the available simulators, and why others are missing."""
    subprocess.run(["make", "--silent", "build"], cwd=ROOT, check=True)
    subprocess.run(["cargo", "build", "--release", "-p", "fourhop-sim", "--example", "run"], cwd=ROOT, check=True)
    present, missing = ["fourhop"], []
    if shutil.which("ns"):
        present.append("ns-2")
    else:
        missing.append("ns-2 is not installed (Debian: ns2): skipped")
    if HEADERS.exists():
        subprocess.run(["make", "--silent", "-C", str(NS3.parent), "chain", "wifi"], check=True)
        present.append("ns-3")
    else:
        missing.append("ns-3 is not installed (Debian: libns3-dev): skipped")
    return present, missing


def command(simulator: str, scenario: Scenario, seed: int) -> list[str]:
    seconds, file = scenario.duration(simulator), str(scenario.file)
    if simulator == "ns-2":
        return ["ns", str(ROOT / "benches" / "ns2" / "run.tcl"), file, "-seed", str(seed), "-duration", str(seconds)]
    if scenario.wifi and simulator == "ns-3":
        return [str(NS3_WIFI), *scenario.wifi, f"--seed={seed}", f"--duration={seconds}", "--warmup=1"]
    if simulator == "ns-3":
        return [str(NS3), file, f"--seed={seed}", f"--duration={seconds}"]
    return [str(FOURHOP), "run", file, "--seed", str(seed), "--runs", "1", "--duration", f"{seconds}s", "--json"]


def count(scenario: Scenario, seed: int) -> dict[str, int]:
    """Frames and receptions of a run of fourhop."""
    words = [str(COUNTER), str(scenario.file), "--seed", str(seed), "--duration", f"{scenario.seconds}s"]
    counted: dict[str, int] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return counted


def watch(pid: int) -> tuple[int, resource.struct_rusage, float]:
    """Waits for a process, and returns its status, resource usage and peak memory in MiB.

    The peak of getrusage would include this program, from before the child called exec.
    """
    peak, begun = 0, time.monotonic()
    while True:
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            peak = max([peak, *(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))])
        except OSError:
            pass
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            return status, usage, peak / 1024
        # The shortest runs take 8 ms.
        time.sleep(0.01 if time.monotonic() > begun + 0.1 else 0.0005)


def measure(simulator: str, scenario: Scenario, seed: int) -> Run:
    """One run."""
    with tempfile.TemporaryFile("w+") as out:
        begun = time.monotonic()
        process = subprocess.Popen(command(simulator, scenario, seed), stdout=out, stderr=subprocess.DEVNULL)
        status, usage, peak = watch(process.pid)
        wall = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"{simulator} on {scenario.name}, seed {seed}: exit status {process.returncode}")
        out.seek(0)
        result = json.loads(next(line for line in out if line.startswith("{")))
    ours = simulator == "fourhop"
    counted = count(scenario, seed) if ours else {}
    if ours:
        goodput = result["aggregate_goodput_bps"]["mean"] / 1000
    else:
        goodput = result["goodput_bps"] / 1000 if scenario.wifi else sum(result["goodput_kbps"])
    return Run(
        scenario=scenario.name,
        simulator=simulator,
        seed=seed,
        simulated_s=scenario.duration(simulator),
        cpu_s=usage.ru_utime + usage.ru_stime,
        wall_s=wall,
        peak_mib=peak,
        events=result.get("events"),
        goodput_kbps=goodput,
        frames=counted.get("frames"),
        receptions=counted.get("receptions"),
    )


# Runs shorter than this are repeated, up to this many times: clock and host distort runs of a fifth of a second.
STEADY_S = 1.0
MOST_RUNS = 5


def measure_steadily(simulator: str, scenario: Scenario, seed: int) -> Run:
    """One run, or if it is short, the median of several."""
    runs = [measure(simulator, scenario, seed)]
    while sum(run.cpu_s for run in runs) < STEADY_S and len(runs) < MOST_RUNS:
        runs.append(measure(simulator, scenario, seed))
    return sorted(runs, key=lambda run: run.cpu_s)[len(runs) // 2]


def number(value: float) -> str:
    """Three significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def millions(value: float) -> str:
    return f"{value / 1e6:.2f}"


def rows(scenarios: Iterable[Scenario], runs: list[Run]) -> Iterator[str]:
    """Rows of the table, scenario by scenario."""
    yield (
        "| scenario | simulator | simulated s per s | fourhop is faster by (min .. max) | million events per s "
        "| million receptions per s | ns per reception | peak MiB | goodput kbit/s |"
    )
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    for scenario in scenarios:
        ours = [run for run in runs if run.scenario == scenario.name and run.simulator == "fourhop"]
        for simulator in SIMULATORS:
            these = [run for run in runs if run.scenario == scenario.name and run.simulator == simulator]
            if not these:
                continue

            def median(of: Callable[[Run], float], these: list[Run] = these) -> float:
                return statistics.median(of(run) for run in these)

            ratios = [mine.speed / run.speed for mine, run in zip(ours, these, strict=False)]
            faster = ""
            if simulator != "fourhop":
                faster = f"{statistics.median(ratios):.1f} ({min(ratios):.1f} .. {max(ratios):.1f})"
            received = these[0].receptions is not None
            yield (
                "| "
                + " | ".join(
                    [
                        scenario.name if simulator == "fourhop" else "",
                        f"{simulator}, {these[0].simulated_s:g} s",
                        number(median(lambda run: run.speed)),
                        faster,
                        millions(median(lambda run: run.scheduled / run.cpu_s)) if these[0].events else "",
                        millions(median(lambda run: run.received / run.cpu_s)) if received else "",
                        f"{median(lambda run: 1e9 * run.cpu_s / run.received):.0f}" if received else "",
                        f"{median(lambda run: run.peak_mib):.1f}",
                        f"{statistics.mean(run.goodput_kbps for run in these):.0f}",
                    ]
                )
                + " |"
            )


# Target speed relative to ns-2 for the median of each network, by a part of the networks' names.
TARGETS = {"chain": 9.5, "120": 25.0, "grid": 17.0}
# 10,000 nodes with 190 flows: peak, and time per reception relative to that with 120 nodes.
TARGET_MIB, TARGET_COST = 250.0, 6.0


def targets(runs: list[Run]) -> Iterator[str]:
    """One line per target: the measurement, and whether the target is met."""

    def verdict(met: bool) -> str:
        return "met" if met else "not met"

    def of(name: str, simulator: str) -> list[Run]:
        return [run for run in runs if (run.scenario, run.simulator) == (name, simulator)]

    def cost(name: str) -> float:
        return statistics.median(1e9 * run.cpu_s / run.received for run in of(name, "fourhop"))

    names = dict.fromkeys(run.scenario for run in runs)
    for part, target in TARGETS.items():
        pairs = {name: zip(of(name, "fourhop"), of(name, "ns-2"), strict=False) for name in names if part in name}
        ratios = {name: [mine.speed / its.speed for mine, its in both] for name, both in pairs.items()}
        medians = {name: statistics.median(each) for name, each in ratios.items() if each}
        if medians:
            listed = ", ".join(f"{name} {median:.1f}" for name, median in medians.items())
            yield f"{target:g} times ns-2: {listed}; {verdict(min(medians.values()) >= target)}."
    large = next((name for name in names if "190 flows" in name), None)
    if large and of("random120", "fourhop"):
        peak = max(run.peak_mib for run in of(large, "fourhop"))
        yield f"{large} in {TARGET_MIB:g} MiB: {peak:.0f} MiB; {verdict(peak <= TARGET_MIB)}."
        ratio = cost(large) / cost("random120")
        yield (
            f"{large} at {TARGET_COST:g} times the cost per reception of random120: {ratio:.1f} times; "
            f"{verdict(ratio <= TARGET_COST)}."
        )


def two_cores(scenario: Scenario, repetitions: int) -> str:
    """Wall-clock speed-up of two independent runs on two cores over running them one after the other."""
    gains = []
    for seed in range(1, repetitions + 1):
        words = command("fourhop", scenario, seed)
        times = []
        for together in (1, 2, 1):
            begun = time.monotonic()
            for process in [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(together)]:
                process.wait()
            times.append(time.monotonic() - begun)
        gains.append((times[0] + times[2]) / times[1])
    return (
        f"Two independent runs of {scenario.name} on two cores: {statistics.median(gains):.2f} times one "
        f"({min(gains):.2f} .. {max(gains):.2f})."
    )


def start_up(repetitions: int) -> Iterator[str]:
    """Start-up time of the package and the command line, those of `.venv` if there is one."""
    places = os.pathsep.join([str(ROOT / ".venv" / "bin"), os.environ.get("PATH", os.defpath)])
    for name, what in (
        ("import fourhop", ["python", "-c", "import fourhop"]),
        ("fourhop --help", ["fourhop", "--help"]),
    ):
        program = shutil.which(what[0], path=places)
        times = []
        for _ in range(repetitions):
            begun = time.monotonic()
            if program and subprocess.run([program, *what[1:]], capture_output=True).returncode == 0:
                times.append(time.monotonic() - begun)
        if times:
            yield f"`{name}`: {statistics.median(times):.2f} s ({min(times):.2f} .. {max(times):.2f})."
        else:
            yield f"`{name}`: skipped, it is not installed (`make build`)."


def machine() -> dict[str, Any]:
    model = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "date": datetime.date.today().isoformat(),
        "commit": commit.stdout.strip(),
        "load": f"{os.getloadavg()[1]:.1f}",
    }


def write_between(report: Path, mark: str, text: str) -> None:
    """Replaces the text between the two marks of the report, or appends it."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    old = report.read_text() if report.exists() else "# Performance\n"
    if begin not in old:
        old += f"\n{begin}\n{end}\n"
    head, tail = old.split(begin)[0], old.split(end)[1]
    report.parent.mkdir(exist_ok=True)
    report.write_text(f"{head}{begin}\n{text}\n{end}{tail}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    today = int(datetime.date.today().strftime("%Y%m%d"))
    parser.add_argument(
        "--unseen", type=int, default=today, metavar="SEED", help="seed of new networks; 0: no new networks"
    )
    parser.add_argument("--also", action="append", default=[], metavar="FILE:SECONDS", help="further scenario files")
    parser.add_argument("--dry", action="store_true", help="print, write nothing")
    arguments = parser.parse_args()
    present, missing = prepare()
    scenarios = [scenario for scenario in SCENARIOS if arguments.only in scenario.name]
    for also in arguments.also:
        file, seconds = also.rsplit(":", 1)
        scenarios.append(Scenario(Path(file).stem, Path(file), float(seconds), float(seconds), 0.0))
    with tempfile.TemporaryDirectory() as folder:
        more = [
            fewer(190, 21, folder),
            *(unseen(arguments.unseen, folder) if arguments.unseen else ()),
            *aggregates(folder),
        ]
        scenarios += [each for each in more if arguments.only in each.name]
        measure_all(scenarios, present, missing, arguments)


def measure_all(
    scenarios: list[Scenario], present: list[str], missing: list[str], arguments: argparse.Namespace
) -> None:
    """Runs every scenario in every available simulator, prints the tables, and writes them unless it is a dry run."""
    runs = []
    for scenario in scenarios:
        for seed in range(1, (1 if scenario.once else arguments.repetitions) + 1):
            for simulator in present:
                if scenario.duration(simulator) > 0:
                    print(f"{scenario.name}, seed {seed}: {simulator}", file=sys.stderr)
                    runs.append(measure_steadily(simulator, scenario, seed))
    about = machine()
    lines = [
        f"{about['cpu']}, {about['cores']} cores, {about['system']}; {about['date']}, commit {about['commit']}; "
        f"load {about['load']}; one thread, medians of {arguments.repetitions} alternating pairs of runs with seeds "
        f"1, 2, ...; what is drawn is drawn with {arguments.unseen}.",
        "",
    ]
    lines += [f"{what}." for what in missing]
    lines += rows(scenarios, runs)
    longer = next((each for each in reversed(scenarios) if not each.once and not each.wifi), scenarios[0])
    remarks = [*targets(runs), two_cores(longer, arguments.repetitions), *start_up(5)]
    lines += ["", *(f"- {line}" for line in remarks)]
    print("\n".join(lines))
    if not arguments.dry:
        write_between(REPORT, "compare.py", "\n".join(lines))
        kept = {"machine": about, "runs": [asdict(run) for run in runs]}
        REPORT.with_suffix(".json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
