"""Our own study: C3TCP among tens of moving nodes.

The paper says that results with tens of mobile nodes agree with those on the string, without showing them.
"""

from collections.abc import Callable

from fourhop import Scenario, Sweep
from fourhop.study import (
    Cells,
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Sample,
    Study,
    above,
    below,
    every,
    run_by_run,
    table_by,
)  # fmt: skip
from fourhop.study.cells import KBPS

from ._common import BOTH, C3, LABELS, PAPER, compared, settings

TCP, UDP = 3, 2
"""Number of flows of each kind."""
WINDOW = 4
"""A fixed window as small as that of C3TCP on the string, in segments."""
SHOWN = ("standard", *C3, "vegas", "westwood")

study = Study(
    "Tens of moving nodes",
    source=f"{PAPER}, section V; our own study",
    assumed=[
        "The paper does not describe this network. Ours: 50 nodes on 1500 m x 300 m that move by random waypoints at 1 "
        "to 10 m/s with pauses of 10 s, from the steady state on; AODV and ARP; radio and queues as on the string.",
        "Three TCP flows between nodes drawn by the seed, beside two flows of UDP of 100 kbit/s.",
    ],
)


def walking(profile: Profile) -> Scenario:
    """The moving nodes, with standard TCP."""
    tcp = [{"from": 2 * n, "to": 2 * n + 1, "transport": "newreno"} for n in range(TCP)]
    udp = [{"from": 2 * n, "to": 2 * n + 1, "transport": "udp", "rate": "100kbps"} for n in range(TCP, TCP + UDP)]
    area = {"width": "1500m", "height": "300m"}
    walk = {"speed_min": "1m/s", "speed_max": "10m/s", "pause": "10s"}
    return Scenario.from_dict(
        settings(
            profile,
            link={},
            routing={},
            duration="60s",
            warmup="5s",
            topology={"kind": "random", "nodes": 50, **area},
            mobility={"model": "random-waypoint", **walk, **area},
            flows=[*tcp, *udp],
        )
    )


@study.sweep
def field(profile: Profile) -> Sweep:
    return Sweep(variants=compared(walking(profile), *SHOWN), runs=20)


@study.sweep
def hello(profile: Profile) -> Sweep:
    """The same if a node considers a link broken only when it no longer hears the other node."""
    base = walking(profile).with_(**{"routing.hello": True, "routing.link_layer_detection": False})
    return Sweep(variants=compared(base, "standard", *C3), runs=20)


@study.sweep
def fixed(profile: Profile) -> Sweep:
    """The same with a window that no measurement sets."""
    cwl = {f"flows[{n}].transport": "cwl" for n in range(TCP)}
    return Sweep(walking(profile).with_(**cwl, **{"tcp.limit": WINDOW}), runs=20)


def of_tcp(column: str, scale: float = 1.0, unit: str = "") -> Callable[[Cells], Sample]:
    """Sum of a column of the table of flows over the TCP flows."""
    return lambda cells: cells.measure(
        lambda run: scale * sum(flow[column] for flow in run.flows.values() if flow["transport"] != "udp"), unit
    )


goodput = of_tcp("goodput_bps", 1e-3, KBPS)
again = of_tcp("retransmitted_packets")
sent = of_tcp("sent_packets")


@study.chart
def numbers(data: Data) -> Chart:
    """The TCP flows together: goodput, segments sent and sent again, time-outs; packets lost by all nodes."""
    columns = {
        "goodput": goodput,
        "sent": sent,
        "retransmitted": again,
        "time-outs": of_tcp("timeouts"),
        "packets lost": lambda cells: cells.column("dropped_packets"),
    }
    return table_by(data.field, "variant", columns, {name: LABELS[name] for name in SHOWN})


@study.check_each(
    BOTH,
    "Among moving nodes {} carries more than standard TCP",
    paper="good agreement with the string, where it has around 27 % more",
    assumed="goodput of the TCP flows together: at least 10 % more; partly: at least as much, within 5 %",
    because="measured_windows_cost",
)
def ahead(data: Data, name: str) -> Claim:
    gain = goodput(data.field.where(variant=name)) / goodput(data.field.where(variant="standard"))
    return above(gain, 1.1).or_partly(above(gain, 0.95))


@study.check_each(
    BOTH,
    "Among moving nodes {} retransmits less than standard TCP",
    paper="it avoids multiple packet drops",
    assumed="retransmitted segments of those sent: at most half the share; partly: less",
    because="fewer_with_hello",
)
def fewer(data: Data, name: str) -> Claim:
    less = lost(data.field, name)
    return below(less, 0.5).or_partly(below(less, 1.0))


def lost(cells: Cells, name: str) -> Estimate:
    """Share of retransmissions among the segments sent, relative to that of standard TCP."""
    ours, theirs = (
        run_by_run(lambda resent, all_: resent / all_, again(each), sent(each))
        for each in (cells.where(variant=of) for of in (name, "standard"))
    )
    return ours / theirs


@study.cause(
    "link-layer detection of broken links hides it: with HELLO messages instead, C3TCP with either measurement "
    "retransmits less"
)
def fewer_with_hello(data: Data) -> Claim:
    return every(below({LABELS[name]: lost(data.hello, name) for name in BOTH}, 1.0))


@study.cause(
    f"the cost comes from how the measurements change the window, not from its size: a fixed one of {WINDOW} "
    "segments is ahead of C3TCP"
)
def measured_windows_cost(data: Data) -> Claim:
    return above(goodput(data.fixed) / goodput(data.field.where(variant="c3")), 1.0)
