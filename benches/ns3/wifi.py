"""Runs wifi.cc over the cases that crates/sim/tests/aggregation.rs compares, and prints its data file.

make -C benches/ns3 wifi && python benches/ns3/wifi.py > crates/sim/tests/data/ns3-wifi.txt
"""

from __future__ import annotations

import json
import statistics
import subprocess
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


def goodput(case: dict[str, object], seed: int) -> float:
    """Of one run, in Mbit/s."""
    arguments = [f"--{key}={value}" for key, value in case.items()]
    done = subprocess.run([PROGRAM, *arguments, *TIMES, f"--seed={seed}"], check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout)["goodput_bps"]) / 1e6


def main() -> None:
    """Prints a line for each case."""
    print("# ns-3.37, benches/ns3/wifi.cc: goodput in Mbit/s over 4 s, mean and standard deviation of 5 runs")
    for case in CASES:
        runs = [goodput(case, seed) for seed in range(1, SEEDS + 1)]
        words = " ".join(f"{key}={value}" for key, value in case.items())
        print(f"{statistics.mean(runs):.3f} {statistics.stdev(runs):.3f} {words}", flush=True)


if __name__ == "__main__":
    main()
