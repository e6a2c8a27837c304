"""Other kinds of gateways: TCP-GAP compared with a static limiter, FQ-CoDel, and other senders. Not from the paper.

Parallel chains, with both flows into the mesh and one each way. A limiter gives each flow the same part of a configured
capacity; FQ-CoDel serves flows in turn and drops packets that wait long; CUBIC is what wired senders use today.
"""

from fourhop import Scenario, Sweep
from fourhop.study import OUR_OWN, STEADY, Chart, Claim, Data, Profile, Study, above, below, every, fair, shares

from ._common import ASSUMED, PAPER, Direction, compared, parallel
from ._measures import sent_again
from ._several import fairer, gain

CAPACITY = "600kbps"
RUNS = 8
LENGTH = {**STEADY, "packets": 11_000}

LABELS = {
    "newreno": "NewReno, plain gateway",
    "cubic": "CUBIC, plain gateway",
    "gap-gc": "TCP-GAP",
    "gap-code": "TCP-GAP, authors' arithmetic",
    "cubic-gap": "TCP-GAP, CUBIC on the wired side",
    "limiter": "NewReno, static limiter",
    "fq-codel": "NewReno, FQ-CoDel",
    "fq-codel-shaped": "NewReno, FQ-CoDel with shaper",
}

study = Study(
    "Other gateways",
    source=f"our own comparison in the network of {PAPER}, figure 5",
    assumed=[
        *ASSUMED,
        f"Limiter and shaper have {CAPACITY}, headers included: a little more than TCP-GAP carries under ns2. The "
        "limiter counts flows in both directions and limits those into the mesh.",
        "FQ-CoDel has the parameters of RFC 8290; without a shaper it keeps two packets in the radio's queue.",
        f"{RUNS} runs of 11,000 packets each, of which the first eleventh is not measured.",
    ],
)


def _variants(base: Scenario) -> dict[str, Scenario]:
    made = compared(base, "newreno", "gap-gc", "gap-code")
    down = [i for i, flow in enumerate(base.resolved["flows"]) if flow["from"] == "B"]
    cubic = {f"flows[{i}].transport": "cubic" for i in down}
    plain = made["newreno"]
    made["cubic"] = plain.with_(**cubic)
    made["cubic-gap"] = made["gap-gc"].with_(**cubic)
    made["limiter"] = plain.with_(**{"gateway.kind": "fair-share", "gateway.capacity": CAPACITY})
    made["fq-codel"] = plain.with_(**{"gateway.kind": "fq-codel"})
    made["fq-codel-shaped"] = plain.with_(**{"gateway.kind": "fq-codel", "gateway.capacity": CAPACITY})
    return {name: made[name] for name in LABELS}


@study.sweep_each({"down": ("down", "down"), "mixed": ("down", "up")})
def chains(profile: Profile, directions: tuple[Direction, Direction]) -> Sweep:
    return Sweep(variants=_variants(parallel(profile, directions, **LENGTH)), runs=RUNS)


@study.chart_each(
    {
        "goodput_down": (
            "down",
            "Both flows into the mesh, Jain's index in brackets. Whiskers: 95 % intervals over the runs.",
        ),
        "goodput_mixed": ("mixed", "FTP 1 into the mesh, FTP 2 out of it."),
    }
)
def goodput(data: Data, way: str) -> Chart:
    return shares(data[way], {"ftp-1": "FTP 1", "ftp-2": "FTP 2"}, LABELS, fairness="{:.2f}")


BECAUSE = ["fair_already", "little_lost", "better_with_code"]


OTHERS = {"fq-codel": "FQ-CoDel", "limiter": "a static limiter"}
BOTH = "both ways; partly: into the mesh"


def fairer_than(data: Data, other: str) -> Claim:
    into, both = (above(fairer(cells, other), 0.0) for cells in (data.down, data.mixed))
    return every({"into the mesh": into, "both ways": both}).or_partly(into)


def more_than(data: Data, other: str) -> Claim:
    into, both = (above(gain(cells, other), 1.0) for cells in (data.down, data.mixed))
    return every({"into the mesh": into, "both ways": both}).or_partly(into)


for _name, _label in OTHERS.items():
    _other = {_name: _label}
    study.check_each(_other, "TCP-GAP is fairer than {}", paper=OUR_OWN, assumed=BOTH, because=BECAUSE)(fairer_than)
    study.check_each(_other, "TCP-GAP carries more than {}", paper=OUR_OWN, assumed=BOTH, because=BECAUSE)(more_than)


@study.check(
    "TCP-GAP helps CUBIC too",
    paper=OUR_OWN,
    assumed="both flows into the mesh: fairer, and more in total; partly: fairer",
    because=BECAUSE,
)
def helps_cubic(data: Data) -> Claim:
    even = above(fairer(data.down, than="cubic", name="cubic-gap"), 0.0)
    total = above(gain(data.down, over="cubic", name="cubic-gap"), 1.0)
    return every({"fairer": even, "more": total}).or_partly(even)


@study.cause("into the mesh NewReno without a pacing gateway is already fair: its index is above 0.95")
def fair_already(data: Data) -> Claim:
    return fair(data.down.fairness(variant="newreno"), 0.95)


@study.cause("NewReno retransmits less than one segment in a hundred: the time that pacing waits is wasted")
def little_lost(data: Data) -> Claim:
    return below(data.down.measure(sent_again, variant="newreno"), 0.01)


@study.cause("with the arithmetic of the authors' code TCP-GAP is fairer both ways, and carries more")
def better_with_code(data: Data) -> Claim:
    claims = {"into the mesh": data.down, "both ways": data.mixed}
    found = {text: above(fairer(cells, "gap-gc", "gap-code"), 0.0) for text, cells in claims.items()}
    found |= {f"{text}, total": above(gain(cells, "gap-gc", "gap-code"), 1.0) for text, cells in claims.items()}
    return every(found)
