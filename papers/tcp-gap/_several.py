"""What the studies with several flows share: who gets how much, and who starves."""

from __future__ import annotations

from collections.abc import Mapping

from fourhop.study import Cells, Chart, Run, line

AGGREGATE = "all"

STARVING = 0.1
"""A flow starves that has less than this part of an equal share. The paper gives no bound."""

ASSUMED_STARVING = f"A flow starves that has less than {STARVING:g} of an equal share; the paper gives no bound."


def goodputs(run: Run) -> list[float]:
    """Of each flow, in bit/s."""
    return [flow["goodput_bps"] for flow in run.flows.values()]


def smaller_share(run: Run) -> float:
    """What the flow with the least has of all, 0 to 1."""
    each = goodputs(run)
    return min(each) / sum(each)


def starving(run: Run) -> float:
    """How many flows starve."""
    each = goodputs(run)
    return float(sum(one < STARVING * sum(each) / len(each) for one in each))


def shares(cells: Cells, flows: Mapping[str, str], labels: Mapping[str, str]) -> Chart:
    """Bars for each flow and for all together, a colour for each variant, Jain's index beside its name."""
    made = []
    for name, group in cells.by("variant").items():
        bars = {shown: group.goodput(flow) for flow, shown in flows.items()} | {AGGREGATE: group.goodput()}
        made.append(line(f"{labels[name]} (fairness {group.fairness().mean:.2f})", bars))
    return Chart("bars", tuple(made), "", "goodput (kbit/s)")
