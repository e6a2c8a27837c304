"""Packets in the queue of node 2, which the cross traffic passes: standard TCP fills it, C3TCP does not."""

from fourhop import Sweep
from fourhop.study import Cells, Chart, Claim, Data, Line, Profile, Sample, Study, above, below, every, table

from ._common import ALONE, ASSUMED, BOTH, C3, CROSSED, LABELS, PAPER, compared, figure5

NODE = 1
"""Node 2 of the paper."""

SHOWN = ("standard", *C3)

study = Study("Queue at node 2", source=f"{PAPER}, section V", assumed=[*ASSUMED, "The queue is sampled every 250 ms."])


@study.sweep
def queues(profile: Profile) -> Sweep:
    return Sweep(variants=compared(figure5(profile), *SHOWN), runs=20)


@study.chart
def over_time(data: Data) -> Chart:
    """Packets in the queue of node 2, one run; UDP from 15 to 30 s."""
    lines = []
    for name in SHOWN:
        times, packets = sampled(data.queues.where(variant=name))
        lines.append(Line(LABELS[name], times, packets, [None] * len(times), [None] * len(times)))
    return Chart("series", tuple(lines), "time (s)", "packets in the queue")


def sampled(cells: Cells) -> tuple[list[float], list[float | None]]:
    """The queue of node 2 over time in the first run."""
    rows = cells.queues()
    first = rows.filter(rows["node"] == NODE)
    first = first.filter(first["seed"] == first["seed"].min()).sort("time_s")
    return first["time_s"].to_list(), [float(packets) for packets in first["queue_packets"].to_list()]


def most(data: Data, name: str, when: tuple[float, float]) -> Sample:
    """The longest queue of a run between two times."""
    return data.queues.queue(NODE, *when, lambda packets: packets.max(), variant=name)


def mean(data: Data, name: str, when: tuple[float, float]) -> Sample:
    """The mean queue of a run between two times."""
    return data.queues.queue(NODE, *when, lambda packets: packets.mean(), variant=name)


@study.chart
def numbers(data: Data) -> Chart:
    """Longest and mean queue at node 2, and packets lost in the whole network. Intervals over runs."""
    rows = [
        (
            LABELS[name],
            *(of(data, name, when) for when in (ALONE, CROSSED) for of in (most, mean)),
            data.queues.column("dropped_packets", variant=name),
        )
        for name in SHOWN
    ]
    return table(["variant", "longest alone", "mean alone", "longest with UDP", "mean with UDP", "packets lost"], rows)


@study.check(
    "Alone, standard TCP leaves fewer than 5 packets at node 2",
    paper="less than 5 while rates in and out are comparable",
    assumed="the mean over time from 3 to 15 s; partly: below 10",
    why={
        "standard": "802.11 as written lets a frame that finds the medium idle be sent at once, so node 1, which "
        "always has one, gets ahead of node 2"
    },
)
def standard_alone(data: Data) -> Claim:
    waiting = mean(data, "standard", ALONE)
    return below(waiting, 5).or_partly(below(waiting, 10))


@study.check(
    "With UDP, standard TCP overflows the queue of node 2",
    paper="overflow and several packets lost",
    assumed="the longest queue is 49, the most that may wait; partly: above 10",
    why="nodes 1 and 2 have equal chances of access, and node 1 hears the UDP too, so most packets wait at the TCP "
    "source",
)
def standard_overflows(data: Data) -> Claim:
    longest = most(data, "standard", CROSSED)
    return above(longest, 48).or_partly(above(longest, 10))


@study.check_each(
    BOTH,
    "With UDP, {} leaves at most 10 packets at node 2",
    paper="at most about 10",
    assumed="the longest queue of a run, averaged over runs; partly: below 15",
)
def crossed(data: Data, name: str) -> Claim:
    longest = most(data, name, CROSSED)
    return below(longest, 10).or_partly(below(longest, 15))


@study.check_each(
    BOTH,
    "Alone, {} leaves 0 to 3 packets at node 2",
    paper="0 to 3",
    assumed="the longest queue of a run, averaged over runs; partly: the mean over time",
    why_of={
        "c3-newest": "a single measurement after a short back-off overestimates the bandwidth, and the window it "
        "allows sends a few segments at once; averaged measurements do not"
    },
)
def alone(data: Data, name: str) -> Claim:
    return below(most(data, name, ALONE), 3.5).or_partly(below(mean(data, name, ALONE), 3.0))


@study.check_each(
    BOTH,
    "{} keeps the queue shorter than standard TCP does",
    paper="knowledge of the capacity greatly reduces it",
    assumed="mean over time, with UDP: at most half; partly: less",
)
def shorter(data: Data, name: str) -> Claim:
    less = mean(data, name, CROSSED) / mean(data, "standard", CROSSED)
    return every({"with UDP": below(less, 0.5)}).or_partly(below(less, 1.0))
