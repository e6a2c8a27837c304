"""Packets in the queue of node 2, which the cross traffic passes: standard TCP fills it, C3TCP does not."""

from functools import partial

from fourhop import Sweep
from fourhop.study import (
    Cells,
    Chart,
    Claim,
    Data,
    Line,
    Profile,
    Sample,
    Study,
    above,
    below,
    every,
    ratio,
    run_by_run,
    table,
    table_by,
)

from ._common import (
    ALONE,
    ASSUMED,
    BOTH,
    C3,
    CROSSED,
    LABELS,
    NODE,
    PAPER,
    SWINGS,
    compared,
    figure5,
    longest,
    mean_queue,
    over_windows,
    swings,
    windows,
)

SHOWN = ("standard", *C3)

FULL = 49
"""Maximum number of packets that may wait."""
HEAVIER = "1Mbps"

study = Study("Queue at node 2", source=f"{PAPER}, section V", assumed=[*ASSUMED, "The queue is sampled every 250 ms."])


@study.sweep
def queues(profile: Profile) -> Sweep:
    return Sweep(variants=compared(figure5(profile), *SHOWN), runs=20)


study.sweep(windows)
study.chart(over_windows)


@study.sweep
def heavier(profile: Profile) -> Sweep:
    """Standard TCP with more UDP."""
    return Sweep(figure5(profile).with_(**{f"flows[{udp}].rate": HEAVIER for udp in (1, 2)}), runs=20)


@study.sweep
def sensed(profile: Profile) -> Sweep:
    """Standard TCP with a medium that is busy while any sensed frame is on the air, and without, as in ns-2."""
    return Sweep(figure5(profile), {"radio.energy_detection": [False, True]}, runs=20)


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
    return longest(data.queues.where(variant=name), when)


def mean(data: Data, name: str, when: tuple[float, float]) -> Sample:
    """The mean queue of a run between two times."""
    return mean_queue(data.queues.where(variant=name), when)


def overflows(data: Data, name: str) -> Sample:
    """Share of the runs in which the queue is full at a sample during UDP."""
    return run_by_run(lambda packets: float(packets > FULL - 1), most(data, name, CROSSED))


@study.chart
def numbers(data: Data) -> Chart:
    """Longest and mean queue at node 2, share of runs in which it is full, packets lost in the whole network."""
    rows = [
        (
            LABELS[name],
            *(of(data, name, when) for when in (ALONE, CROSSED) for of in (most, mean)),
            overflows(data, name),
            data.queues.column("dropped_packets", variant=name),
        )
        for name in SHOWN
    ]
    columns = [
        "longest alone",
        "mean alone",
        "longest with UDP",
        "mean with UDP",
        "runs with a full queue",
        "packets lost",
    ]
    return table(["variant", *columns], rows)


@study.chart
def by_sensing(data: Data) -> Chart:
    """Standard TCP with and without energy detection: mean queue of node 2."""
    columns = {words: partial(mean_queue, when=when) for words, when in {"alone": ALONE, "with UDP": CROSSED}.items()}
    return table_by(data.sensed, "energy_detection", columns)


@study.check(
    "Alone, standard TCP leaves fewer than 5 packets at node 2",
    paper="less than 5 while rates in and out are comparable",
    assumed="the mean over time from 3 to 15 s; partly: below 10",
    because="sensing_matters",
)
def standard_alone(data: Data) -> Claim:
    waiting = mean(data, "standard", ALONE)
    return below(waiting, 5).or_partly(below(waiting, 10))


@study.check(
    "With UDP, standard TCP overflows the queue of node 2",
    paper="overflow and several packets lost",
    assumed="the longest queue is 49, the most that may wait; partly: above 10",
    because="more_fills_it",
)
def standard_overflows(data: Data) -> Claim:
    packets = most(data, "standard", CROSSED)
    return above(packets, FULL - 1).or_partly(above(packets, 10))


@study.check_each(
    BOTH,
    "With UDP, {} leaves at most 10 packets at node 2",
    paper="at most about 10",
    assumed="the longest queue of a run, averaged over runs; partly: below 15",
    because=("as_fixed_windows", "window_swings"),
)
def crossed(data: Data, name: str) -> Claim:
    packets = most(data, name, CROSSED)
    return below(packets, 10).or_partly(below(packets, 15))


@study.check_each(
    BOTH,
    "Alone, {} leaves 0 to 3 packets at node 2",
    paper="0 to 3",
    assumed="the longest queue of a run, averaged over runs; partly: the mean over time",
    because="window_swings",
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


@study.cause(
    "802.11 as written considers the medium busy while any sensed frame is on the air, ns-2 does not: with this "
    "rule, standard TCP's queue alone is at least twice as long as without it"
)
def sensing_matters(data: Data) -> Claim:
    by_energy, not_ = (mean_queue(data.sensed.where(energy_detection=which), ALONE) for which in (True, False))
    return above(ratio(by_energy, not_), 2.0)


@study.cause(
    f"the rate of UDP is an assumption, and it is decisive: with {HEAVIER} each the queue is full in every run"
)
def more_fills_it(data: Data) -> Claim:
    return above(longest(data.heavier), FULL - 1)


@study.cause(
    "the queue is as long as fixed windows of few segments make it: longer than with one, shorter than with six"
)
def as_fixed_windows(data: Data) -> Claim:
    ours, small, large = (
        longest(cells)
        for cells in (
            data.queues.where(variant="c3"),
            data.windows.where(limit=1),
            data.windows.where(limit=6),
        )
    )
    return every(above({"over one segment": ours - small, "under six": large - ours}, 0.0))


@study.cause(SWINGS)
def window_swings(data: Data) -> Claim:
    return every(swings(data.queues))
