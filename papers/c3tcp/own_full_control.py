"""Our own study: acknowledgements that the module makes itself, and nodes that take no part in C3TCP.

The paper's last step is to let the module acknowledge data to the local TCP, so that its congestion control no longer
matters; it shows no results of this. It does not mention nodes that do not know its options.
"""

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Study, about, above, below, every, ratio, table_by

from ._common import ASSUMED, GOODPUTS, PAPER, VARIANTS, WHOLE, compared, figure5, longest, rate

LOCAL = {
    "local": ("local acknowledgements, NewReno", "newreno"),
    "local-reno": ("local acknowledgements, Reno", "reno"),
    "local-westwood": ("local acknowledgements, Westwood", "westwood"),
}
"""Senders that the module acknowledges, by short name: label and transport."""

UNAWARE = {"relay": ("node 2 takes no part", 1), "receiver": ("the receiver takes no part", 3)}
"""Nodes that know nothing of C3TCP."""
OPTIONS = {"strip": "drops options", "pass": "passes options on"}

WITHOUT = {f"{who}-{rule}": f"{UNAWARE[who][0]} and {what}" for who in UNAWARE for rule, what in OPTIONS.items()}

LABELS = {
    **{name: VARIANTS.labels[name] for name in ("standard", "c3")},
    **{name: label for name, (label, _) in LOCAL.items()},
    **WITHOUT,
}

study = Study(
    "Local acknowledgements, and nodes that take no part",
    source=f"{PAPER}, section IV; our own study",
    assumed=[*ASSUMED, "What local acknowledgements do beyond acknowledging is ours: docs/c3tcp.md."],
)


@study.sweep
def against(profile: Profile) -> Sweep:
    c3 = VARIANTS.of(figure5(profile), "c3")
    local = {
        name: c3.with_(**{"c3tcp.local_acks": True, "flows[0].transport": transport})
        for name, (_, transport) in LOCAL.items()
    }
    without = {
        f"{who}-{rule}": c3.with_(**{"c3tcp.unaware": node, "c3tcp.unaware_nodes": rule})
        for who, (_, node) in UNAWARE.items()
        for rule in OPTIONS
    }
    return Sweep(variants={**compared(figure5(profile), "standard", "c3"), **local, **without}, runs=60)


@study.chart
def numbers(data: Data) -> Chart:
    """Goodput in kbit/s, longest queue of node 2 with UDP, retransmissions of TCP. Intervals over runs."""
    columns = {
        **GOODPUTS,
        "longest queue with UDP": longest,
        "retransmitted": lambda cells: cells.column("retransmitted_packets", "tcp"),
    }
    return table_by(data.against, "variant", columns, LABELS)


@study.check(
    "With local acknowledgements it does not matter which TCP runs above",
    paper="full control of the window",
    assumed="goodput over the whole run: Reno and Westwood within 2 % of NewReno; partly: within 5 %",
)
def any_tcp(data: Data) -> Claim:
    newreno = rate(data.against, "local", WHOLE)
    others = {label: rate(data.against, name, WHOLE) / newreno for name, (label, _) in LOCAL.items() if name != "local"}
    return every(about(others, 1.0, 0.02)).or_partly(every(about(others, 1.0, 0.05)))


@study.check(
    "Local acknowledgements keep the goodput and the queue of C3TCP",
    paper="not in the paper",
    assumed="over the whole run at least 95 % of the goodput, with UDP a queue of at most 15 packets at node 2; "
    "partly: the queue",
)
def keeps(data: Data) -> Claim:
    kept = rate(data.against, "local", WHOLE) / rate(data.against, "c3", WHOLE)
    queue = below(longest(data.against.where(variant="local")), 15)
    return every({"goodput": above(kept, 0.95), "queue": queue}).or_partly(queue)


@study.check_each(
    WITHOUT,
    "C3TCP behaves like standard TCP where {}",
    paper="not in the paper",
    assumed="goodput over the whole run within 3 % of standard TCP's, longest queue of node 2 with UDP within 15 %; "
    "partly: the goodput",
)
def falls_back(data: Data, name: str) -> Claim:
    standard = data.against.where(variant="standard")
    goodput = about(rate(data.against, name, WHOLE) / rate(data.against, "standard", WHOLE), 1.0, 0.03)
    queue = about(ratio(longest(data.against.where(variant=name)), longest(standard)), 1.0)
    return every({"goodput": goodput, "queue": queue}).or_partly(goodput)
