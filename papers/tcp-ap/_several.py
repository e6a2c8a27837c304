"""What the studies with several flows share: who gets how much, who starves, and means over random networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fourhop import stats
from fourhop.study import Cells, Chart, Run, Sample, line

AGGREGATE = "all"

STARVING = 0.1
"""A flow starves that has less than this part of an equal share. The paper gives no bound."""

ASSUMED_STARVING = f"A flow starves that has less than {STARVING:g} of an equal share; the paper gives no bound."

ASSUMED_COUNT = (
    "The 55,000 packets are counted over all flows: a starving one would never deliver as many, so that the paper can "
    "hardly have waited for each."
)

DELAYED_COSTS = (
    "at TCP-AP's pace four segments take longer than the 100 ms for which a receiver waits, the wait counts in the "
    "round trip, and the pace falls further (docs/tcp-ap.md)"
)
"""Why delayed ACKs do not help TCP-AP as they do in the paper."""

Of = Callable[[Run], float]


def goodputs(run: Run) -> list[float]:
    """Of each flow, in bit/s."""
    return [flow["goodput_bps"] for flow in run.flows.values()]


def averaged(run: Run) -> list[float]:
    """Of each flow while it has something to send, in bit/s: pauses do not count."""
    return [flow["averaged_goodput_bps"] for flow in run.flows.values()]


def smaller_share(run: Run) -> float:
    """What the flow with the least has of all, 0 to 1."""
    each = goodputs(run)
    return min(each) / sum(each)


def starving(run: Run) -> float:
    """How many flows starve."""
    each = goodputs(run)
    return float(sum(one < STARVING * sum(each) / len(each) for one in each))


def fairness(of: Callable[[Run], list[float]]) -> Of:
    """Jain's index of what `of` says of each flow."""
    return lambda run: stats.jain(of(run)) or float("nan")


def total(of: Callable[[Run], list[float]]) -> Of:
    """The sum of what `of` says of each flow, in kbit/s."""
    return lambda run: 1e-3 * sum(of(run))


def one(cells: Cells) -> Run:
    """The first run of the first cell: what is the same for all of them, and the run where there is only one."""
    found: list[Run] = []

    def keep(run: Run) -> float:
        found.append(run)
        return 0.0

    next(iter(cells)).measure(keep)
    return found[0]


def over(cells: Cells, of: Of, unit: str = "", **keys: object) -> Sample:
    """One value a network, where each cell is one network."""
    each = list(cells.where(**keys) if keys else cells)
    values = tuple(cell.measure(of).mean for cell in each)
    return Sample(values, tuple(range(len(each))), unit)


def shares(cells: Cells, flows: Mapping[str, str], labels: Mapping[str, str]) -> Chart:
    """Bars for each flow and for all together, a colour for each variant, Jain's index beside its name."""
    made = []
    for name, group in cells.by("variant").items():
        bars = {shown: group.goodput(flow) for flow, shown in flows.items()} | {AGGREGATE: group.goodput()}
        made.append(line(f"{labels[name]} (fairness {group.fairness().mean:.2f})", bars))
    return Chart("bars", tuple(made), "", "goodput (kbit/s)")
