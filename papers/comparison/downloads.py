"""AP2 on a server, behind a wire: downloads over 802.11n and 802.11ac, and two published evaluations.

Behind a wire AP2 does not know the radio's rate and hops. The gaps between acknowledgements show how far apart its
frames are.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fourhop import Scenario, Sweep
from fourhop.study import OUR_OWN, Cells, Chart, Claim, Data, Estimate, Profile, Sample, Study, table
from fourhop.study.claims import about, above, below

from ._measures import quantile
from ._worlds import AIR, KERNEL, MAC, TCP, together

TRANSPORTS: Mapping[str, Mapping[str, Any]] = {
    "ap2": {"transport": "ap2"},
    "gaps": {"transport": "ap2", "tcp.ap2_without": "gaps"},
    "cubic": {"transport": "cubic", **KERNEL},
    "bbr": {"transport": "bbr"},
}
LABELS = {"ap2": "AP2", "gaps": "AP2 that ignores gaps", "cubic": "CUBIC", "bbr": "BBR"}

FOUR_HOPS: Mapping[str, Any] = {"hops": 4, "spacing": "30m"}
ONE_ROOM: Mapping[str, Any] = {"hops": 1, "spacing": "5m"}
RADIOS: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]] = {
    "slow": ("802.11n at 13 Mbit/s, four hops", FOUR_HOPS, {"phy": "ht", "mcs": 1}),
    "mesh": ("802.11n at 39 Mbit/s, four hops", FOUR_HOPS, {"phy": "ht", "mcs": 4}),
    "n": ("802.11n at 39 Mbit/s, one hop", {"hops": 1, "spacing": "30m"}, {"phy": "ht", "mcs": 4}),
    "n2": ("802.11n at 130 Mbit/s, one hop", ONE_ROOM, {"phy": "ht", "mcs": 7, "streams": 2}),
    "ac": ("802.11ac at 780 Mbit/s, one hop", ONE_ROOM, {"phy": "vht", "mcs": 9, "streams": 2, "width": "80MHz"}),
}
"""A label, and keys of the chain and of its radios."""

DELAYS = ("100us", "1ms", "5ms", "20ms")
"""Of the wire in each direction: a server in the same house, in the same city, and far away."""

LAN = {"short": ("a 2.4 GHz", "n2", 102 / 100), "wide": ("a 5 GHz", "ac", 593 / 601)}
"""Cardwell et al. on the Linux commit 78dc70ebaa38, from a host on Ethernet to one on Wi-Fi: label, our radio, and the
goodput of BBR relative to CUBIC's."""

USERS = {1: "one user", 2: "two users"}
ROUTERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "ap2": ("AP2", {"transport": "ap2"}),
    "cubic": ("CUBIC", {"transport": "cubic", **KERNEL}),
    "codel": ("CUBIC, FQ-CoDel at the radio", {"transport": "cubic", **KERNEL, "link.queue": "fq-codel"}),
    "bbr": ("BBR", {"transport": "bbr"}),
    "vegas": ("Vegas", {"transport": "vegas"}),
}
SINCE_S = 5.0
"""From when on round trips count."""
NEAR_M, FAR_M = 20, 75
"""Where MCS 7 and MCS 1 of 802.11n lose little."""

study = Study(
    "AP2 behind a wire",
    source="our own; Goyal et al., ABC, NSDI 2020; Cardwell et al., Linux commit 78dc70ebaa38",
    profiles=("standard",),
    quick={"duration": "250ms", "warmup": "200ms"},
    assumed=[
        "One download from a server on a wire of 1 Gbit/s; one queue of 200 packets at each radio; 14 s, of which 4 s "
        "are not measured. Three runs each; ratios are geometric means over four delays of the wire.",
        "CUBIC uses RACK-TLP and HyStart++, as in kernels.",
        "Cardwell et al. do not name their radios: 802.11n with two streams in 20 MHz, and 802.11ac with two streams "
        "in 80 MHz, on a wire of 100 us. Theirs is version 1 of BBR, ours is version 3.",
        "ABC's router alternates between MCS 1 and 7 every two seconds. Ours is fixed, and Minstrel-HT follows a "
        f"receiver that moves between {NEAR_M} and {FAR_M} m within 20 ms. Queue of 250 packets, wire of 20 ms, 45 s.",
        "The round trip is the smoothed one at the sender, read every 20 ms after 5 s. The statements were written "
        "after a look at one seed.",
    ],
)


def behind(delay: str) -> Mapping[str, Any]:
    return {"gateways": [0], "nodes": ["server"], "rate": "1Gbps", "delay": delay, "queue": 1_000}


def download(radio: str, delay: str) -> Scenario:
    _, chain, keys = RADIOS[radio]
    document = {
        "profile": "standard",
        "duration": "14s",
        "warmup": "4s",
        "sample_every": "20ms",
        "tcp": TCP,
        "topology": {"kind": "chain", **chain},
        "routing": {"protocol": "static"},
        "radio": {**AIR, **keys},
        "mac": MAC,
        "link": {"queue_limit": 200},
        "wired": behind(delay),
        "flows": [{"from": "server", "to": "last", "transport": "cubic", "start": "50ms"}],
    }
    return Scenario.from_dict(document)


@study.sweep
def downloads(_: Profile) -> Sweep:
    made = {
        f"{radio}/{delay}/{name}": download(radio, delay).with_(**keys)
        for radio in RADIOS
        for delay in DELAYS
        for name, keys in TRANSPORTS.items()
    }
    return Sweep(variants=made, runs=3)


def steps(users: int) -> Scenario:
    """Receivers that move between near and far every two seconds."""
    seconds = 50
    paths = [
        [user + 1, f"{time}s", f"{x}m", f"{user}m"]
        for user in range(users)
        for n in range(1, seconds // 2)
        for time, x in ((2 * n, (FAR_M, NEAR_M)[n % 2]), (2 * n + 0.02, (NEAR_M, FAR_M)[n % 2]))
    ]
    places = [["0m", "0m"], *([f"{NEAR_M}m", f"{user}m"] for user in range(users))]
    return Scenario.from_dict(
        {
            "profile": "standard",
            "duration": f"{seconds}s",
            "warmup": "5s",
            "sample_every": "20ms",
            "tcp": TCP,
            "topology": {"kind": "positions", "positions": places},
            "mobility": {"model": "waypoints", "waypoints": paths},
            "routing": {"protocol": "static"},
            "radio": {**AIR, "phy": "ht", "mcs": 7},
            "mac": {**MAC, "rate_control": "minstrel"},
            "link": {"queue_limit": 250},
            "wired": behind("20ms"),
            "flows": [
                {"from": "server", "to": user + 1, "transport": "cubic", "start": f"{50 + 20 * user}ms"}
                for user in range(users)
            ],
        }
    )


@study.sweep
def stepped(_: Profile) -> Sweep:
    made = {f"{users}/{name}": steps(users).with_(**keys) for users in USERS for name, (_, keys) in ROUTERS.items()}
    return Sweep(variants=made, runs=5)


def at(data: Data, radio: str, delay: str, name: str) -> Cells:
    return data.downloads.where(variant=f"{radio}/{delay}/{name}")


def p95(cells: Cells) -> Sample:
    return quantile(cells, 0.95, SINCE_S)


def beside(data: Data, radio: str, name: str, other: str, of: Callable[[Cells], Sample] = Cells.goodput) -> Estimate:
    """One transport relative to another: the geometric mean over the delays."""
    ours, theirs = ([of(at(data, radio, delay, each)) for delay in DELAYS] for each in (name, other))
    return together(ours, theirs)


@study.chart_each({radio: (radio, f"{label[0].upper()}{label[1:]}.") for radio, (label, *_) in RADIOS.items()})
def results(data: Data, radio: str) -> Chart:
    rows = []
    for delay in DELAYS:
        for name, label in LABELS.items():
            cells = at(data, radio, delay, name)
            rows.append((delay, label, cells.goodput(), p95(cells)))
    return table(["wire's delay", "transport", "goodput (kbit/s)", "p95 round trip (ms)"], rows)


SHOWN = {radio: label for radio, (label, *_) in RADIOS.items()}


@study.check_each(SHOWN, "AP2 carries at least 90 % of what CUBIC carries: {}", paper=OUR_OWN, main=True)
def carries(data: Data, radio: str) -> Claim:
    return above(beside(data, radio, "ap2", "cubic"), 0.9)


@study.check_each(SHOWN, "Packets wait less with AP2 than with CUBIC: {}", paper=OUR_OWN, main=True)
def waits(data: Data, radio: str) -> Claim:
    return below(beside(data, radio, "ap2", "cubic", p95), 1.0)


@study.check_each(SHOWN, "Packets wait no longer with AP2 than with BBR: {}", paper=OUR_OWN)
def bbr_waits(data: Data, radio: str) -> Claim:
    return below(beside(data, radio, "ap2", "bbr", p95), 1.0)


@study.check_each(SHOWN, "AP2 carries at least 95 % of what BBR carries: {}", paper=OUR_OWN)
def bbr_carries(data: Data, radio: str) -> Claim:
    return above(beside(data, radio, "ap2", "bbr"), 0.95)


@study.check_each(SHOWN, "AP2 would carry less if it ignored the gaps between acknowledgements: {}", paper=OUR_OWN)
def needs_gaps(data: Data, radio: str) -> Claim:
    return below(beside(data, radio, "gaps", "ap2"), 1.0)


def on_lan(data: Data, band: str, name: str) -> Estimate:
    """Goodput on a wire of 100 us, relative to CUBIC's."""
    _, radio, _ = LAN[band]
    return at(data, radio, DELAYS[0], name).goodput() / at(data, radio, DELAYS[0], "cubic").goodput()


@study.check_each(
    {band: label for band, (label, *_) in LAN.items()},
    "BBR carries about as much as CUBIC from Ethernet to {} radio, as Cardwell et al. measured",
    paper="102 and 593 Mbit/s with BBR, 100 and 601 with CUBIC",
    why="We think that their version of BBR fills frames better than ours.",
)
def lan_bbr(data: Data, band: str) -> Claim:
    return about(on_lan(data, band, "bbr"), LAN[band][2], within=0.1)


def in_steps(data: Data, users: int, name: str) -> Cells:
    return data.stepped.where(variant=f"{users}/{name}")


@study.chart_each({f"steps_{users}": (users, f"MCS 1 and 7 in turn, {label}.") for users, label in USERS.items()})
def stepped_results(data: Data, users: int) -> Chart:
    rows = [
        (label, in_steps(data, users, name).goodput(), p95(in_steps(data, users, name)))
        for name, (label, _) in ROUTERS.items()
    ]
    return table(["transport", "goodput (kbit/s)", "p95 round trip (ms)"], rows)


@study.check_each(
    {str(users): label for users, label in USERS.items()},
    "AP2 carries at least 1.3 times what CUBIC with FQ-CoDel carries, as ABC does, {}",
    paper="ABC: 1.3 to 1.4 times, at similar delays",
)
def steps_carry(data: Data, users: str) -> Claim:
    mine, codel = (in_steps(data, int(users), name).goodput() for name in ("ap2", "codel"))
    return above(mine / codel, 1.3)


@study.check_each(
    {str(users): label for users, label in USERS.items()},
    "AP2's round trip is at most half of BBR's, as ABC's is, {}",
    paper="ABC: BBR's delays are 2.2 times as long",
    why="We think that a sender without the router's help notices too late that the link has become slow.",
)
def steps_wait(data: Data, users: str) -> Claim:
    mine, theirs = (p95(in_steps(data, int(users), name)) for name in ("ap2", "bbr"))
    return below(mine / theirs, 0.5)
