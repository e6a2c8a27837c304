"""Cost of a reception, and memory of a node, from 100 to 100,000 nodes.

Random networks at the density of `make_scenarios.NODES` in `make_scenarios.AREA_M`, with one flow per hundred nodes,
over 2 to 8 hops, starting one after the other between 1 s and 9 s of 10 s: most traffic is floods of route requests.
Time is processor time of the whole process; a second run, which ends when the flows would start, shows how much of it
is parsing and start-up. Writes a table into docs/performance.md and the picture docs/img/scale.png.

    python3 benches/scale.py [--most NODES] [--dry] [--binary PATH]
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import compare
from make_scenarios import field

NODES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
NODES_A_FLOW = 100
SIMULATED_S = 10
PICTURE = compare.ROOT / "docs" / "img" / "scale.png"
# Small networks run too briefly for the clock.
REPETITIONS = {100: 5, 300: 3, 1_000: 3}


def scenario(nodes: int, seconds: int, begin: float, end: float) -> str:
    """A network whose flows begin between `begin` and `end`, as TOML."""
    positions, flows = field(nodes, max(1, nodes // NODES_A_FLOW), 2, 8, seed=3)
    lines = ['profile = "ns2"', f'duration = "{seconds}s"', 'warmup = "0s"']
    lines += ["[topology]", 'kind = "positions"', "positions = ["]
    lines += [f'  ["{x}m", "{y}m"],' for x, y in positions]
    lines += ["]"]
    for number, (source, sink, _) in enumerate(flows):
        start = begin + (end - begin) * number / len(flows)
        lines += ["[[flows]]", f"from = {source}", f"to = {sink}", 'transport = "newreno"', f'start = "{start:.9f}s"']
    return "\n".join(lines) + "\n"


def measured(folder: str, nodes: int) -> dict[str, float]:
    """Runs of one size: receptions, processor time in total and before the first flow, peak memory."""

    def run(seconds: int, begin: float, end: float, times: int) -> list[compare.Run]:
        file = Path(folder) / f"{nodes}-{seconds}.toml"
        file.write_text(scenario(nodes, seconds, begin, end))
        case = compare.Scenario(f"{nodes} nodes", file, seconds, 0, 0)
        return [compare.measure("fourhop", case, seed) for seed in range(1, times + 1)]

    times = REPETITIONS.get(nodes, 1)
    whole, start = run(SIMULATED_S, 1, 9, times), run(1, 0.999, 1, times)
    cpu = statistics.median(each.cpu_s for each in whole)
    ready = statistics.median(each.cpu_s for each in start)
    receptions = statistics.median(each.received for each in whole)
    peak = statistics.median(each.peak_mib for each in whole)
    return {
        "nodes": nodes,
        "ready_s": ready,
        "cpu_s": cpu,
        "receptions": receptions,
        "ns": 1e9 * (cpu - ready) / receptions,
        "peak_mib": peak,
        "kib_a_node": 1024 * peak / nodes,
    }


def table(rows: Iterable[dict[str, float]]) -> Iterator[str]:
    """The measurements, for the page."""
    titles = ("nodes", "flows", "ready after s", "10 s take s", "million receptions", "ns per reception")
    yield f"| {' | '.join(titles)} | peak MiB | KiB per node |"
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        cells = [f"{row['nodes']:,}", f"{max(1, row['nodes'] // NODES_A_FLOW):,}"]
        cells += [compare.number(row[key]) for key in ("ready_s", "cpu_s")]
        cells += [compare.number(row["receptions"] / 1e6), f"{row['ns']:.0f}"]
        cells += [compare.number(row["peak_mib"]), compare.number(row["kib_a_node"])]
        yield f"| {' | '.join(cells)} |"


def draw(rows: Iterable[dict[str, float]]) -> None:
    """The picture: cost of a reception, and memory of a node."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    # A node of a small network has a large share of the process's base memory.
    panels = (("ns", "ns per reception"), ("kib_a_node", "KiB per node"))
    for axes, (key, label) in zip(figure.subplots(1, 2), panels, strict=True):
        axes.plot([row["nodes"] for row in rows], [row[key] for row in rows], "o-", color="#0072B2")
        axes.set(xscale="log", xlabel="nodes", ylabel=label)
        axes.set_ylim(0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="0.88", linewidth=0.6)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=NODES[-1], help="the largest network")
    parser.add_argument("--dry", action="store_true", help="print the table and write nothing")
    parser.add_argument("--binary", type=Path, help="measure this build instead of building")
    arguments = parser.parse_args()
    if arguments.binary:
        compare.FOURHOP = arguments.binary
    else:
        build = ["cargo", "build", "--release", "--locked", "-p", "fourhop-sim", "--example", "run"]
        subprocess.run(build, cwd=compare.ROOT, check=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for nodes in (nodes for nodes in NODES if nodes <= arguments.most):
            print(f"{nodes} nodes", file=sys.stderr)
            rows.append(measured(folder, nodes))
    about = compare.machine()
    lines = [f"{about['cpu']}; {about['date']}, commit {about['commit']}; load {about['load']}.", "", *table(rows)]
    print("\n".join(lines))
    if not arguments.dry:
        compare.write_between(compare.REPORT, "scale.py", "\n".join(lines))
        draw(rows)


if __name__ == "__main__":
    main()
