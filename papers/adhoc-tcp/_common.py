"""Shared by the studies of ad hoc TCP: the variants of TCP compared, the three scenarios, the measures.

Files are named `f<figure>_<what>.py`, two digits, so that the report lists them in the order of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from fourhop import Scenario, Sweep, quantity
from fourhop.study import Cells, Chart, Data, Estimate, Profile, Run, Sample, Study, curves, table

PAPER = "Cho, Sirisena, Pawlikowski, J. of Communications and Networks 2004"

KINDS: Mapping[str, str] = {
    "sack": "SACK",
    "adhoc-receiver": "ad hoc TCP, receiver alone",
    "adhoc-tcp": "ad hoc TCP",
    "newreno": "NewReno",
}
"""The transports compared, with their labels."""

SCHEMES = ("sack", "adhoc-receiver", "adhoc-tcp")
"""The transports of figures 9 to 11."""

LABELS = {name: KINDS[name] for name in SCHEMES}

SPEEDS: Mapping[Profile, tuple[int, ...]] = {"ns2": (5, 10, 20, 30), "standard": (10, 30)}
"""Speeds in m/s. The text names only 30. `standard` takes several times the processor time, hence fewer there."""

MOST_RUNS: Mapping[Profile, int] = {"ns2": 400, "standard": 160}
"""Maximum number of replications to reach 5 %. No point needed all: the most were 243 and 108, one flow at 30 m/s."""

MIXED = ("adhoc-tcp", "newreno", "adhoc-tcp", "newreno")
"""Two of each, for figures 12 and 13."""

FLOWS = ("flow-1", "flow-2", "flow-3", "flow-4")
ADHOC, NEWRENO = ("flow-1", "flow-3"), ("flow-2", "flow-4")
KIND = {**dict.fromkeys(ADHOC, "ad hoc TCP"), **dict.fromkeys(NEWRENO, "NewReno")}

SPEED = "speed of the nodes (m/s)"
"""Label of the x axis."""

MOVING = 50
WIDTH, HEIGHT = 1500, 300

ASSUMED = (
    "Throughput is the payload delivered, each byte once. Goodput is normalized, as figure 1 labels it: the share of "
    "the segments sent that were not retransmissions. Goodput as a rate, our usual measure, is called throughput "
    "here.",
    "2 Mbit/s, RTS before every unicast frame, AODV, queues of 50, a window of at most 64 segments: the usual "
    "settings of the literature, which the paper does not state.",
    "Timestamps in every segment of every transport, so that headers are equal; clocks are synchronised to 10 us.",
    "An acknowledgement for each segment under both profiles.",
)
"""Assumptions of every study of this paper."""

ASSUMED_FIELD = (
    "Random waypoint without pauses, all nodes at the same speed, from the steady state; the ends of each flow stand "
    "at the left and right edge; four flows are 75 m apart.",
)
"""Assumptions of the studies with 50 moving nodes."""

ASSUMED_MOVING = (
    *ASSUMED_FIELD,
    "Replications until the half-width of the 95 % interval of the goodput is 5 % of the mean, but at most "
    f"{MOST_RUNS['ns2']} under ns2 and {MOST_RUNS['standard']} under standard; a table shows what was reached.",
    "Speeds of 5, 10, 20 and 30 m/s under ns2, of 10 and 30 m/s under standard.",
)
"""Assumptions of those studies that are figures of the paper."""


def settings(payload: int, keys: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The settings common to all the paper's networks, for packets of `payload` bytes, plus `keys`."""
    # 12 bytes of timestamps count against the largest segment.
    tcp = {"window": 64, "mss": f"{payload + 12}B", "ack_policy": "every-segment", "timestamps": True}
    return {"warmup": "0s", "tcp": tcp, "radio": {"rate": "2Mbps"}, **(keys or {})}


def string(profile: Profile, hops: int = 5, payload: int = 1000, **keys: Any) -> Scenario:
    """Figure 1: a flow along five hops, packets of 1000 bytes, 100 s."""
    return Scenario.chain(hops=hops, transport="sack", profile=profile, duration="100s", **settings(payload, keys))


def walk(profile: Profile, **keys: Any) -> Scenario:
    """Section IV-A: ten hops, packets of 500 bytes; the sender walks to the last relay and back at 20 m/s."""
    there = WALK_M / WALK_SPEED
    ways = [
        [0, "5s", "0m", "0m"],
        [0, f"{5 + there:g}s", f"{WALK_M}m", "0m", "5s"],
        [0, f"{10 + 2 * there:g}s", "0m", "0m"],
    ]
    mobility = {"model": "waypoints", "waypoints": ways}
    return Scenario.chain(
        hops=10, transport="sack", profile=profile, duration="200s", mobility=mobility, **settings(500, keys)
    )


WALK_M, WALK_SPEED = 1800, 20


def field(profile: Profile, transports: Sequence[str], apart: int = WIDTH, **keys: Any) -> Scenario:
    """Section IV-B: 50 nodes that move in 1500 m x 300 m between the ends of the flows, 300 s.

    The two ends of a flow are `apart` metres apart, one left and one right of the middle.
    """
    count = len(transports)
    heights = [HEIGHT / 2 + 75.0 * (n - (count - 1) / 2) for n in range(count)]
    ends = [(f"{x}m", f"{y:g}m") for y in heights for x in ((WIDTH - apart) // 2, (WIDTH + apart) // 2)]
    anywhere = [(f"{WIDTH / 2:g}m", f"{HEIGHT / 2:g}m")] * MOVING
    mobility = {
        "model": "random-waypoint", "speed_min": "5m/s", "speed_max": "5m/s", "pause": "0s",
        "width": f"{WIDTH}m", "height": f"{HEIGHT}m", "still": 2 * count,
    }  # fmt: skip
    flows = [{"from": 2 * n, "to": 2 * n + 1, "transport": name} for n, name in enumerate(transports)]
    return Scenario.positions(
        [*ends, *anywhere], profile=profile, duration="300s", mobility=mobility, flows=flows, **settings(500, keys)
    )


def at_speed(scenario: Scenario, speed: int) -> Scenario:
    """The field with all nodes at this speed in m/s."""
    return scenario.with_(**{"mobility.speed_min": f"{speed}m/s", "mobility.speed_max": f"{speed}m/s"})


def over_speeds(profile: Profile, variants: Mapping[str, Scenario]) -> Sweep:
    """Each variant at each speed, replicated as in the paper."""
    speeds = [f"{speed}m/s" for speed in SPEEDS[profile]]
    zipped = {"mobility.speed_min": speeds, "mobility.speed_max": speeds}
    return Sweep(variants=variants, zipped=zipped, precision="5%", max_runs=MOST_RUNS[profile])


def at(cells: Cells, variant: str, speed: int) -> Cells:
    """The point of such a sweep for a variant and a speed."""
    return cells.where(variant=variant, speed_max=f"{speed}m/s")


def speeds(cells: Cells) -> list[int]:
    """The speeds of a sweep in m/s."""
    return [int(quantity.parse(str(speed)).value) for speed in cells.values("speed_max")]


def normalized(cells: Cells, flows: Collection[str] | None = None, **keys: object) -> Sample:
    """Goodput as normalized in the paper: the share of new segments among those sent by these flows, 0 to 1."""

    def part(run: Run) -> float:
        rows = _of(run, flows)
        sent = sum(row["sent_packets"] for row in rows)
        return 1.0 - sum(row["retransmitted_packets"] for row in rows) / sent if sent else float("nan")

    return cells.measure(part, **keys)


def carried(cells: Cells, flows: Collection[str] | None = None, **keys: object) -> Sample:
    """Throughput: payload delivered in kbit/s by these flows together."""
    return cells.measure(lambda run: 1e-3 * sum(row["goodput_bps"] for row in _of(run, flows)), "kbit/s", **keys)


def _of(run: Run, flows: Collection[str] | None) -> list[Mapping[str, Any]]:
    return [row for name, row in run.flows.items() if flows is None or name in flows]


def gains(cells: Cells, of: Callable[[Cells], Sample], kind: str = "adhoc-tcp") -> dict[str, Estimate]:
    """Ratio of measure `of` for a kind to the same measure for SACK, by speed."""
    return {f"{speed} m/s": of(at(cells, kind, speed)) / of(at(cells, "sack", speed)) for speed in speeds(cells)}


def among_moving(title: str, figure: int, *assumed: str) -> Study:
    """A study of flows among moving nodes, with its additional assumptions."""
    return Study(title, source=f"{PAPER}, figure {figure}", assumed=[*ASSUMED, *ASSUMED_MOVING, *assumed])


def show_schemes(study: Study, sweep: str, captions: Mapping[str, str]) -> None:
    """Register the charts of throughput, normalized goodput and precision of the schemes, with these captions."""
    drawn = {"throughput": (carried, "throughput (kbit/s)"), "goodput": (normalized, "normalized goodput")}

    @study.chart_each({name: (drawn[name], caption) for name, caption in captions.items()})
    def over_speed(data: Data, what: tuple[Callable[[Cells], Sample], str]) -> Chart:
        of, y_label = what
        cells = data[sweep]
        points = {
            label: {speed: of(at(cells, name, speed)) for speed in speeds(cells)} for name, label in LABELS.items()
        }
        return curves(points, SPEED, y_label)

    show_precision(study, sweep, LABELS)


def show_precision(study: Study, sweep: str, labels: Mapping[str, str]) -> None:
    """Register the last chart of every study with moving nodes."""

    @study.chart
    def precision(data: Data) -> Chart:
        """Replications, and the precision of the throughput that they give."""
        return reached(data[sweep], labels)


def reached(cells: Cells, labels: Mapping[str, str]) -> Chart:
    """A table of the number of runs at each point, and the remaining width of the goodput's interval."""
    rows = []
    for variant in cells.values("variant"):
        for speed in speeds(cells):
            one = at(cells, variant, speed)
            found = carried(one)
            half = found.interval.half_width
            wide = "unknown" if half is None or found.mean == 0.0 else f"{100.0 * half / found.mean:.1f} %"
            rows.append((labels[variant], f"{speed} m/s", len(found.values), found, wide))
    return table(["kind", "speed", "runs", "throughput", "half-width over mean"], rows)
