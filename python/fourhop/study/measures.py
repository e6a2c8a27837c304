"""Quantities that every sweep measures, by names that are easy to type, for plots and comparisons without a study.

`goodput`, `delay` and the others of `MEASURES`, or any numeric column of the tables `runs` and `flows`. Over several
flows, rates and counts are summed; times and hop counts are averaged over the flows that have one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fourhop.errors import FourhopError
from fourhop.study.cells import KBPS, Cells, Run
from fourhop.study.estimate import Sample


@dataclass(frozen=True)
class Measured:
    """A quantity that every run measures."""

    column: str
    """Its column in the tables."""
    label: str
    """Label of an axis, without the unit."""
    unit: str
    """Unit in figures; empty for counts and indices."""
    scale: float
    """Factor from the column to that unit."""

    @property
    def title(self) -> str:
        """Label and unit, as on an axis."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def of(self, cells: Cells, flow: str | None = None) -> Sample:
        """Measurements of one cell's runs: of `flow`, or of all flows together."""
        if self.column == "jain" and flow is None:
            return cells.fairness()
        if self.column == "goodput_bps":
            # A single run has an interval, too: over its batches.
            return cells.goodput(flow)
        return cells.measure(lambda run: self._of(run, flow), self.unit)

    def each(self, run: Run, flow: str | None = None) -> list[float]:
        """The values of a run's flows, or of `flow` alone; for a column of `runs`, the value of the run."""
        if self.column not in run.columns:
            found = [row[self.column] for row in _flows(run, flow)]
        elif flow is not None:
            raise FourhopError(
                f"flow: found {flow!r}, allowed: none, since {self.label} is a value of all flows together"
            )
        else:
            found = [run.columns[self.column]]
        return [math.nan if value is None else self.scale * value for value in found]

    def _of(self, run: Run, flow: str | None) -> float:
        values = self.each(run, flow)
        if self.column.endswith("_s") or self.column == "hops":
            values = [value for value in values if not math.isnan(value)]
            return math.fsum(values) / len(values) if values else math.nan
        return math.fsum(values)


MEASURES: dict[str, Measured] = {
    "goodput": Measured("goodput_bps", "goodput", KBPS, 1e-3),
    "throughput": Measured("throughput_bps", "throughput", KBPS, 1e-3),
    "fairness": Measured("jain", "Jain's fairness index", "", 1.0),
    "delay": Measured("rtt_mean_s", "mean round trip", "ms", 1e3),
    "resent": Measured("retransmitted_packets", "packets sent again", "", 1.0),
    "timeouts": Measured("timeouts", "timeouts", "", 1.0),
}
"""Measures with short names."""

# Units and factors of columns, by the suffix of their names.
_SHOWN = {"_bps": (KBPS, 1e-3), "_s": ("s", 1.0), "_bytes": ("kB", 1e-3)}

# Numbers that are identifiers.
_IDENTITY = ("point", "seed", "src", "dst")


def named(name: str, cells: Cells) -> Measured:
    """The measure called `name` in the cells of a sweep. Raises `FourhopError` for an unknown name.

    >>> MEASURES["delay"].title
    'mean round trip (ms)'
    """
    if name in MEASURES:
        return MEASURES[name]
    columns = dict.fromkeys(
        column
        for run in cells.runs
        for row in (run.columns, *run.flows.values())
        for column, value in row.items()
        if column not in (*_IDENTITY, *cells.keys) and isinstance(value, int | float)
    )
    if name not in columns:
        raise FourhopError(f"y: found {name!r}, allowed: {', '.join(dict.fromkeys([*MEASURES, *columns]))}")
    end = next((end for end in _SHOWN if name.endswith(end)), "")
    unit, scale = _SHOWN.get(end, ("", 1.0))
    return Measured(name, name.removesuffix(end).replace("_", " "), unit, scale)


def _flows(run: Run, flow: str | None) -> list[Any]:
    if flow is None:
        return list(run.flows.values())
    if flow not in run.flows:
        raise FourhopError(f"flow: found {flow!r}, allowed: {', '.join(run.flows)}")
    return [run.flows[flow]]
