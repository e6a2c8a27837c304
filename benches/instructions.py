"""Counts the instructions of fixed runs with valgrind's callgrind: a measure that a busy machine does not disturb.

Builds crates/sim/examples/run.rs in release mode and prints, for each run, the instructions in total, per radiated
frame and per reception (a copy of a frame that ended at a receiver), then the functions and source files that took
them. `--record` writes the counts into docs/performance.md, where a regression shows in the diff.

    python3 benches/instructions.py [--top N] [--record] [--binary PATH]
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from compare import REPORT, write_between

ROOT = Path(__file__).resolve().parent.parent
BINARY = ROOT / "target" / "release" / "examples" / "run"
# The radio `sinr` with the path loss and thresholds of `threshold`, so that equally many copies of a frame arrive.
SINR = {
    "radio.model": "sinr",
    "radio.path_loss": "two-ray",
    "radio.frequency": "914MHz",
    "radio.tx_power": "0.28183815W",
    "radio.noise_figure": "22.48dB",
    "radio.cutoff": "0dB",
    "radio.sensitivity": "3.652e-10W",
    "radio.cca_energy": "1.559e-11W",
}
FADING = {"radio.fading": "rayleigh", "radio.doppler": "5Hz"}
# A chain with hops short enough for Rayleigh fading: 7 of 100 frames are lost.
SHORT_HOPS = {"topology.hops": "8", "topology.spacing": "130m", "routing.protocol": "static"}
# Name of the run, scenario, simulated time, radio, keys.
RUNS: list[tuple[str, str, str, str, dict[str, str]]] = [
    ("chain8", "bench/chain8.txt", "100s", "threshold", {}),
    ("random120", "bench/random120.txt", "10s", "threshold", {}),
    ("chain8", "bench/chain8.txt", "100s", "sinr", SINR),
    ("random120", "bench/random120.txt", "10s", "sinr", SINR),
    ("random120", "bench/random120.txt", "10s", "sinr with fading", SINR | FADING),
    ("chain of 8 x 130 m", "chain.toml", "60s", "threshold", SHORT_HOPS),
    ("chain of 8 x 130 m", "chain.toml", "60s", "sinr", SHORT_HOPS | SINR),
    ("chain of 8 x 130 m", "chain.toml", "60s", "sinr with fading", SHORT_HOPS | SINR | FADING),
]
Costs = Counter[str]
NAMED = re.compile(r"(?:(fl|fi|fe|fn|cfi|cfl|cfn|ob|cob)=)\((\d+)\)(?: (.*))?$")


def read_profile(path: Path) -> tuple[Costs, Costs, Costs]:
    """Self cost by function, inclusive cost by function, self cost by source file."""
    names: dict[str, dict[str, str]] = {"file": {}, "function": {}}
    own, inclusive, by_file = Costs(), Costs(), Costs()
    function = file = ""
    after_calls = False
    for line in path.read_text().splitlines():
        if match := NAMED.match(line):
            key, number, name = match.groups()
            kind = "function" if key in ("fn", "cfn") else "file"
            if key in ("ob", "cob"):
                continue
            if name is not None:
                names[kind][number] = name
            name = names[kind][number]
            if key == "fn":
                function = name
            elif key in ("fl", "fi", "fe"):
                file = name
        elif line.startswith("calls="):
            after_calls = True
        elif line[:1] in "0123456789+-*" and line:
            cost = int(line.split()[1])
            inclusive[function] += cost
            if not after_calls:
                own[function] += cost
                by_file[file] += cost
            after_calls = False
    return own, inclusive, by_file


def shorten(name: str) -> str:
    """Names of functions without generic parameters, paths of files from the crate or the standard library on."""
    name = re.sub(r"'\d+$|\.llvm\.\d+", "", name)
    name = re.sub(r"^.*?/library/", "std: ", name)
    return name.removeprefix(f"{ROOT}/")


def measure(
    binary: Path, scenario: str, duration: str, keys: dict[str, str], folder: str
) -> tuple[dict[str, Any], tuple[Costs, Costs, Costs]]:
    """One run under callgrind: its result and its profile."""
    profile = Path(folder) / "profile"
    command = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={profile}", str(binary)]
    command += [str(ROOT / "scenarios" / scenario), "--seed", "1", "--duration", duration]
    command += [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout), read_profile(profile)


def table(title: str, costs: dict[str, int], total: int, top: int) -> str:
    """The `top` largest of `costs` in per cent of `total`."""
    lines = [f"  {title}"]
    merged = Costs()
    for name, cost in costs.items():
        merged[shorten(name)] += cost
    lines += [f"    {100 * cost / total:6.2f} %  {cost:13,}  {name}" for name, cost in merged.most_common(top)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--top", type=int, default=25, help="rows of each table")
    parser.add_argument("--record", action="store_true", help="write the counts into docs/performance.md")
    parser.add_argument("--binary", type=Path, help="measure this build instead of building")
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("instructions.py: valgrind is not installed")
    if arguments.binary is None:
        subprocess.run(["cargo", "build", "--release", "-p", "fourhop-sim", "--example", "run"], cwd=ROOT, check=True)
    counts = []
    with tempfile.TemporaryDirectory() as folder:
        for name, scenario, duration, radio, keys in RUNS:
            result, (own, inclusive, by_file) = measure(arguments.binary or BINARY, scenario, duration, keys, folder)
            total = sum(own.values())
            row = {"scenario": name, "duration": duration, "radio": radio, "instructions": total}
            row |= {key: result[key] for key in ("events", "frames", "receptions")}
            row |= {f"per_{key[:-1]}": round(total / result[key], 1) for key in ("events", "frames", "receptions")}
            counts.append(row)
            print(f"{name}, {duration}, seed 1, radio {radio}: {total:,} instructions")
            print(f"  {result['events']:,} events, {result['frames']:,} frames, {result['receptions']:,} receptions")
            print(f"  {row['per_event']} per event, {row['per_frame']} per frame, {row['per_reception']} per reception")
            print(table("by function, without callees", own, total, arguments.top))
            ours = {name: cost for name, cost in inclusive.items() if "fourhop" in name}
            print(table("by function, with callees", ours, total, arguments.top))
            print(table("by source file, inlined code where it was written", by_file, total, arguments.top))
    if arguments.record:
        lines = ["| run | radio | instructions | per event | per frame radiated | per reception |"]
        lines += ["|---|---|---:|---:|---:|---:|"]
        lines += [
            f"| {row['scenario']}, {row['duration']}, seed 1 | {row['radio']} | {row['instructions']:,} "
            f"| {row['per_event']:,} | {row['per_frame']:,} | {row['per_reception']:,} |"
            for row in counts
        ]
        write_between(REPORT, "instructions.py", "\n".join(lines))


if __name__ == "__main__":
    main()
