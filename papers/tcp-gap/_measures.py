"""What more than one study of this paper says of a run as a number."""

from __future__ import annotations

from collections.abc import Callable

from fourhop import stats
from fourhop.study import Cells, Run, Sample

Of = Callable[[Run], float]

FILES = {"app": "files", "mean_size": "30kB", "shape": 1.5}
"""Section 5.3: Pareto sizes, exponential pauses."""

ASSUMED_FILES = (
    "All files of a flow go over one connection, whose window outlives the pauses, as those of ns-2's agents do; one "
    "chart shows a connection for each file."
)


def averaged(run: Run) -> list[float]:
    """Of each flow while it has something to send, in bit/s: pauses do not count."""
    return [flow["averaged_goodput_bps"] for flow in run.flows.values()]


def total(of: Callable[[Run], list[float]]) -> Of:
    """The sum of what `of` says of each flow, in kbit/s."""
    return lambda run: 1e-3 * sum(of(run))


def fairness(of: Callable[[Run], list[float]]) -> Of:
    """Jain's index of what `of` says of each flow."""
    return lambda run: stats.jain(of(run)) or float("nan")


def gateway(name: str) -> Of:
    """What the gateways counted under that name; 0 if there is none that counts."""
    return lambda run: float(run.counters.get("gateway", {}).get(name, 0))


def aggregate(cells: Cells) -> Sample:
    """Averaged goodput of all flows together in kbit/s."""
    return cells.measure(total(averaged), "kbit/s")


def index(cells: Cells) -> Sample:
    """Jain's index of the averaged goodputs."""
    return cells.measure(fairness(averaged))
