"""From the papers' mesh to today's, one change at a time: which change ends the gain of each idea.

The first half adds one thing after another. The second half takes one thing at a time out of today's mesh, and tries
pacing itself in other forms there: with half the distance, as two channels would allow, and without the part of the
interval that follows from the variation of round trips.
"""

from typing import Any

from fourhop import Sweep
from fourhop.study import (
    OUR_OWN,
    Cells,
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Run,
    Sample,
    Study,
    groups,
    run_by_run,
    table,
)
from fourhop.study.claims import above, below, between, every

from ._worlds import BASE, STEPS, TODAY, TRANSPORTS, per_frame, together, variant

LABELS = TRANSPORTS.labels
STEP_LABELS = {name: label for name, (label, _) in STEPS.items()}
RUNS = 10
CHAIN = (BASE, "newreno", "ap", "adhoc", "rbp", "c3")
CROSS = (BASE, "ap", "adhoc", "rbp")
GATEWAY = (BASE, "gap", "gap-short")
STEPPED = {"chain": CHAIN, "cross": CROSS, "gateway": GATEWAY}
WITH_C3TCP = ("papers", "routes", "rates")
"""The steps with one packet per frame and one radio: C3TCP is refused at the others."""

WITHOUT: dict[str, tuple[str, dict[str, Any]]] = {
    "today": ("today's mesh", {}),
    "aggregates": ("without aggregates", {"mac.ampdu_frames": 1}),
    "fq-codel": ("without FQ-CoDel", {"link.queue": "drop-tail"}),
    "channels": ("on one channel", {"radios": [{"channel": 36}]}),
    "rts": ("without RTS", {"mac.rts_threshold": "64kB"}),
}
PACES: dict[str, tuple[str, dict[str, Any]]] = {
    "paper": ("four hops apart, with variation", {}),
    "two": ("two hops apart", {"tcp_ap.factor": 2}),
    "steady": ("without variation", {"tcp_ap.history": 1}),
    "both": ("two hops apart, without variation", {"tcp_ap.factor": 2, "tcp_ap.history": 1}),
}
"""The variation of a single sample is zero."""

study = Study(
    "From the papers' mesh to today's",
    source="our own",
    profiles=("standard",),
    quick={"duration": "1800ms", "warmup": "1600ms"},
    assumed=[
        "Steps 1 and 2: 2 Mbit/s, 200 m between neighbours, 100 s, of which 10 s are not measured; from the third on "
        "60 m, 12 s and 2 s. From step to step one thing changes: 1 802.11b and AODV, 2 fixed routes, 3 802.11a at "
        "24 Mbit/s with error rates by modulation, 4 802.11n with aggregates (26 Mbit/s), 5 no window limit in "
        "place of 64, 6 FQ-CoDel in place of a drop-tail queue of 50, 7 a second channel, 8 MCS chosen by Minstrel-HT "
        "and routes by airtime, 9 Rician fading with 6 dB and 2 Hz.",
        f"RTS before each frame, every segment is acknowledged, {RUNS} runs.",
        "The baseline is kernel CUBIC at the same step.",
        "The checks are what we expected before the runs, after a look at two seeds.",
    ],
)


@study.sweep
def steps(_: Profile) -> Sweep:
    made = {
        f"{name}/{step}/{each}": variant(name, each, step)
        for name, transports in STEPPED.items()
        for step in STEPS
        for each in transports
        if each != "c3" or step in WITH_C3TCP
    }
    return Sweep(variants=made, runs=RUNS)


@study.sweep
def long_queues(_: Profile) -> Sweep:
    """Before FQ-CoDel, with 1000 packets, as Linux has them before other interfaces."""
    keys = {"link.queue_limit": 1000}
    return Sweep(variants={name: variant(name, BASE, "window").with_(**keys) for name in STEPPED}, runs=RUNS)


@study.sweep
def without(_: Profile) -> Sweep:
    made = {
        f"{name}/{each}/{transport}": variant(name, transport).with_(**keys)
        for name in ("chain", "cross")
        for each, (_, keys) in WITHOUT.items()
        for transport in CROSS
    }
    return Sweep(variants=made, runs=RUNS)


@study.sweep
def paces(_: Profile) -> Sweep:
    made = {
        f"{name}/{each}": variant(name, transport).with_(**keys)
        for name, transport in (("chain", "ap"), ("cross", "ap"), ("gateway", "gap-short"))
        for each, (_, keys) in PACES.items()
    }
    return Sweep(variants=made, runs=RUNS)


def at(data: Data, name: str, step: str, transport: str) -> Cells:
    return data.steps.where(variant=f"{name}/{step}/{transport}")


def gain(data: Data, name: str, step: str, transport: str) -> Estimate:
    """Goodput relative to that of the kernel's CUBIC at the same step."""
    return at(data, name, step, transport).goodput() / at(data, name, step, BASE).goodput()


def mean_round_trip(run: Run) -> float:
    """Mean round trip over all flows, in ms."""
    known = [flow["rtt_mean_s"] for flow in run.flows.values() if flow["rtt_mean_s"] is not None]
    return 1e3 * sum(known) / len(known) if known else float("nan")


def gain_without(data: Data, name: str, each: str, transport: str) -> Estimate:
    ours, theirs = (data.without.where(variant=f"{name}/{each}/{one}") for one in (transport, BASE))
    return ours.goodput() / theirs.goodput()


def _gains(data: Data, name: str) -> Chart:
    points = {
        LABELS[each]: {STEP_LABELS[step]: gain(data, name, step, each) for step in STEPS}
        for each in STEPPED[name]
        if each not in (BASE, "c3")
    }
    if "c3" in STEPPED[name]:
        points[LABELS["c3"]] = {STEP_LABELS[step]: gain(data, name, step, "c3") for step in WITH_C3TCP}
    return groups(points, "gain over kernel CUBIC (%)")


@study.chart_each(
    {
        "over_a_chain": (
            "chain",
            "A chain of 7 hops: goodput relative to CUBIC's at the same step. C3TCP runs at three steps.",
        ),
        "over_a_cross": ("cross", "Two flows that cross, over 4 hops each."),
        "through_a_gateway": ("gateway", "Seven downloads, which the gateway paces or not."),
    }
)
def gains(data: Data, name: str) -> Chart:
    return _gains(data, name)


@study.chart
def numbers(data: Data) -> Chart:
    """Goodput in kbit/s at each step, and packets per frame."""
    rows = [
        (
            name,
            STEP_LABELS[step],
            *(at(data, name, step, each).goodput() if each in STEPPED[name] else "" for each in (BASE, "ap", "gap")),
            *(
                at(data, name, step, each).measure(per_frame) if each in STEPPED[name] else ""
                for each in (BASE, "ap", "gap")
            ),
        )
        for name in STEPPED
        for step in STEPS
    ]
    shown = [LABELS[each] for each in (BASE, "ap", "gap")]
    return table(["network", "from here on", *shown, *(f"{each}: packets / frame" for each in shown)], rows)


@study.chart
def taken_out(data: Data) -> Chart:
    """One thing taken out of today's mesh, or put back: gain over kernel CUBIC on the same mesh."""
    rows = [
        (name, label, *(gain_without(data, name, each, transport) for transport in CROSS if transport != BASE))
        for name in ("chain", "cross")
        for each, (label, _) in WITHOUT.items()
    ]
    return table(["network", "mesh", *(LABELS[each] for each in CROSS if each != BASE)], rows)


@study.chart
def other_paces(data: Data) -> Chart:
    """Pacing in other forms on today's mesh: goodput relative to kernel CUBIC."""
    points = {
        label: {name: paced(data, name, each) for name in ("chain", "cross", "gateway")}
        for each, (label, _) in PACES.items()
    }
    return groups(points, "gain over kernel CUBIC (%)")


def paced(data: Data, name: str, each: str) -> Estimate:
    return data.paces.goodput(variant=f"{name}/{each}") / at(data, name, TODAY, BASE).goodput()


@study.cause("from aggregates on, CUBIC has at least three packets per frame, and TCP-AP fewer than one and a half")
def alone(data: Data) -> Claim:
    later = list(STEPS)[list(STEPS).index("aggregates") :]
    full = {f"CUBIC, {STEP_LABELS[step]}": at(data, "chain", step, BASE).measure(per_frame) for step in later}
    single = {STEP_LABELS[step]: at(data, "chain", step, "ap").measure(per_frame) for step in later}
    return every(above(full, 3.0) | below(single, 1.5))


@study.cause("where signals fade, variation also costs goodput: without it TCP-AP carries at least half as much again")
def variation(data: Data) -> Claim:
    gains = {
        name: data.paces.goodput(variant=f"{name}/steady") / data.paces.goodput(variant=f"{name}/paper")
        for name in ("chain", "cross")
    }
    return every(above(gains, 1.5))


@study.cause("over fixed routes CUBIC retransmits less than a twentieth, and that is all that pacing could save")
def little_to_save(data: Data) -> Claim:
    def again(run: Run) -> float:
        flow = next(iter(run.flows.values()))
        return 100.0 * flow["retransmitted_packets"] / flow["sent_packets"]

    return below(at(data, "chain", "routes", BASE).measure(again, "%"), 5.0)


SINGLE_FRAMES = ("papers", "routes", "rates")
BECAUSE = {"little_to_save": SINGLE_FRAMES, "alone": list(STEPS)[len(SINGLE_FRAMES) : -1]}


def as_much(data: Data, step: str) -> Claim:
    return above(gain(data, "chain", step, "ap"), 0.95)


for _because, _steps in {**BECAUSE, ("alone", "variation"): [TODAY]}.items():
    study.check_each(
        {step: STEP_LABELS[step] for step in _steps},
        "Over the chain TCP-AP carries as much as CUBIC: {}",
        paper=OUR_OWN,
        assumed="no more than a twentieth less",
        because=_because,
    )(as_much)


def beside(data: Data, name: str, step: str, transport: str) -> Sample:
    """This ratio in each run, so that steps can be compared by their seeds."""
    return run_by_run(
        lambda ours, theirs: ours / theirs,
        at(data, name, step, transport).goodput(),
        at(data, name, step, BASE).goodput(),
    )


def change(data: Data, transport: str, before: str, after: str) -> dict[str, Estimate]:
    """The effect of a step on that ratio."""
    on = [name for name, transports in STEPPED.items() if transport in transports]
    return {name: beside(data, name, after, transport) / beside(data, name, before, transport) for name in on}


def added(data: Data, before: str, after: str) -> Estimate:
    """The effect of a step on CUBIC over all networks together."""
    goodputs = {step: [at(data, name, step, BASE).goodput() for name in STEPPED] for step in (before, after)}
    return together(goodputs[after], goodputs[before])


PAIRS = {"ap": "TCP-AP", "adhoc": "ad hoc TCP"}


@study.check_each(PAIRS, "Aggregates cost {} more than a tenth relative to CUBIC", paper=OUR_OWN, main=True)
def aggregates(data: Data, transport: str) -> Claim:
    return every(below(change(data, transport, "rates", "aggregates"), 0.9))


@study.check_each(PAIRS, "A second channel costs {} more than a tenth relative to CUBIC", paper=OUR_OWN)
def channels(data: Data, transport: str) -> Claim:
    return every(below(change(data, transport, "fq-codel", "channels"), 0.9))


@study.check_each(PAIRS, "FQ-CoDel changes what {} carries relative to CUBIC by less than a tenth", paper=OUR_OWN)
def fq_codel(data: Data, transport: str) -> Claim:
    return every(between(change(data, transport, "window", "fq-codel"), 0.9, 1.1))


@study.check("A second channel lets CUBIC carry half as much again", paper=OUR_OWN, main=True)
def second_channel(data: Data) -> Claim:
    return above(added(data, "fq-codel", "channels"), 1.5)


@study.check("Aggregates let CUBIC carry half as much again", paper=OUR_OWN)
def aggregation(data: Data) -> Claim:
    return above(added(data, "rates", "aggregates"), 1.5)


@study.cause(
    "a drop-tail queue of 50 is short where frames carry many packets: compared with one of 1000, FQ-CoDel takes a "
    "quarter off round trips"
)
def short_already(data: Data) -> Claim:
    def quicker(name: str) -> Estimate:
        after = at(data, name, "fq-codel", BASE).measure(mean_round_trip)
        return after / data.long_queues.measure(mean_round_trip, variant=name)

    return every(below({name: quicker(name) for name in STEPPED}, 0.75))


@study.check("FQ-CoDel takes a quarter off CUBIC's round trips", paper=OUR_OWN, because="short_already")
def short_queues(data: Data) -> Claim:
    def quicker(name: str) -> Estimate:
        after, before = (at(data, name, step, BASE).measure(mean_round_trip) for step in ("fq-codel", "window"))
        return after / before

    return every(below({name: quicker(name) for name in STEPPED}, 0.75))


@study.check(
    "C3TCP carries more than CUBIC on the meshes where it can run",
    paper=OUR_OWN,
    why="we think that it treats the links as a pipe although neighbours cannot send at once, and that over routes "
    "that never break there is less for it to avoid",
)
def c3tcp(data: Data) -> Claim:
    return every(above({STEP_LABELS[step]: gain(data, "chain", step, "c3") for step in WITH_C3TCP}, 1.0))


@study.check("Pacing two hops apart carries more on two channels than pacing four hops apart", paper=OUR_OWN)
def two_hops(data: Data) -> Claim:
    gains = {
        name: data.paces.goodput(variant=f"{name}/two") / data.paces.goodput(variant=f"{name}/paper")
        for name in ("chain", "cross", "gateway")
    }
    return every(above(gains, 1.0))


@study.check("Without the variation of round trips the gateway carries more", paper=OUR_OWN)
def steady(data: Data) -> Claim:
    return above(data.paces.goodput(variant="gateway/steady") / data.paces.goodput(variant="gateway/paper"), 1.0)


@study.check("Without aggregates TCP-AP is closer to CUBIC on today's mesh", paper=OUR_OWN, because="variation")
def nearer_without(data: Data) -> Claim:
    def ratios(name: str, each: str) -> Sample:
        ours, theirs = (data.without.goodput(variant=f"{name}/{each}/{one}") for one in ("ap", BASE))
        return run_by_run(lambda x, y: x / y, ours, theirs)

    return every(above({n: ratios(n, "aggregates") / ratios(n, "today") for n in ("chain", "cross")}, 1.0))
