"""Our own study: wireless senders with and without pacing side by side.

A wireless sender that does not know TCP-GAP sends as it always did. The paper says that the gateway forwards its
packets unchanged, but not what happens to a paced flow beside it. Two parallel chains with both flows upwards, or one
of them downwards.
"""

from fourhop import Scenario, Sweep
from fourhop.study import (
    OUR_OWN,
    STEADY,
    Cells,
    Chart,
    Claim,
    Data,
    Profile,
    Run,
    Sample,
    Study,
    above,
    below,
    every,
    shares,
)
from fourhop.study.flows import goodputs

from ._common import ASSUMED, PAPER, Direction, parallel, variant

RUNS = 8
LENGTH = {**STEADY, "packets": 11_000}
FLOWS = {"ftp-1": "FTP 1", "ftp-2": "FTP 2"}
LABELS = {"plain": "both plain", "beside": "FTP 1 paced, FTP 2 plain", "paced": "both paced"}
WAYS: dict[str, tuple[Direction, Direction]] = {"up": ("up", "up"), "oncoming": ("down", "up")}

study = Study(
    "Paced and plain senders side by side",
    source=f"our own study in the network of {PAPER}, figure 5",
    assumed=[
        *ASSUMED,
        "A plain sender uses NewReno; the gateway is TCP-GAP's unless both senders are plain. With oncoming "
        "flows FTP 1 comes from the wire and is paced at the gateway.",
        f"{RUNS} runs of 11,000 packets each, of which the first eleventh is not measured.",
    ],
)


def _variants(base: Scenario) -> dict[str, Scenario]:
    paced = variant(base, "gap-gc")
    return {
        "plain": variant(base, "newreno"),
        "beside": paced.with_(**{"flows[1].transport": "newreno"}),
        "paced": paced,
    }


@study.sweep_each(WAYS)
def flows(profile: Profile, directions: tuple[Direction, Direction]) -> Sweep:
    return Sweep(variants=_variants(parallel(profile, directions, **LENGTH)), runs=RUNS)


@study.chart_each(
    {
        "both_up": ("up", "Both flows upwards. Whiskers: 95 % intervals over the runs."),
        "one_each_way": ("oncoming", "FTP 1 from the wire into the mesh, FTP 2 upwards."),
    }
)
def goodput(data: Data, way: str) -> Chart:
    return shares(data[way], FLOWS, LABELS)


def first_share(cells: Cells, name: str) -> Sample:
    """Share of FTP 1, the paced flow, 0 to 1."""

    def of(run: Run) -> float:
        return float(run.flows["ftp-1"]["goodput_bps"]) / sum(goodputs(run))

    return cells.measure(of, variant=name)


@study.check(
    "A plain sender takes more than a paced one beside it",
    paper=OUR_OWN,
    assumed="both upwards: the paced one below half",
)
def plain_takes_more(data: Data) -> Claim:
    return below(first_share(data.up, "beside"), 0.5)


@study.check(
    "A paced flow does not starve beside a plain one",
    paper=OUR_OWN,
    assumed="at least a fifth of both, both ways",
)
def does_not_starve(data: Data) -> Claim:
    return every(above({way: first_share(data[way], "beside") for way in WAYS}, 0.2))


@study.check(
    "One paced sender out of two is already a gain",
    paper="the gateway is compatible with senders that do not pace",
    assumed="both upwards: more in total than with two plain ones",
    because="gains_by_both",
)
def a_gain_already(data: Data) -> Claim:
    return above(data.up.goodput(variant="beside") / data.up.goodput(variant="plain"), 1.0)


@study.cause(
    "pacing gains if both senders pace: two paced senders carry more than two plain ones, and one beside a plain "
    "sender has less than a fifth of both"
)
def gains_by_both(data: Data) -> Claim:
    gain = data.up.goodput(variant="paced") / data.up.goodput(variant="plain")
    return every({"both paced": above(gain, 1.0), "share": below(first_share(data.up, "beside"), 0.2)})
