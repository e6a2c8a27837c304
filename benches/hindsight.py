"""Compares AP2 with a sender that knows the best window beforehand.

    benches/hindsight.py [CLASS] [NETWORKS]  # default: fixed 30

Takes the networks of the study `comparison/ap2`, without the random ones. On each it runs fixed windows in three
ways: sent as acknowledgements arrive (a train), paced as in Linux, and in AP2's bursts. For several prices of delay
it selects the best of all with one seed and measures that choice with another: the best of many with the same seed
would be partly luck. The last rows select the fixed window, or the transport, with the largest Jain's index among
those that carry at least as much as AP2.

Prints goodput as a share of the best of CUBIC, BBR, Vegas, NewReno and TCP-AP, and the 95th percentile of round trips
relative to CUBIC's (on 802.11b, TCP-AP's). Both are geometric means, followed by the worst network. Jain's index minus
CUBIC's is a mean over the networks with several flows; retransmissions are relative to CUBIC's.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import fourhop
from fourhop.study import Cells

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "papers"))
ap2, drawn, worlds = (importlib.import_module(f"comparison.{name}") for name in ("ap2", "_drawn", "_worlds"))

WINDOWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
PRICES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
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


class Run(NamedTuple):
    """Measurements of a run."""

    goodput: float
    trip: float
    jain: float
    again: float
    """Share of segments that are retransmissions."""
    flows: int


Measured = dict[tuple[int, str], Run]
"""A run for each network and way."""


def measured(kind: str, numbers: Iterable[int], seed: int) -> Measured:
    """All ways on all networks, with one seed."""
    variants = {
        f"{n}/{name}": drawn.draw(kind, n).with_(sample_every="20ms", **ap2.LONGER.get(kind, {}), **keys)
        for n in numbers
        for name, keys in ways().items()
    }
    cells = Cells.of(fourhop.sweep(fourhop.Sweep(variants=variants, runs=1, seed=seed)))
    found = {each: cells.where(variant=each) for each in variants}
    return {
        (int(each.partition("/")[0]), each.partition("/")[2]): Run(
            ap2.goodput(cell), ap2.round_trip(cell), cell.fairness().mean, ap2.share_sent_again(cell), len(cell.flows)
        )
        for each, cell in found.items()
    }


def main() -> None:
    """Prints a row for AP2, BBR, each price, and the most even choices."""
    kind, count = sys.argv[1] if sys.argv[1:] else "fixed", int(sys.argv[2]) if sys.argv[2:] else ap2.NETWORKS
    # A random network changes with the seed.
    numbers = [n for n in range(ap2.FIRST, ap2.FIRST + count) if drawn.LAYOUTS[n % len(drawn.LAYOUTS)] != "random"]
    learnt, tried = measured(kind, numbers, 1), measured(kind, numbers, 2)
    beside = ap2.BESIDE.get(kind, "cubic")

    def scores(runs: Measured, n: int, name: str) -> tuple[float, float]:
        best = max(runs[n, rival].goodput for rival in ap2.RIVALS)
        return math.log(max(runs[n, name].goodput / best, 1e-3)), math.log(runs[n, name].trip / runs[n, beside].trip)

    def row(what: str, chosen: Callable[[int], str]) -> None:
        goodputs, trips = zip(*(scores(tried, n, chosen(n)) for n in numbers), strict=True)
        carried, waited = (math.exp(math.fsum(logs) / len(numbers)) for logs in (goodputs, trips))
        even = math.fsum(tried[n, chosen(n)].jain - tried[n, "cubic"].jain for n in several) / len(several)
        ours, theirs = (math.fsum(tried[n, name(n)].again for n in numbers) for name in (chosen, lambda _: "cubic"))
        print(
            f"| {what} | {carried:.3f} | {math.exp(min(goodputs)):.2f} | {waited:.3f} | {math.exp(max(trips)):.2f} "
            f"| {even:+.3f} | {ours / theirs:.2f} |",
            flush=True,
        )

    several = [n for n in numbers if tried[n, "cubic"].flows > 1]
    print(f"{len(numbers)} networks, {len(several)} with several flows: {drawn.CLASSES[kind]}\n")
    print("| | goodput | lowest | p95 round trip | highest | Jain's index minus CUBIC's | retransmissions |")
    print("|---|---|---|---|---|---|---|")
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

    def most_even(names: Iterable[str]) -> Callable[[int], str]:
        def chosen(n: int) -> str:
            enough = [name for name in names if learnt[n, name].goodput >= learnt[n, "ap2"].goodput]
            return max(enough, key=lambda name: learnt[n, name].jain, default="ap2")

        return chosen

    row("the most even of them that carries as much as AP2", most_even(fixed))
    row("the most even of the transports that carries as much as AP2", most_even(ap2.RIVALS))


if __name__ == "__main__":
    main()
