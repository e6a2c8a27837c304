"""Unsynchronised clocks along the walk of figure 8: the effect of errors in forward delays on a receiver.

The paper requires synchronised clocks (section III-A) and does not say how well they must agree.
"""

from fourhop import Sweep
from fourhop.study import OUR_OWN, Chart, Claim, Data, Estimate, Profile, Study, above, below, between, every, table

from ._common import ASSUMED, KINDS, PAPER, carried, normalized, walk

OFFSETS = ("-1s", "-100ms", "-10ms", "-1ms", "0s", "1ms", "10ms", "100ms", "1s")
"""How far the receiver's clock is ahead."""

DRIFTS = (-1000, -100, 100, 1000)
"""How much faster it runs, in parts per million."""

RUNS = 6

SACK, TRUE = "sack", "0s"
LABELS = {
    SACK: KINDS["sack"],
    **{offset: f"{offset} ahead" for offset in OFFSETS if not offset.startswith("-")},
    **{offset: f"{offset[1:]} behind" for offset in OFFSETS if offset.startswith("-")},
    **{f"{drift} ppm": f"{drift:+} ppm" for drift in DRIFTS},
    TRUE: "clocks agree",
}

study = Study(
    "Clocks that do not agree",
    source=f"{PAPER}, section III-A; our own study",
    profiles=("ns2",),
    assumed=[
        *ASSUMED[:2],
        f"The walk of figure 8, {RUNS} runs.",
        "Offset and drift are the receiver's.",
    ],
)


@study.sweep
def way(profile: Profile) -> Sweep:
    base = walk(profile, sample_every="1s")
    adhoc = base.with_(transport="adhoc-tcp")
    kinds = {
        SACK: base,
        **{offset: adhoc.with_(**{"adhoc_tcp.clock_offset": offset}) for offset in OFFSETS},
        **{f"{drift} ppm": adhoc.with_(**{"adhoc_tcp.clock_drift": drift}) for drift in DRIFTS},
    }
    return Sweep(variants=kinds, runs=RUNS)


@study.chart
def clocks(data: Data) -> Chart:
    """Throughput, normalized goodput, time-outs, and zero-window advertisements of a run (means and 95 % intervals)."""
    rows = []
    for name, label in LABELS.items():
        one = data.way.where(variant=name)
        zwas = one.over_time("zwas", "flow-1", 0.0, 200.0, lambda each: each.max()) if name != SACK else ""
        rows.append((label, carried(one), normalized(one), one.column("timeouts"), zwas))
    return table(["clock", "throughput", "normalized goodput", "time-outs", "ZWAs"], rows)


def _against(data: Data, under: str, *names: str) -> dict[str, Estimate]:
    """Ratio of the throughput with a clock to that with another clock or of SACK, by label."""
    base = carried(data.way.where(variant=under))
    return {LABELS[name]: carried(data.way.where(variant=name)) / base for name in names}


@study.check(
    "Clocks need to agree only to a millisecond, and may be ahead by 10 ms or drift by 100 ppm",
    paper="clocks are synchronised, coarsely",
    assumed="within 5 % of the throughput with clocks that agree",
)
def coarse(data: Data) -> Claim:
    return every(between(_against(data, TRUE, "-1ms", "1ms", "10ms", "-100 ppm", "100 ppm"), 0.95, 1.05))


@study.check(
    "A clock that is ahead does no harm, however far ahead it is",
    paper=OUR_OWN,
    assumed="with 100 ms and 1 s at least 95 % of the throughput with clocks that agree",
)
def ahead(data: Data) -> Claim:
    return every(above(_against(data, TRUE, "100ms", "1s"), 0.95))


@study.check(
    "If the clock is one second ahead, the freezer no longer acts",
    paper="the freezing timer is SFLD + 5 FLDD; an offset enlarges SFLD",
    assumed="fewer than a tenth of the zero-window advertisements with clocks that agree",
)
def silent(data: Data) -> Claim:
    ahead, agree = (
        data.way.over_time("zwas", "flow-1", 0.0, 200.0, lambda each: each.max(), variant=name) for name in ("1s", TRUE)
    )
    return below(ahead / agree, 0.1)


@study.check(
    "A clock that is behind by more than a packet's travel time undoes ad hoc TCP",
    paper="a receiver that finds packets faster than radio assumes a sender behind a wire, and no longer limits it",
    assumed="100 ms and 1 s behind less than 95 % of the throughput with clocks that agree",
)
def behind(data: Data) -> Claim:
    return every(below(_against(data, TRUE, "-100ms", "-1s"), 0.95))
