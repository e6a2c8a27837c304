"""AP2's share of one queue on radios that aggregate, next to CUBIC, BBR and itself, as first and as second sender.

    benches/coexistence.py
    benches/coexistence.py wired
    benches/coexistence.py untuned
    benches/coexistence.py groups

Chains of 1, 2 and 4 hops with MCS 1 and 4 and queues of 50, 200 and 500 packets; the second sender starts 4 s after the
first, each with four seeds. Prints each case in which one of the two gets less than a sixth of their total, a third of
an even share. `wired`: the same with the senders on a server, behind a wire of 0.1, 3 or 20 ms, over 1 and 4 hops, with
two seeds. `untuned`: cases for which AP2 was not tuned, from a radio and from a server. `groups`: eight senders of AP2
over 1 and 3 hops with a queue of 200 packets, eight seeds; prints each case in which they share it unevenly, which
means that they take each other for others.
"""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import fourhop

HOPS, QUEUES, MCS = (1, 2, 4), (50, 200, 500), (1, 4)
OTHERS = ("cubic", "bbr", "ap2")
STARTS = {"first": ("1s", "5s"), "second": ("5s", "1s")}
SEEDS = (1, 2, 3, 4)
WIRED_HOPS, WIRED_SEEDS, WIRES = (1, 4), (1, 2), ("100us", "3ms", "20ms")
UNTUNED = ((1, 3), (100, 300), (2, 5), OTHERS, STARTS, (11, 12))
UNTUNED_WIRED = ((2, 3), (100, 300), (2, 5), OTHERS, STARTS, (11,), ("500us", "8ms"))
BOUND = 1 / 6
GROUP, GROUP_HOPS, GROUP_SEEDS, EVEN = 8, (1, 3), range(1, 9), 0.8


def chain(hops: int, queue: int, mcs: int, senders: list[tuple[str, str]], wire: str | None = None) -> fourhop.Scenario:
    """Senders at one end, or on a server behind a wire of this delay: transport and start of each."""
    end = "first" if wire is None else "server"
    flows = [{"from": end, "to": "last", "transport": transport, "start": start} for transport, start in senders]
    wired = {"wired": {"gateways": [0], "nodes": ["server"], "rate": "1Gbps", "delay": wire, "queue": 1_000}}
    radio = {"model": "sinr", "tx_power": "20dBm", "exponent": 3.0, "basic_rate": "6Mbps", "phy": "ht", "mcs": mcs}
    return fourhop.Scenario.from_dict(
        {
            "profile": "standard",
            "duration": "70s",
            "warmup": "30s",
            "topology": {"kind": "chain", "hops": hops, "spacing": "30m"},
            "radio": radio,
            "mac": {"answer_rate": "mandatory"},
            "link": {"queue_limit": queue},
            "routing": {"protocol": "static"},
            "flows": flows,
            **(wired if wire else {}),
        }
    )


def groups() -> None:
    cases = list(itertools.product(GROUP_HOPS, MCS, GROUP_SEEDS))
    senders = [("ap2", f"{1_000 + 700 * n}ms") for n in range(GROUP)]
    uneven = []
    for hops, mcs, seed in cases:
        carried = fourhop.run(chain(hops, 200, mcs, senders), seed=seed).summary["goodput_bps_mean"]
        rates = [float(rate) for rate in carried]
        jain = math.fsum(rates) ** 2 / GROUP / math.fsum(rate * rate for rate in rates)
        if jain < EVEN:
            uneven.append(f"{hops} hops, MCS {mcs}, seed {seed}: Jain's index {jain:.2f}")
    print(*uneven, f"uneven in {len(uneven)} of {len(cases)} cases", sep="\n")


def pairs(cases: list[tuple[Any, ...]]) -> None:
    shares = []
    for hops, queue, mcs, other, place, seed, *wire in cases:
        senders = list(zip(("ap2", other), STARTS[place], strict=True))
        carried = fourhop.run(chain(hops, queue, mcs, senders, *wire), seed=seed).summary["goodput_bps_mean"]
        shares.append(carried[0] / carried.sum())
    print("| hops | packets | MCS | beside | AP2 is | seed | wire | AP2's share |\n|---|---|---|---|---|---|---|---|")
    unfair = [(share, case) for share, case in zip(shares, cases, strict=True) if min(share, 1 - share) < BOUND]
    for share, case in sorted(unfair):
        print(f"| {' | '.join(map(str, (*case, '')[:7]))} | {share:.3f} |")
    print(f"one below a sixth in {len(unfair)} of {len(cases)} cases; AP2's least share: {min(shares):.3f}")


def main() -> None:
    match sys.argv[1:]:
        case ["groups"]:
            groups()
        case ["wired"]:
            pairs(list(itertools.product(WIRED_HOPS, QUEUES, MCS, OTHERS, STARTS, WIRED_SEEDS, WIRES)))
        case ["untuned"]:
            pairs(list(itertools.product(*UNTUNED)))
            pairs(list(itertools.product(*UNTUNED_WIRED)))
        case _:
            pairs(list(itertools.product(HOPS, QUEUES, MCS, OTHERS, STARTS, SEEDS)))


if __name__ == "__main__":
    main()
