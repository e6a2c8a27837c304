"""Goodput of one flow over chains: TCP-AP, NewReno, both with dynamic delayed acknowledgements, and Vegas.

In the paper TCP-AP is ahead of NewReno on every chain. The paper begins at four hops and does not measure Vegas;
shorter chains and Vegas are included here because both put the gain into perspective.
"""

from collections.abc import Mapping
from typing import Any

from fourhop import Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Estimate, Profile, Study, curves, peak, table
from fourhop.study.claims import about, above, below, between, every, most

from ._common import (
    ASSUMED,
    ASSUMED_DELAYED,
    ASSUMED_SHORTER,
    BOTH,
    ECHOES,
    LABELS,
    PAPER,
    SHORTER,
    SHOWN,
    STILL,
    chain,
    compared,
    variant,
)

SHORT = (1, 2, 3)
HOPS = (4, 5, 6, 7, 8, 9, 10, 12, 14, 16)
LONG = tuple(hops for hops in HOPS if hops > 8)
"""Lengths at which the paper has TCP-AP ahead of NewReno with delayed acknowledgements too."""

FEW_LOSSES = (
    "NewReno hardly suffers where overrunning the chain does not break routes: under ns2 over routes that never break "
    "it has far more as well (routes that never break), while TCP-AP has the same. TCP-AP is ahead on the longest "
    "chains"
)

NAMES = {name: LABELS[name] for name in (*SHOWN, "vegas")}
NEWEST_ECHO = {name: LABELS[name] for name in ECHOES if name not in SHOWN}

WAITED = (4, 8, 12, 16)
WAITS = ("100ms", "200ms", "400ms")
SAMPLES = {"every-ack": "echo of the first segment", "every-ack-latest": "echo of the newest segment"}

DIFFERENCES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "spread": ("mean absolute deviation of delays", {"tcp_ap.spread": "absolute-deviation-of-delays"}),
    "sizes": ("sizes with all headers", {"tcp_ap.data_overhead": "112B", "tcp_ap.ack_size": "112B"}),
    "limits": ("no delay of half a second", {"tcp_ap.queue_limit": "500ms", "tcp_ap.delay_limit": "500ms"}),
    "queue": ("a queue in place of slots", {"tcp_ap.release": "queue", "tcp_ap.rto_backoff": False}),
}
"""Differences of the authors' code that can matter from four hops on, one at a time."""

study = Study(
    "Goodput over hops",
    source=f"{PAPER}, figure 14",
    assumed=[
        *ASSUMED,
        ASSUMED_DELAYED,
        ASSUMED_SHORTER,
        "The paper does not say how long its longest chain is: 16 hops.",
    ],
)


@study.sweep
def hops(profile: Profile) -> Sweep:
    base = chain(profile, **STEADY)
    return Sweep(variants=compared(base, *NAMES), over={"topology.hops": (*SHORT, *HOPS)})


@study.sweep
def newest(profile: Profile) -> Sweep:
    return Sweep(variants=compared(chain(profile, **SHORTER), *NEWEST_ECHO), over={"topology.hops": HOPS})


@study.sweep
def delayed(profile: Profile) -> Sweep:
    base = variant(chain(profile, 8, **SHORTER), "ap-da")
    over = {"topology.hops": WAITED, "tcp_ap.samples": list(SAMPLES), "tcp.delayed_ack_timeout": list(WAITS)}
    return Sweep(base, over)


@study.sweep
def differences(profile: Profile) -> Sweep:
    paper = variant(chain(profile, **SHORTER), "ap")
    each = {name: paper.with_(**keys) for name, (_, keys) in DIFFERENCES.items()}
    return Sweep(variants={"ap": paper, **each}, over={"topology.hops": (4, 8)})


@study.sweep
def radio(profile: Profile) -> Sweep:
    """NewReno over ns-2's receiver, whatever the profile: a later frame is lost and spoils the first."""
    keys = {"radio.late_capture": False, "radio.lock_on_undecodable": True, "radio.energy_detection": False}
    return Sweep(variants=compared(chain(profile, 8, **SHORTER).with_(**keys), "newreno"))


@study.sweep
def still(profile: Profile) -> Sweep:
    base = chain(profile, **SHORTER).with_(**STILL)
    return Sweep(variants=compared(base, "newreno", "newreno-da", "ap"), over={"topology.hops": WAITED})


@study.chart
def goodput(data: Data) -> Chart:
    """Steady state of one flow, 2 Mbit/s, nodes 200 m apart. Whiskers: 95 % intervals over ten batches."""
    return over_hops(data, HOPS)


@study.chart
def short(data: Data) -> Chart:
    """The same on the chains that the paper leaves out."""
    return over_hops(data, (*SHORT, HOPS[0]))


def over_hops(data: Data, lengths: tuple[int, ...]) -> Chart:
    points = {label: {n: data.hops.goodput(variant=name, hops=n) for n in lengths} for name, label in NAMES.items()}
    return curves(points, "hops", "goodput (kbit/s)")


@study.chart
def gain(data: Data) -> Chart:
    """How much more goodput than NewReno on the same chain."""
    others = {name: label for name, label in NAMES.items() if name != "newreno"}
    rows = []
    for length in (*SHORT, *HOPS):
        cells = data.hops.where(hops=length)
        rows.append((length, *(cells.goodput(variant=name) / cells.goodput(variant="newreno") for name in others)))
    return table(["hops", *others.values()], rows)


@study.chart
def waiting(data: Data) -> Chart:
    """How much more TCP-AP has with dynamic delayed acknowledgements than without, by length, echo and wait."""
    rows = [
        (n, label, *(waited(data, n, name, wait) for wait in WAITS)) for n in WAITED for name, label in SAMPLES.items()
    ]
    return table(["hops", "round trips", *(f"waits at most {wait}" for wait in WAITS)], rows)


@study.chart
def newest_echo(data: Data) -> Chart:
    """How much delayed acknowledgements add to TCP-AP and to the authors' code if the newest segment is echoed."""
    rows = [(n, *(newest_adds(data, name, n) for name in BOTH)) for n in HOPS]
    return table(["hops", *BOTH.values()], rows)


@study.chart
def differences_of_the_code(data: Data) -> Chart:
    """The paper's arithmetic with one difference of the authors' code at a time; goodput in kbit/s."""
    names = {"ap": "as in the paper", **{name: label for name, (label, _) in DIFFERENCES.items()}}
    rows = [(label, *(data.differences.goodput(variant=name, hops=n) for n in (4, 8))) for name, label in names.items()]
    both = [
        (LABELS[name], *(data.hops.goodput(variant=name, hops=n) for n in (4, 8))) for name in ("ap-code", "newreno")
    ]
    return table(["TCP-AP", "4 hops", "8 hops"], [*rows, *both])


@study.chart
def routes_that_never_break(data: Data) -> Chart:
    """The same over routes that are known from the start and never change."""
    names = ("newreno", "newreno-da", "ap")
    points = {LABELS[name]: {n: data.still.goodput(variant=name, hops=n) for n in WAITED} for name in names}
    return curves(points, "hops", "goodput (kbit/s)")


def gains(data: Data, over: str, under: str, lengths: tuple[int, ...]) -> dict[str, Estimate]:
    cells = data.hops
    return {f"{n} hops": cells.goodput(variant=over, hops=n) / cells.goodput(variant=under, hops=n) for n in lengths}


def ahead(data: Data, over: str, under: str, lengths: tuple[int, ...]) -> Claim:
    claims = above(gains(data, over, under, lengths), 1.0)
    return every(claims).or_partly(most(claims))


@study.check_each(
    BOTH,
    "{} beats NewReno on every chain",
    main=True,
    paper="for all hops",
    assumed="4 to 16; partly: on three quarters",
    why={"standard": FEW_LOSSES},
    because=["deviation_costs", "radio_spares_newreno"],
)
def beats_newreno(data: Data, name: str) -> Claim:
    return ahead(data, name, "newreno", HOPS)


@study.check_each(
    BOTH,
    "{} gains up to 84 % over NewReno",
    main=True,
    paper="up to 84 %",
    assumed="the largest over all lengths, within 15 %; partly: above 50 %",
    why={"standard": FEW_LOSSES},
    because=["gain_is_broken_routes", "radio_spares_newreno"],
)
def gains_84(data: Data, name: str) -> Claim:
    best = peak(list(gains(data, name, "newreno", HOPS).values()))
    return about(best, 1.84).or_partly(above(best, 1.5))


@study.check_each(
    BOTH,
    "{} beats NewReno with delayed acknowledgements beyond 8 hops",
    paper="for h > 8",
    assumed="9, 10, 12, 14 and 16; partly: four of them",
    why={"standard": FEW_LOSSES},
    because=["curves_meet_later", "radio_spares_newreno"],
)
def beats_delayed(data: Data, name: str) -> Claim:
    return ahead(data, name, "newreno-da", LONG)


@study.check_each(
    BOTH,
    "Delayed acknowledgements add 7 to 17 % to {}",
    paper="7 to 17 %",
    assumed="at every length; partly: any gain at three quarters of them",
    because=["wait_is_too_short", "oldest_echo_slows"],
)
def delaying_adds(data: Data, name: str) -> Claim:
    added = gains(data, f"{name}-da", name, HOPS)
    return every(between(added, 1.07, 1.17)).or_partly(most(above(added, 1.0)))


@study.cause(
    "over 4 hops the standard deviation of the round trips demands more distance than is needed: with the mean "
    "absolute deviation of delays, the authors' measure, the paper's arithmetic is ahead there, too"
)
def deviation_costs(data: Data) -> Claim:
    return above(data.differences.goodput(variant="spread", hops=4) / data.hops.goodput(variant="newreno", hops=4), 1.0)


@study.cause(
    "the gain is what broken routes cost NewReno, and AODV decides how much that is: over routes that never break "
    "TCP-AP gains less than a tenth over 8, 12 and 16 hops"
)
def gain_is_broken_routes(data: Data) -> Claim:
    cells = data.still
    found = {
        f"{n} hops": cells.goodput(variant="ap", hops=n) / cells.goodput(variant="newreno", hops=n) for n in WAITED[1:]
    }
    return every(below(found, 1.1))


@study.cause("the two curves meet somewhat later: from 12 hops on TCP-AP and the authors' code are ahead")
def curves_meet_later(data: Data) -> Claim:
    found = {
        f"{LABELS[name]}, {n}": gain for name in BOTH for n, gain in gains(data, name, "newreno-da", LONG[2:]).items()
    }
    return every(above(found, 1.0))


@study.cause(
    "over 4 hops four segments take longer than a receiver waits: with 400 ms and the newest echo there is a gain"
)
def wait_is_too_short(data: Data) -> Claim:
    return above(waited(data, 4, "every-ack-latest", "400ms"), 1.07)


@study.cause(
    "the echo of the oldest segment includes the wait: with the newest echo delayed ACKs are a gain over 12 and 16 hops"
)
def oldest_echo_slows(data: Data) -> Claim:
    return every(above({f"{n} hops": newest_adds(data, "ap", n) for n in (12, 16)}, 1.0))


@study.cause(
    "with the radio of ns-2, which loses later frames however strong, NewReno loses at least a third over 8 hops"
)
def radio_spares_newreno(data: Data) -> Claim:
    lost = data.radio.goodput(variant="newreno") / data.hops.goodput(variant="newreno", hops=8)
    return below(lost, 0.67)


@study.cause("Vegas falls behind on the longest chain")
def vegas_falls_behind(data: Data) -> Claim:
    return below(gains(data, "vegas", "ap", (16,))["16 hops"], 0.85)


def newest_adds(data: Data, name: str, n: int) -> Estimate:
    """Gain by delayed acknowledgements with the newest echo over this number of hops."""
    return data.newest.goodput(variant=f"{name}-da-newest", hops=n) / data.hops.goodput(variant=name, hops=n)


def waited(data: Data, n: int, samples: str, wait: str) -> Estimate:
    """Gain of TCP-AP by delayed acknowledgements with this timer."""
    with_wait = data.delayed.goodput(hops=n, samples=samples, delayed_ack_timeout=wait)
    return with_wait / data.hops.goodput(variant="ap", hops=n)


@study.check(
    "On chains of 1 to 3 hops TCP-AP loses to NewReno",
    paper="not in the paper: the figure begins at four hops",
    assumed="our own: what the paper leaves out",
)
def loses_when_short(data: Data) -> Claim:
    claims = below(gains(data, "ap", "newreno", SHORT), 1.0)
    return every(claims).or_partly(most(claims, 0.6))


@study.check(
    "Vegas is about as good as TCP-AP",
    paper="not in the paper, which only calls Vegas bursty",
    assumed="our own: within 15 % or ahead at three quarters of 4 to 16 hops",
    because="vegas_falls_behind",
)
def vegas_is_close(data: Data) -> Claim:
    claims = above(gains(data, "vegas", "ap", HOPS), 0.85)
    return most(claims).or_partly(most(claims, 0.5))
