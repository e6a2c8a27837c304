"""Runs wifi.cc over the cases that tests of crates/sim compare, and prints their data file.

make -C benches/ns3 wifi && cd crates/sim/tests/data
python benches/ns3/wifi.py > ns3-wifi.txt               everything in range, for aggregation.rs
python benches/ns3/wifi.py farther > ns3-farther.txt    hidden stations, two channels, EDCA, for beside_ns3.rs
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("wifi")
SEEDS = 5
TIMES = ["--duration=5", "--warmup=1"]
CELLS: list[dict[str, object]] = [{"stations": n} for n in (1, 2, 5, 10)]
CHAINS: list[dict[str, object]] = [{"hops": n} for n in (1, 2, 3)]
CASES: list[dict[str, object]] = [
    *CELLS,
    *CHAINS,
    *({**cell, "rts": 1} for cell in (CELLS[0], CELLS[2], CELLS[3])),
    *({**chain, "rts": 1} for chain in CHAINS[1:]),
    {"stations": 1, "mcs": 0},
    {"stations": 5, "mcs": 3, "ampdu": 8000},
    {"stations": 1, "ampdu": 0},
    {"stations": 5, "ampdu": 0},
    {"stations": 2, "mcs": 7, "streams": 2, "width": 40, "shortGuard": 1, "interval": 5e-5},
    {"stations": 2, "standard": "ac", "mcs": 9, "width": 80, "interval": 2.5e-5, "ampdu": 1048575},
]

ASIDE = 2
Case = dict[str, object]
FARTHER: list[Case] = [
    *(Case(hops=hops, spacing=metres, mcs=3, aside=ASIDE) for metres in (10, 20, 40) for hops in (3, 5)),
    # Where hops of 40 m interfere, error rates decide.
    *(Case(hops=hops, spacing=40, mcs=3, aside=ASIDE, errors="Nist") for hops in (3, 5)),
    *(Case(hops=hops, channels=2, aside=ASIDE) for hops in (2, 3, 5)),
    *(
        Case(stations=each.count(",") + 1, categories=each)
        for each in ("vo,be", "vi,be", "be,bk", "vi,vi,be,be", "vi,be,bk")
    ),
]


def flows(case: dict[str, object], seed: int) -> list[float]:
    """Goodput of each flow of one run, in Mbit/s."""
    arguments = [f"--{key}={value}" for key, value in case.items()]
    done = subprocess.run([PROGRAM, *arguments, *TIMES, f"--seed={seed}"], check=True, capture_output=True, text=True)
    return [float(each) / 1e6 for each in json.loads(done.stdout)["flows_bps"]]


def main() -> None:
    """Prints a line for each case: the goodput of all flows with its deviation, then, of several categories, each."""
    print("# ns-3.37, benches/ns3/wifi.cc: goodput in Mbit/s over 4 s, mean and standard deviation of 5 runs")
    for case in FARTHER if sys.argv[1:] == ["farther"] else CASES:
        runs = [flows(case, seed) for seed in range(1, SEEDS + 1)]
        sums = [sum(run) for run in runs]
        words = [f"{key}={value}" for key, value in case.items()]
        if "categories" in case:
            words.append("flows=" + ",".join(f"{statistics.mean(each):.3f}" for each in zip(*runs, strict=True)))
        print(f"{statistics.mean(sums):.3f} {statistics.stdev(sums):.3f} {' '.join(words)}", flush=True)


if __name__ == "__main__":
    main()
