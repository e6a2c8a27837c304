"""AP2's share of one queue on radios that aggregate, next to CUBIC, BBR and itself, as first and as second sender.

    benches/coexistence.py

Chains of 1, 2 and 4 hops with MCS 1 and 4 and queues of 50, 200 and 500 packets; the second sender starts 4 s after the
first, each with four seeds. Prints each case in which one of the two gets less than a sixth of their total, a third of
an even share.
"""

from __future__ import annotations

import itertools

import fourhop

HOPS, QUEUES, MCS = (1, 2, 4), (50, 200, 500), (1, 4)
OTHERS = ("cubic", "bbr", "ap2")
STARTS = {"first": ("1s", "5s"), "second": ("5s", "1s")}
SEEDS = (1, 2, 3, 4)
BOUND = 1 / 6


def chain(hops: int, queue: int, mcs: int, other: str, place: str) -> fourhop.Scenario:
    """Two senders at one end."""
    flows = [
        {"from": "first", "to": "last", "transport": transport, "start": start}
        for transport, start in zip(("ap2", other), STARTS[place], strict=True)
    ]
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
        }
    )


def main() -> None:
    cases = list(itertools.product(HOPS, QUEUES, MCS, OTHERS, STARTS, SEEDS))
    shares = []
    for hops, queue, mcs, other, place, seed in cases:
        carried = fourhop.run(chain(hops, queue, mcs, other, place), seed=seed).summary["goodput_bps_mean"]
        shares.append(carried[0] / carried.sum())
    print("| hops | packets | MCS | beside | AP2 is | seed | AP2's share |\n|---|---|---|---|---|---|---|")
    unfair = [(share, case) for share, case in zip(shares, cases, strict=True) if min(share, 1 - share) < BOUND]
    for share, case in sorted(unfair):
        print(f"| {' | '.join(map(str, case))} | {share:.3f} |")
    print(f"one below a sixth in {len(unfair)} of {len(cases)} cases; AP2's least share: {min(shares):.3f}")


if __name__ == "__main__":
    main()
