"""Why ns-3 differs: the same chains with one rule after another changed, in ns-3, in fourhop and in ns-2.

Prints a table of mean goodput in kbit/s over the seeds, with the half width of the 95 % interval, and with --json keeps
every run. Needs benches/ns3/chain (make -C benches/ns3) and the release build of crates/sim/examples/run.rs; ns-2's row
needs `ns`. Missing programs are named and skipped.

    python3 benches/ns3/ladder.py [--hops 4 8 16] [--seeds 5] [--duration 300] [--ns3-duration 100] [--jobs 2]
                                  [--json benches/ns3/ladder.json] [--only TEXT ...]

ns-3 is slow and is given less simulated time, and 3 seeds at 16 hops.
"""

import argparse
import json
import math
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

COUNTS = ["rts_failed", "mac_drops", "own_rreq", "rerr", "no_route", "timeouts", "retransmitted"]
ROOT = Path(__file__).resolve().parents[2]
NS3 = ROOT / "benches" / "ns3" / "chain"
FOURHOP = ROOT / "target" / "release" / "examples" / "run"
NS2 = ROOT / "benches" / "ns2" / "run.tcl"
# Two-sided 95 % quantiles of Student's t for 1, 2, ... degrees of freedom.
STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]

NS2_RECEPTION = ["--capture=1", "--lock=1"]
NS2_MAC = [*NS2_RECEPTION, "--rtsLimit=7"]
ENDLESS_RTS = "mac.short_retry_limit=255"
# ns-3 withholds a CTS for the NAV alone.
NS3_CTS = "mac.cts_refused_by_eifs=false"
# Frames that cannot be decoded do not occupy the receiver, and one of two equally strong frames is received. (In ns-3
# that is the first one, here the later one.)
NS3_RECEPTION = ["radio.lock_on_undecodable=false", "radio.capture_ratio=0dB", "radio.late_capture=true"]
NS3_EIFS = ["mac.eifs_on_undecodable=false", "mac.eifs_ended_by_good_frame=true"]
# Differences of ns-3's AODV.
NS3_AODV = [
    "routing.repair=off",
    "routing.first_search=ttl-start",
    "routing.ttl_start=1",
    "routing.retry_tick=none",
    "routing.measured_wait_max=none",
    "routing.lock_out=none",
    "routing.purge_queue=false",
]
VARIANTS: list[tuple[str, str, list[str]]] = [
    ("ns-2.35", "ns2", []),
    ("fourhop, profile ns2", "fourhop", []),
    ("ns-3", "ns3", []),
    ("ns-3, 10 dB", "ns3", ["--capture=1"]),
    ("ns-3, 10 dB, lock", "ns3", NS2_RECEPTION),
    ("ns-3, 7 RTS", "ns3", ["--rtsLimit=7"]),
    ("ns-3, 10 dB, lock, 7 RTS", "ns3", NS2_MAC),
    ("ns-3, static routes", "ns3", ["--routing=static"]),
    ("ns-3, SACK", "ns3", ["--sack=1"]),
    ("ns-3, static routes, SACK", "ns3", ["--routing=static", "--sack=1"]),
    ("ns-3, deaf beyond 250 m, SACK", "ns3", ["--sense=250", "--sack=1"]),
    ("ns-3, 7 RTS, SACK", "ns3", ["--rtsLimit=7", "--sack=1"]),
    ("ns-3, 10 dB, lock, SACK", "ns3", [*NS2_RECEPTION, "--sack=1"]),
    ("ns-3, 10 dB, lock, 7 RTS, SACK", "ns3", [*NS2_MAC, "--sack=1"]),
    ("ns-3, 10 dB, lock, 7 RTS, SACK, AODV parameters of ns-2", "ns3", [*NS2_MAC, "--sack=1", "--aodv=ns2"]),
    ("fourhop, endless RTS", "fourhop", [ENDLESS_RTS]),
    ("fourhop, static routes", "fourhop", ["routing.protocol=static"]),
    ("fourhop, no repair of routes by relays", "fourhop", ["routing.repair=off"]),
    ("fourhop, AODV as in ns-3", "fourhop", NS3_AODV),
    ("fourhop, AODV and CTS as in ns-3", "fourhop", [*NS3_AODV, NS3_CTS]),
    ("fourhop, AODV and CTS as in ns-3, SACK", "fourhop", [*NS3_AODV, NS3_CTS, "--transport=sack"]),
    ("fourhop, no repair, CTS as in ns-3, SACK", "fourhop", ["routing.repair=off", NS3_CTS, "--transport=sack"]),
    ("fourhop, SACK", "fourhop", ["--transport=sack"]),
    ("fourhop, endless RTS, reception of ns-3", "fourhop", [ENDLESS_RTS, NS3_CTS, *NS3_RECEPTION]),
    (
        "fourhop, endless RTS, reception and EIFS of ns-3",
        "fourhop",
        [ENDLESS_RTS, NS3_CTS, *NS3_RECEPTION, *NS3_EIFS],
    ),
    (
        "fourhop, endless RTS, reception and EIFS of ns-3, SACK",
        "fourhop",
        [ENDLESS_RTS, NS3_CTS, *NS3_RECEPTION, *NS3_EIFS, "--transport=sack"],
    ),
    ("fourhop, reception of ns-3", "fourhop", NS3_RECEPTION),
    (
        "fourhop, reception, CTS and EIFS of ns-3, no repair, SACK",
        "fourhop",
        [NS3_CTS, *NS3_RECEPTION, *NS3_EIFS, "routing.repair=off", "--transport=sack"],
    ),
]


def available(kind: str) -> bool:
    """Whether the simulator is installed."""
    return {"ns2": shutil.which("ns") is not None, "ns3": NS3.exists(), "fourhop": FOURHOP.exists()}[kind]


def run(kind: str, options: list[str], duration: int, hops: int, seed: int) -> dict[str, Any]:
    """One run: goodput in kbit/s, and the counts of ns-2 and ns-3."""
    scenario = str(ROOT / "scenarios" / "bench" / f"chain{hops}.txt")
    if kind == "ns3":
        command = [str(NS3), scenario, f"--seed={seed}", f"--duration={duration}", "--stats=1", *options]
    elif kind == "ns2":
        command = ["ns", str(NS2), scenario, "-seed", str(seed), "-duration", str(duration), "-stats", "1"]
    else:
        command = [str(FOURHOP), scenario, "--seed", str(seed), "--duration", f"{duration}s"]
        for option in options:
            command += option.split("=") if option.startswith("--") else ["--set", option]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    goodput = result["aggregate_goodput_bps"] / 1e3 if kind == "fourhop" else sum(result["goodput_kbps"])
    counts = {name: result[name] for name in COUNTS if kind != "fourhop" and name in result}
    return {"seed": seed, "goodput_kbps": round(goodput, 1), **counts}


def cell(goodputs: list[float]) -> str:
    """Mean and half width of the 95 % interval."""
    mean = sum(goodputs) / len(goodputs)
    if len(goodputs) < 2:
        return f"{mean:.0f}"
    spread = math.sqrt(sum((g - mean) ** 2 for g in goodputs) / (len(goodputs) - 1))
    return f"{mean:.0f} ± {STUDENT[len(goodputs) - 2] * spread / math.sqrt(len(goodputs)):.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hops", type=int, nargs="+", default=[4, 8, 16])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--duration", type=int, default=300)
    parser.add_argument("--ns3-duration", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--json", type=Path, help="keep the runs here; those of other variants in it stay")
    parser.add_argument("--only", nargs="*", default=[], help="variants whose name begins with one of these")
    arguments = parser.parse_args()
    kept = json.loads(arguments.json.read_text()) if arguments.json and arguments.json.exists() else []
    print("| variant | " + " | ".join(f"{hops} hops" for hops in arguments.hops) + " |")
    print("|---|" + "---|" * len(arguments.hops))
    for name, kind, options in VARIANTS:
        if arguments.only and not name.startswith(tuple(arguments.only)):
            continue
        if not available(kind):
            print(f"{name}: not installed or not built, skipped", file=sys.stderr)
            continue
        duration = arguments.ns3_duration if kind == "ns3" else arguments.duration
        # The longest runs first, so that none is left over at the end. 16 hops are the slowest: 3 seeds in ns-3.
        wanted = [
            (hops, seed)
            for hops in sorted(arguments.hops, reverse=True)
            for seed in range(1, (min(3, arguments.seeds) if kind == "ns3" and hops > 8 else arguments.seeds) + 1)
        ]
        with ThreadPoolExecutor(arguments.jobs) as pool:
            results = list(pool.map(partial(run, kind, options, duration), *zip(*wanted, strict=True)))
        cells = []
        for hops in arguments.hops:
            runs = [result for (at, _), result in zip(wanted, results, strict=True) if at == hops]
            cells.append(cell([result["goodput_kbps"] for result in runs]))
            kept = [row for row in kept if (row["variant"], row["hops"]) != (name, hops)]
            kept.append({"variant": name, "options": options, "hops": hops, "duration_s": duration, "runs": runs})
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
        if arguments.json:
            arguments.json.write_text("[\n" + ",\n".join(json.dumps(row) for row in kept) + "\n]\n")


if __name__ == "__main__":
    main()
