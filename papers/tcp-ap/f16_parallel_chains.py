"""Two parallel chains, 400 m apart, with one flow along each: goodput and fairness.

The chains interfere with each other without hearing each other's reservations. The paper finds that NewReno then lets
one flow take nearly all, and that TCP-AP shares evenly and carries more in total.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from fourhop import Sweep
from fourhop.study import (
    STEADY,
    Cells,
    Chart,
    Claim,
    Data,
    Measure,
    Profile,
    Sample,
    Study,
    curves,
    lines,
    run_by_run,
    shares,
    table_by,
)
from fourhop.study.claims import about, above, below, every, fair
from fourhop.study.flows import MOMENT_S, OVER_TIME, index_of, smaller_share, smallest_of, within

from ._common import (
    ASSUMED,
    ASSUMED_DELAYED,
    ASSUMED_SHORTER,
    BOTH,
    ECHOES,
    LABELS,
    OTHER_PARALLEL_HOPS,
    PAPER,
    PARALLEL_HOPS,
    SHORTER,
    SHOWN,
    STILL,
    TIMERS_2003,
    compared,
    parallel,
)
from ._several import ASSUMED_COUNT

FLOWS = {"flow-1": "FTP 1", "flow-2": "FTP 2"}
SEEDS = 5
WINDOWS_S = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 300.0)

OTHER_SETTINGS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "2003": ("timers of 2003", TIMERS_2003),
    "still": ("routes that never break", STILL),
    "still-2003": ("routes that never break, timers of 2003", {**STILL, **TIMERS_2003}),
    "window-20": ("a window of 20, ns-2's default", {"tcp.window": 20}),
    "basic-2": ("a basic rate of 2 Mbit/s", {"radio.basic_rate": "2Mbps"}),
    "no-rts": ("no RTS", {"mac.rts_threshold": "3000B"}),
    "no-capture": ("no capture", {"radio.capture": False}),
}
"""Settings that the paper does not state or ns-2 has changed, and that might starve one NewReno flow all the time."""

FEW_LOSSES = (
    "a stronger frame that arrives later is still received, so that there are few collisions and few links are taken "
    "for broken (table of losses)"
)
SHARED: Mapping[Profile, str] = {"standard": f"{FEW_LOSSES}; no flow is shut out"}
HOLDS_BACK = (
    f"{FEW_LOSSES}, and NewReno carries far more than under ns2, while the variation of the round trips still slows "
    "TCP-AP down"
)

study = Study(
    "Symmetric parallel chains",
    source=f"{PAPER}, figure 16",
    assumed=[
        *ASSUMED,
        ASSUMED_DELAYED,
        ASSUMED_COUNT,
        ASSUMED_SHORTER,
        f"Chains of {PARALLEL_HOPS} hops, since neither text nor figure gives the length; one chart shows other "
        "lengths.",
        f"{SEEDS} runs of 55,000 packets each instead of one: which flow is ahead depends on the seed.",
    ],
)


@study.sweep
def chains(profile: Profile) -> Sweep:
    return Sweep(variants=compared(parallel(profile, **STEADY), *ECHOES), runs=SEEDS)


@study.sweep
def settings(profile: Profile) -> Sweep:
    made = compared(parallel(profile, **SHORTER), "newreno", "ap", "ap-code", "ap-da-newest")
    newreno = {name: made["newreno"].with_(**keys) for name, (_, keys) in OTHER_SETTINGS.items()}
    still = {f"{name}-still": made[name].with_(**STILL) for name in ("ap", "ap-code")}
    waiting = made["ap-da-newest"].with_(**{"tcp.delayed_ack_timeout": "400ms"})
    return Sweep(variants={"newreno": made["newreno"], **newreno, **still, "ap-da-400": waiting}, runs=SEEDS)


@study.sweep
def lengths(profile: Profile) -> Sweep:
    base = parallel(profile, **SHORTER)
    return Sweep(variants=compared(base, *SHOWN), over={"topology.hops": OTHER_PARALLEL_HOPS})


@study.chart
def goodput(data: Data) -> Chart:
    """Goodput of each flow and in total. Whiskers: 95 % intervals over the runs."""
    return shares(data.chains, FLOWS, LABELS)


@study.chart
def other_settings(data: Data) -> Chart:
    """Flows of NewReno and TCP-AP under settings that the paper leaves open or ns-2 has changed since."""
    names = {"newreno": "NewReno, as above"}
    names |= {name: f"NewReno, {label}" for name, (label, _) in OTHER_SETTINGS.items()}
    names |= {f"{name}-still": f"{LABELS[name]}, routes that never break" for name in ("ap", "ap-code")}
    names["ap-da-400"] = "TCP-AP + delayed ACK of up to 400 ms, newest echo"
    columns: dict[str, Measure] = {
        "goodput (kbit/s)": "goodput",
        "share of the weaker flow": lambda cells: cells.measure(smaller_share),
        "Jain's index": "fairness",
    }
    return table_by(data.settings, "variant", columns, names, heading="transport")


@study.chart
def losses(data: Data) -> Chart:
    """Frames without an answer, and packets that the MAC gave up, per packet delivered: why profiles differ."""
    columns: dict[str, Measure] = {
        "unanswered RTS and data per packet": partial(_per_packet, names=("rts_timeouts", "data_timeouts")),
        "packets given up per packet": partial(_per_packet, names=("rts_limit_drops", "data_limit_drops")),
    }
    return table_by(data.chains, "variant", columns, {name: LABELS[name] for name in ECHOES}, heading="transport")


@study.sweep
def moments(profile: Profile) -> Sweep:
    base = parallel(profile, **{**OVER_TIME, "duration": "320s"})
    return Sweep(variants=compared(base, *SHOWN), runs=10)


@study.chart
def fairness_over_windows(data: Data) -> Chart:
    """Jain's index within windows of time, mean over the windows of 300 s and over the runs: how long sharing takes.

    This is not in the paper. It shows that a flow that gets nothing for half a minute may still get its half in the
    long run.
    """
    cells = data.moments.by("variant")
    points = {LABELS[name]: {window: within(cells[name], window, index_of) for window in WINDOWS_S} for name in SHOWN}
    return curves(points, "window (s)", "Jain's fairness index", x_log=True)


@study.chart
def fairness_over_lengths(data: Data) -> Chart:
    """Jain's index for chains of other lengths. Whiskers: 95 % intervals over ten batches of one run."""
    return lines(data.lengths, x="hops", y="fairness", by="variant", labels=LABELS, x_label="hops of each chain")


@study.chart
def goodput_over_lengths(data: Data) -> Chart:
    """Total goodput of both flows for chains of other lengths."""
    return lines(data.lengths, x="hops", by="variant", labels=LABELS, x_label="hops of each chain")


@study.check(
    "With NewReno the weaker flow gets about a tenth",
    paper="about 10 %",
    assumed="about: 5 to 15 %, mean over the runs; partly: less than a quarter",
    why=SHARED,
    because="shut_out_in_turn",
)
def newreno_starves(data: Data) -> Claim:
    share = data.chains.measure(smaller_share, variant="newreno")
    return about(share, 0.1, within=0.5).or_partly(below(share, 0.25))


@study.check(
    "Jain's index of NewReno is about 0.64",
    paper="0.64 (section 5.2)",
    assumed="partly: below 0.9",
    why=SHARED,
    because="shut_out_in_turn",
)
def newreno_index(data: Data) -> Claim:
    index = data.chains.fairness(variant="newreno")
    return about(index, 0.64).or_partly(below(index, 0.9))


@study.check(
    "Delayed ACKs give NewReno more goodput, but it remains unfair",
    paper="both flows improve, fairness remains insufficient",
    assumed="the sum, and an index below 0.9; partly: the sum alone",
    why=SHARED,
    because="delayed_acks_share_no_sooner",
)
def newreno_delayed(data: Data) -> Claim:
    gain = data.chains.goodput(variant="newreno-da") / data.chains.goodput(variant="newreno")
    index = data.chains.fairness(variant="newreno-da")
    return every({"goodput": above(gain, 1.0), "index": below(index, 0.9)}).or_partly(above(gain, 1.0))


@study.check(
    "TCP-AP shares evenly, with and without delayed ACKs",
    main=True,
    paper="optimal",
    assumed="optimal: an index above 0.99; partly: above 0.95",
    because=["unfair_by_broken_routes", "takes_turns"],
)
def ap_fair(data: Data) -> Claim:
    return _fair(data, "ap", "ap-da")


@study.check(
    "The authors' code also shares evenly, with and without delayed ACKs",
    paper="optimal",
    assumed="as above",
    because=["unfair_by_broken_routes", "takes_turns"],
)
def code_fair(data: Data) -> Claim:
    return _fair(data, "ap-code", "ap-code-da")


@study.cause(
    f"the flows are shut out in turn: within {MOMENT_S:g} s NewReno's weaker flow has about a tenth and the index is "
    "about 0.64, as in the paper"
)
def shut_out_in_turn(data: Data) -> Claim:
    cells = data.moments.where(variant="newreno")
    share = within(cells, MOMENT_S, smallest_of)
    index = within(cells, MOMENT_S, index_of)
    return every({"share": about(share, 0.1, within=0.5), "index": about(index, 0.64)})


@study.cause(f"the flows are shut out in turn with delayed ACKs, too: within {MOMENT_S:g} s the index is below 0.9")
def delayed_acks_share_no_sooner(data: Data) -> Claim:
    return below(within(data.moments.where(variant="newreno-da"), MOMENT_S, index_of), 0.9)


@study.cause(
    "a segment that waited for a route slows a flow for tens of seconds: over routes that never break both have the "
    "same"
)
def unfair_by_broken_routes(data: Data) -> Claim:
    return every(
        fair({LABELS[name]: data.settings.fairness(variant=f"{name}-still") for name in ("ap", "ap-code")}, 0.99)
    )


@study.cause("the flow that is ahead changes: in windows of 50 s the index is lower than in windows of 300 s")
def takes_turns(data: Data) -> Claim:
    cells = data.moments.by("variant")
    gains = {
        label: within(cells[name], 300.0, index_of) - within(cells[name], 50.0, index_of)
        for name, label in BOTH.items()
    }
    return every(above(gains, 0.0))


@study.cause("over chains of 4 hops both carry the same; over 8 hops TCP-AP carries at least a fifth more than NewReno")
def longer_chains_gain(data: Data) -> Claim:
    cells = data.lengths.where(hops=OTHER_PARALLEL_HOPS[-1])
    return above(cells.goodput(variant="ap") / cells.goodput(variant="newreno"), 1.2)


@study.cause(
    "four segments at the pace of TCP-AP take longer than a receiver waits: with waits of 400 ms and the newest echo "
    "it carries more"
)
def wait_is_too_short(data: Data) -> Claim:
    return above(data.settings.goodput(variant="ap-da-400") / data.chains.goodput(variant="ap-da"), 1.0)


@study.cause(
    "the cost of delayed ACKs to TCP-AP is a matter of short paths: over 8 hops with them it is within a tenth of "
    "NewReno"
)
def gap_closes(data: Data) -> Claim:
    cells = data.lengths.where(hops=OTHER_PARALLEL_HOPS[-1])
    return above(cells.goodput(variant="ap-da") / cells.goodput(variant="newreno-da"), 0.9)


@study.check(
    "TCP-AP carries more than NewReno, with and without delayed ACKs",
    paper="more aggregate goodput",
    assumed="each compared with NewReno with the same ACKs; partly: without delayed ACKs",
    why={"standard": HOLDS_BACK},
    because=["longer_chains_gain", "wait_is_too_short", "gap_closes"],
)
def ap_more(data: Data) -> Claim:
    return _more(data, "ap", "ap-da")


@study.check(
    "The authors' code also carries more than NewReno, with and without delayed ACKs",
    paper="more aggregate goodput",
    assumed="as above",
    why={"standard": HOLDS_BACK},
    because=["wait_is_too_short", "gap_closes"],
)
def code_more(data: Data) -> Claim:
    return _more(data, "ap-code", "ap-code-da")


def _per_packet(cells: Cells, names: Sequence[str]) -> Sample:
    """MAC counters per delivered packet."""
    return run_by_run(lambda count: count / STEADY["packets"], cells.counter("mac", names))


def _fair(data: Data, plain: str, delayed: str) -> Claim:
    index = {LABELS[name]: data.chains.fairness(variant=name) for name in (plain, delayed)}
    return every(fair(index, 0.99)).or_partly(every(fair(index, 0.95)))


def _more(data: Data, plain: str, delayed: str) -> Claim:
    gain = {
        "every segment acknowledged": data.chains.goodput(variant=plain) / data.chains.goodput(variant="newreno"),
        "delayed ACKs": data.chains.goodput(variant=delayed) / data.chains.goodput(variant="newreno-da"),
    }
    each = above(gain, 1.0)
    return every(each).or_partly(each["every segment acknowledged"])
