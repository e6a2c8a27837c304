"""Shared by the studies with short files, and counters of gateways."""

from __future__ import annotations

import math

from fourhop.study import Cells, Run, Sample
from fourhop.study.cells import KBPS
from fourhop.study.flows import Of, fairness, total

FILES = {"app": "files", "mean_size": "30kB", "shape": 1.5}
"""Section 5.3: Pareto sizes, exponential pauses."""

TWO_MEANS = (
    "The paper averages the goodputs of files, so a small file counts as much as a large one. The checks take that "
    "mean; another chart shows what all files carried over the time in which there was one, where large files count "
    "for more."
)

ASSUMED_FILES = (
    "All files of a flow use one connection, whose window survives the pauses, as with ns-2's agents; one chart shows "
    "one connection per file."
)


def sent_again(run: Run) -> float:
    """The share of retransmissions in the segments sent, 0 to 1."""
    sent = sum(flow["sent_packets"] for flow in run.flows.values())
    return sum(flow["retransmitted_packets"] for flow in run.flows.values()) / sent if sent else math.nan


def per_file(run: Run) -> list[float]:
    """Of each flow, the mean over its files of size over time in bit/s, as section 5.3 averages it."""
    return [flow["file_goodput_bps"] or 0.0 for flow in run.flows.values()]


def file_goodput(cells: Cells) -> Sample:
    """The sum of `per_file` over the flows, in kbit/s."""
    return cells.measure(total(per_file), KBPS)


def file_fairness(cells: Cells) -> Sample:
    """Jain's index of `per_file` over the flows."""
    return cells.measure(fairness(per_file))


def gateway(name: str) -> Of:
    """Counter of the gateways with that name; 0 if no gateway has it."""
    return lambda run: float(run.counters.get("gateway", {}).get(name, 0))
