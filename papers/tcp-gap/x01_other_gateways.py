"""What else a gateway could do: TCP-GAP beside a static limiter, FQ-CoDel, and other senders. Not from the paper.

Parallel chains, both flows into the mesh and one each way. A limiter gives each flow the same part of a capacity that
somebody has to choose; FQ-CoDel serves flows in turn and drops where they wait long; CUBIC is what wired senders are
today.
"""

from fourhop import Scenario, Sweep
from fourhop.study import Cells, Chart, Claim, Data, Profile, Study, above, every, line

from ._common import ASSUMED, PAPER, compared, parallel

CAPACITY = "600kbps"
RUNS = 8
LENGTH = {"packets": 11_000, "batches": 10, "duration": "100000s"}

LABELS = {
    "newreno": "NewReno, plain gateway",
    "cubic": "CUBIC, plain gateway",
    "gap-gc": "TCP-GAP",
    "cubic-gap": "TCP-GAP, CUBIC on the wired side",
    "limiter": "NewReno, static limiter",
    "fq-codel": "NewReno, FQ-CoDel",
    "fq-codel-shaped": "NewReno, FQ-CoDel with shaper",
}

study = Study(
    "Other gateways",
    source=f"a comparison of our own in the network of {PAPER}, figure 5",
    assumed=[
        *ASSUMED,
        f"Limiter and shaper have {CAPACITY}, headers included: a little more than TCP-GAP carries under ns2. The "
        "limiter counts flows in both directions and limits those into the mesh.",
        "FQ-CoDel has the parameters of RFC 8290; without a shaper it keeps two packets at the radio's queue.",
        f"{RUNS} runs of 11,000 packets each, a part of eleven not measured.",
    ],
)


def _variants(base: Scenario) -> dict[str, Scenario]:
    made = compared(base, "newreno", "gap-gc")
    down = [i for i, flow in enumerate(base.resolved["flows"]) if flow["from"] == "B"]
    cubic = {f"flows[{i}].transport": "cubic" for i in down}
    plain = made["newreno"]
    made["cubic"] = plain.with_(**cubic)
    made["cubic-gap"] = made["gap-gc"].with_(**cubic)
    made["limiter"] = plain.with_(**{"gateway.kind": "fair-share", "gateway.capacity": CAPACITY})
    made["fq-codel"] = plain.with_(**{"gateway.kind": "fq-codel"})
    made["fq-codel-shaped"] = plain.with_(**{"gateway.kind": "fq-codel", "gateway.capacity": CAPACITY})
    return {name: made[name] for name in LABELS}


@study.sweep
def down(profile: Profile) -> Sweep:
    return Sweep(variants=_variants(parallel(profile, ("down", "down"), **LENGTH)), runs=RUNS)


@study.sweep
def mixed(profile: Profile) -> Sweep:
    return Sweep(variants=_variants(parallel(profile, ("down", "up"), **LENGTH)), runs=RUNS)


def _chart(cells: Cells) -> Chart:
    flows = {"ftp-1": "FTP 1", "ftp-2": "FTP 2"}
    made = []
    for name, group in cells.by("variant").items():
        bars = {shown: group.goodput(flow) for flow, shown in flows.items()} | {"all": group.goodput()}
        made.append(line(f"{LABELS[name]} ({group.fairness().mean:.2f})", bars))
    return Chart("bars", tuple(made), "", "goodput (kbit/s)")


@study.chart
def goodput_down(data: Data) -> Chart:
    """Both flows into the mesh, Jain's index in brackets. Bars: 95 % intervals over eight runs."""
    return _chart(data.down)


@study.chart
def goodput_mixed(data: Data) -> Chart:
    """FTP 1 into the mesh, FTP 2 out of it."""
    return _chart(data.mixed)


def fairer(data: Data, other: str, way: str) -> Claim:
    cells = getattr(data, way)
    return above(cells.fairness(variant="gap-gc") - cells.fairness(variant=other), 0.0)


def more(data: Data, other: str, way: str) -> Claim:
    cells = getattr(data, way)
    return above(cells.goodput(variant="gap-gc") / cells.goodput(variant=other), 1.0)


OWN = "nothing: a question of our own"
EVEN = "into the mesh all of them are fair: nothing is left to gain"
LOSES = "few frames are lost in the mesh, and what pacing waits is lost"
UNEVEN = "a long round trip slows one of the flows for tens of seconds (figure 13)"


def _register(other: str, name: str) -> None:
    def is_fairer(data: Data) -> Claim:
        into = fairer(data, other, "down")
        return every({"into the mesh": into, "both ways": fairer(data, other, "mixed")}).or_partly(into)

    def carries_more(data: Data) -> Claim:
        into = more(data, other, "down")
        return every({"into the mesh": into, "both ways": more(data, other, "mixed")}).or_partly(into)

    both = "both ways; partly: into the mesh"
    short = other.replace("-", "_")
    is_fairer.__name__, carries_more.__name__ = f"fairer_than_{short}", f"more_than_{short}"
    study.check(f"TCP-GAP is fairer than {name}", paper=OWN, assumed=both, why={"ns2": UNEVEN, "standard": EVEN})(
        is_fairer
    )
    study.check(f"TCP-GAP carries more than {name}", paper=OWN, assumed=both, why={"standard": LOSES})(carries_more)


_register("fq-codel", "FQ-CoDel")
_register("limiter", "a static limiter")


@study.check(
    "TCP-GAP helps CUBIC too",
    paper=OWN,
    assumed="both flows into the mesh: fairer, and more in total; partly: fairer",
    why={"ns2": f"it carries more; {UNEVEN}", "standard": f"{EVEN}, and {LOSES}"},
)
def helps_cubic(data: Data) -> Claim:
    cells = data.down
    even = above(cells.fairness(variant="cubic-gap") - cells.fairness(variant="cubic"), 0.0)
    total = above(cells.goodput(variant="cubic-gap") / cells.goodput(variant="cubic"), 1.0)
    return every({"fairer": even, "more": total}).or_partly(even)
