"""Compares AP2 with a sender that knows the best window beforehand.

    benches/hindsight.py [CLASS] [NETWORKS]  # default: fixed 18

Draws networks like the study `comparison/ap2`, with other numbers. On each it runs fixed windows in three ways: sent as
acknowledgements arrive (a train), paced as in Linux, and in AP2's bursts. For several prices of delay it selects the
best of all with one seed and measures that choice with another: the best of many with the same seed would be partly
luck. Prints goodput as a share of the best of CUBIC, BBR, Vegas, NewReno and TCP-AP, and the 95th percentile of round
trips relative to CUBIC's (on 802.11b, TCP-AP's); both are geometric means.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import fourhop
from fourhop.study import Cells

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "papers"))
ap2, drawn, worlds = (importlib.import_module(f"comparison.{name}") for name in ("ap2", "_drawn", "_worlds"))

FIRST = 2_000
WINDOWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
PRICES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
"""Per cent of goodput to give up for each per cent of round trip."""


def ways() -> dict[str, dict[str, Any]]:
    """Ways to send, by name."""
    cubic = {"transport": "cubic", **worlds.KERNEL}
    made: dict[str, dict[str, Any]] = {"cubic": cubic, "ap2": {"transport": "ap2"}}
    made |= {name: {"transport": name} for name in ap2.RIVALS if name != "cubic"}
    for size in WINDOWS:
        made[f"{size} as a train"] = {**cubic, "tcp.window": size}
        made[f"{size} spaced"] = {**cubic, "tcp.window": size, "tcp.stack_pacing": True}
        made[f"{size} in bursts"] = {"transport": "ap2", "tcp.window": size}
    return made


Measured = dict[tuple[int, str], tuple[float, float]]
"""Goodput and round trip by network and way."""


def measured(kind: str, numbers: Iterable[int], seed: int) -> Measured:
    """All ways on all networks, with one seed."""
    variants = {
        f"{n}/{name}": drawn.draw(kind, n).with_(sample_every="20ms", **keys)
        for n in numbers
        for name, keys in ways().items()
    }
    cells = Cells.of(fourhop.sweep(fourhop.Sweep(variants=variants, runs=1, seed=seed)))
    found = {each: cells.where(variant=each) for each in variants}
    return {
        (int(each.partition("/")[0]), each.partition("/")[2]): (ap2.goodput(cell), ap2.round_trip(cell))
        for each, cell in found.items()
    }


def main() -> None:
    """Prints a row for AP2, BBR and each price."""
    kind, count = sys.argv[1] if sys.argv[1:] else "fixed", int(sys.argv[2]) if sys.argv[2:] else 18
    # A random network changes with the seed.
    numbers = [
        n for n in range(FIRST, FIRST + count) if "random" not in str(drawn.draw(kind, n).resolved["topology"]["kind"])
    ]
    learnt, tried = measured(kind, numbers, 1), measured(kind, numbers, 2)
    beside = ap2.BESIDE.get(kind, "cubic")

    def scores(runs: Measured, n: int, name: str) -> tuple[float, float]:
        best = max(runs[n, rival][0] for rival in ap2.RIVALS)
        goodput, trip = runs[n, name]
        return math.log(max(goodput / best, 1e-3)), math.log(trip / runs[n, beside][1])

    def row(what: str, chosen: Callable[[int], str]) -> None:
        goodputs, trips = zip(*(scores(tried, n, chosen(n)) for n in numbers), strict=True)
        carried, waited = (math.exp(math.fsum(logs) / len(numbers)) for logs in (goodputs, trips))
        print(f"| {what} | {carried:.3f} | {waited:.3f} |", flush=True)

    print(f"{len(numbers)} networks: {drawn.CLASSES[kind]}\n\n| | goodput | p95 round trip |\n|---|---|---|")
    row("AP2", lambda _: "ap2")
    row("BBR", lambda _: "bbr")
    fixed = [name for name in ways() if name[0].isdigit()]
    for price in PRICES:

        def best(n: int, price: float = price) -> str:
            def worth(name: str) -> float:
                carried, waited = scores(learnt, n, name)
                return carried - price * waited

            return max(fixed, key=worth)

        row(f"the best of {len(fixed)} fixed windows, price {price:g}", best)


if __name__ == "__main__":
    main()
