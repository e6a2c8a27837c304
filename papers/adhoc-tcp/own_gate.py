"""Senders behind a wire: the gate that lets buffer occupancy decide when the delimiter acts.

Section III-C: for a sender behind a wire, the receiver limits the window only while the path's buffers are full, judged
by two marks between the smallest and the largest occupancy seen. The paper shows no such network.
"""

from fourhop import Scenario, Sweep
from fourhop.study import Chart, Claim, Data, Estimate, Profile, Study, Variants, above, between, every, lines, table

from ._common import ASSUMED, KINDS, PAPER, carried, normalized, settings

DELAYS = ("100us", "2ms", "10ms", "40ms")
"""Delay of each of the three wires."""

HOPS, RUNS = 3, 6
LOW, HIGH = "adhoc_tcp.occupancy_low", "adhoc_tcp.occupancy_high"
VARIANTS = Variants(
    {
        "sack": (KINDS["sack"], "sack", {}),
        "quarters": ("ad hoc TCP", "adhoc-tcp", {}),
        "low": ("marks at 10 and 50 %", "adhoc-tcp", {LOW: "10%", HIGH: "50%"}),
        "high": ("marks at 50 and 90 %", "adhoc-tcp", {LOW: "50%", HIGH: "90%"}),
        "always": ("always limited", "adhoc-tcp", {"adhoc_tcp.rater": False}),
        "never": ("never limited", "adhoc-tcp", {"adhoc_tcp.delimiter": False}),
    }
)

study = Study(
    "Senders behind a wire",
    source=f"{PAPER}, section III-C; our own study",
    profiles=("ns2",),
    assumed=[
        *ASSUMED,
        f"A host, two routers and a gateway, connected by wires of 10 Mbit/s; {HOPS} radio hops from the gateway "
        f"on; one flow into the mesh, packets of 500 bytes, 100 s, {RUNS} runs.",
        "Unless stated otherwise, ad hoc TCP has its marks at 25 and 75 % of the range of occupancy.",
    ],
)


@study.sweep
def wires(profile: Profile) -> Sweep:
    base = Scenario.from_dict(
        {
            "name": "behind-a-wire",
            "profile": profile,
            "duration": "100s",
            "sample_every": "1s",
            "topology": {"kind": "chain", "hops": HOPS},
            "wired": {"rate": "10Mbps", "delay": DELAYS[0], "gateways": ["last"], "nodes": ["R1", "R2", "B"]},
            "flows": [{"name": "flow-1", "from": "B", "to": "first", "transport": "sack"}],
            **settings(500),
        }
    )
    return Sweep(variants=VARIANTS.compared(base), over={"wired.delay": DELAYS}, runs=RUNS)


@study.chart
def throughput(data: Data) -> Chart:
    """Throughput over the delay of each of the three wires. Whiskers: 95 % intervals over the runs."""
    return lines(
        data.wires, x="delay", by="variant", labels=VARIANTS.labels, y_label="throughput (kbit/s)",
        x_label="delay of a wire (s)", x_log=True,
    )  # fmt: skip


@study.chart
def numbers(data: Data) -> Chart:
    """Round trip, normalized goodput, time-outs of a run, and how much of the time the window was limited."""
    rows = []
    for name, label in VARIANTS.labels.items():
        for delay in DELAYS:
            one = data.wires.where(variant=name, delay=delay)
            limited = one.over_time("adwin_segments", "flow-1", 5.0, 100.0, lambda each: (each <= W_MOST).mean())
            rows.append((label, delay, one.column("rtt_mean_s"), normalized(one), one.column("timeouts"), limited))
    return table(["kind", "wire", "round trip", "normalized goodput", "time-outs", "limited"], rows)


W_MOST = 64
"""In segments: a receiver that does not limit advertises its buffer, which is larger."""


def _gain(data: Data, name: str, over: str, delay: str) -> Estimate:
    """Ratio of the goodput of one variant to that of another."""
    return carried(data.wires, variant=name, delay=delay) / carried(data.wires, variant=over, delay=delay)


@study.check(
    "Behind short wires ad hoc TCP carries at least what SACK does",
    paper="the delimiter may be used towards a wired sender",
    assumed="wires of 0.1 and 2 ms: more than 98 % of what SACK carries",
)
def short(data: Data) -> Claim:
    return every(above({delay: _gain(data, "quarters", "sack", delay) for delay in DELAYS[:2]}, 0.98))


@study.check(
    "Behind long wires, too, ad hoc TCP carries at least what SACK does",
    paper="buffer occupancy decides when the delimiter is invoked, as a wire has a queue that is tolerable",
    assumed="wires of 10 and 40 ms: more than 98 % of what SACK carries",
    because="unused",
)
def long(data: Data) -> Claim:
    return every(above({delay: _gain(data, "quarters", "sack", delay) for delay in DELAYS[2:]}, 0.98))


@study.cause(
    "behind long wires the gate is not used: their delay counts as that of radio hops, and the receiver does the "
    "same as one that always limits, wherever the marks are"
)
def unused(data: Data) -> Claim:
    return every(
        between(
            {
                f"{VARIANTS.labels[name]}, {delay}": _gain(data, name, "always", delay)
                for name in ("quarters", "low", "high")
                for delay in DELAYS[2:]
            },
            0.98,
            1.02,
        )
    )
