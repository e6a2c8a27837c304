"""Why ns-3 differs: the same chains with one rule after another changed, in ns-3, in fourhop and in ns-2.

Prints a table of mean goodput in kbit/s over the seeds, with the half width of the 95 % interval, and with --json keeps
every run. Needs benches/ns3/chain (make -C benches/ns3) and the release build of crates/sim/examples/run.rs; ns-2's row
needs `ns`. What is missing is named and skipped.

    python3 benches/ns3/ladder.py [--hops 4 8 16] [--seeds 5] [--duration 500] [--ns3-seeds 3] [--ns3-duration 100]
                                  [--json FILE] [--only TEXT]

ns-3 is slow and is given fewer seeds and less simulated time.
"""

import argparse
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NS3 = ROOT / "benches" / "ns3" / "chain"
FOURHOP = ROOT / "target" / "release" / "examples" / "run"
NS2 = ROOT / "benches" / "ns2" / "run.tcl"
# Two-sided 95 % quantiles of Student's t for 1, 2, ... degrees of freedom.
STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]

NS2_RECEPTION = ["--capture=1", "--lock=1"]
VARIANTS = [
    ("ns-2.35", "ns2", []),
    ("fourhop, profile ns2", "fourhop", []),
    ("ns-3, sensing 550 m", "ns3", []),
    ("ns-3, 10 dB", "ns3", ["--capture=1"]),
    ("ns-3, 10 dB, lock", "ns3", NS2_RECEPTION),
    ("ns-3, 7 RTS", "ns3", ["--rtsLimit=7"]),
    ("ns-3, 10 dB, lock, 7 RTS", "ns3", [*NS2_RECEPTION, "--rtsLimit=7"]),
    ("ns-3, 10 dB, lock, 7 RTS, AODV parameters of ns-2", "ns3", [*NS2_RECEPTION, "--rtsLimit=7", "--aodv=ns2"]),
    ("ns-3, sensing 550 m, static routes", "ns3", ["--routing=static"]),
    ("ns-3, 10 dB, lock, 7 RTS, static routes", "ns3", [*NS2_RECEPTION, "--rtsLimit=7", "--routing=static"]),
    ("fourhop, static routes", "fourhop", ["routing.protocol=static"]),
    ("fourhop, RTS without limit", "fourhop", ["mac.short_retry_limit=255"]),
    ("fourhop, no lock on far frames", "fourhop", ["radio.lock_on_undecodable=false"]),
    ("fourhop, CTS also in an EIFS", "fourhop", ["mac.cts_refused_by_eifs=false"]),
    (
        "fourhop, RTS without limit, no lock",
        "fourhop",
        ["mac.short_retry_limit=255", "radio.lock_on_undecodable=false"],
    ),
    (
        "fourhop, RTS without limit, no lock, overlap needs 2 dB",
        "fourhop",
        ["mac.short_retry_limit=255", "radio.lock_on_undecodable=false", "radio.capture_ratio=2dB"],
    ),
    (
        "fourhop, RTS without limit, no lock, 2 dB, static routes",
        "fourhop",
        [
            "mac.short_retry_limit=255",
            "radio.lock_on_undecodable=false",
            "radio.capture_ratio=2dB",
            "routing.protocol=static",
        ],
    ),
    ("fourhop, profile standard", "fourhop", ["profile=standard"]),
    ("ns-3, sensing 250 m", "ns3", ["--sense=250"]),
    ("ns-3, AODV parameters of ns-2", "ns3", ["--aodv=ns2"]),
    ("ns-3, RTO at least 1 s", "ns3", ["--minRto=1"]),
    ("ns-3, no ARP", "ns3", ["--arp=0"]),
]


def available(kind):
    """Is the simulator there?"""
    return {"ns2": shutil.which("ns") is not None, "ns3": NS3.exists(), "fourhop": FOURHOP.exists()}[kind]


def run(kind, options, hops, seed, duration):
    """One run: goodput in kbit/s, and whatever counts the simulator gives."""
    scenario = str(ROOT / "scenarios" / "bench" / f"chain{hops}.txt")
    if kind == "ns3":
        command = [str(NS3), scenario, f"--seed={seed}", f"--duration={duration}", "--stats=1", *options]
    elif kind == "ns2":
        command = ["ns", str(NS2), scenario, "-seed", str(seed), "-duration", str(duration), "-stats", "1"]
    else:
        command = [str(FOURHOP), scenario, "--seed", str(seed), "--duration", f"{duration}s"]
        for option in options:
            command += ["--set", option]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    if kind == "fourhop":
        return result["aggregate_goodput_bps"] / 1e3, result
    return sum(result["goodput_kbps"]), result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hops", type=int, nargs="+", default=[4, 8, 16])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--duration", type=int, default=500)
    parser.add_argument("--ns3-seeds", type=int, default=3)
    parser.add_argument("--ns3-duration", type=int, default=100)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="", help="variants whose name contains this")
    arguments = parser.parse_args()
    rows = []
    print("| variant | " + " | ".join(f"{hops} hops" for hops in arguments.hops) + " |")
    print("|---|" + "---|" * len(arguments.hops))
    for name, kind, options in VARIANTS:
        if arguments.only not in name:
            continue
        if not available(kind):
            print(f"{name}: not installed or not built, skipped", file=sys.stderr)
            continue
        slow = kind == "ns3"
        seeds = arguments.ns3_seeds if slow else arguments.seeds
        duration = arguments.ns3_duration if slow else arguments.duration
        cells = []
        for hops in arguments.hops:
            runs = [run(kind, options, hops, seed, duration) for seed in range(1, seeds + 1)]
            goodputs = [goodput for goodput, _ in runs]
            mean = sum(goodputs) / len(goodputs)
            spread = math.sqrt(sum((g - mean) ** 2 for g in goodputs) / max(1, len(goodputs) - 1))
            half = STUDENT[len(goodputs) - 2] * spread / math.sqrt(len(goodputs)) if len(goodputs) > 1 else math.nan
            cells.append(f"{mean:.0f} ± {half:.0f}")
            rows.append(
                {
                    "variant": name,
                    "simulator": kind,
                    "options": options,
                    "hops": hops,
                    "duration_s": duration,
                    "goodput_kbps": goodputs,
                    "runs": [r for _, r in runs],
                }
            )
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows) + "\n")


if __name__ == "__main__":
    main()
