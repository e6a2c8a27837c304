"""The changes tried, their measurements, and the comparison with today."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from fourhop.scenario import Scenario
from fourhop.study.cells import Cell, Cells, Run
from fourhop.study.estimate import Estimate, Sample
from fourhop.whatif.tries import TODAY, Tries, Try
from fourhop.whatif.worlds import Worlds

if TYPE_CHECKING:
    from fourhop.sweeps.result import SweepResult

Better = Literal["more", "less"]


@dataclass(frozen=True)
class Group:
    """Flows that are evaluated together."""

    name: str
    label: str
    """Its name in a sentence, such as `the farthest third of nodes`."""
    flows: tuple[str, ...]
    hops: tuple[int, int] | None
    """Minimum and maximum number of hops."""


@dataclass(frozen=True)
class Measure:
    """A compared quantity."""

    name: str
    label: str
    unit: str
    better: Better
    of: Callable[[Run], float]
    group: Group | None = None


@dataclass(frozen=True)
class Effect:
    """One measure with one change, compared with today."""

    measure: Measure
    ours: Sample
    today: Sample

    @cached_property
    def ratio(self) -> Estimate:
        """Mean with the change over today's mean."""
        return self.ours / self.today

    @cached_property
    def difference(self) -> Estimate:
        """Mean with the change minus today's mean."""
        return self.ours - self.today

    @property
    def differs(self) -> bool:
        """Whether the interval of the difference excludes zero."""
        low, high = self.difference.low, self.difference.high
        return low is not None and high is not None and (low > 0.0 or high < 0.0)

    @property
    def good(self) -> bool | None:
        """Whether it is better than today; `None` if these runs show no difference."""
        if not self.differs:
            return None
        return (self.difference.value > 0.0) == (self.measure.better == "more")

    @property
    def holds(self) -> tuple[int, int]:
        """Number of runs in which the difference has the sign of the mean, and of all runs; a tie has no sign."""
        way = math.copysign(1.0, self.difference.value)
        pairs = zip(self.ours.values, self.today.values, strict=True)
        return sum((ours - today) * way > 0.0 for ours, today in pairs), len(self.ours.values)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for machines."""

        def ends(estimate: Estimate) -> dict[str, float | None]:
            known = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
            return {key: None if x is None or not math.isfinite(x) else x for key, x in known.items()}

        return {
            "measure": self.measure.name,
            "unit": self.measure.unit,
            "mean": finite(self.ours.mean),
            "today": finite(self.today.mean),
            "ratio": ends(self.ratio),
            "difference": ends(self.difference),
            "differs": self.differs,
            "better": self.good,
            "holds": self.holds[0],
            "runs": self.holds[1],
        }


@dataclass(frozen=True)
class Otherwise:
    """The effect of the most helpful change under other assumptions."""

    label: str
    effect: Effect


@dataclass(frozen=True)
class Answer:
    """The measurements of all changes."""

    scenario: Scenario
    tried: Tries
    groups: tuple[Group, ...]
    measures: tuple[Measure, ...]
    effects: Mapping[str, tuple[Effect, ...]]
    """For each change, one effect per measure."""
    results: tuple[SweepResult, ...]
    """A sweep over all changes for each seed; if several networks fit the file, each seed has a different one."""
    worlds: Worlds
    otherwise: tuple[Otherwise, ...] = ()

    @property
    def ranked(self) -> list[Try]:
        """The changes, sorted by the gain of the last group: the farthest nodes."""
        return sorted(self.tried.changes, key=lambda each: -_order(self.effects[each.name]))

    @property
    def seeds(self) -> list[int]:
        """Seeds of the runs."""
        return [result.sweep.first_seed for result in self.results]

    def today(self, measure: Measure) -> Sample:
        """The measurement without a change."""
        return cells(self.results, TODAY).measure(measure.of, measure.unit)


def cells(results: Sequence[SweepResult], name: str) -> Cells:
    """The runs of one trial, over all seeds."""
    each = [Cells.of(result, "whatif").where(variant=name) for result in results]
    runs = tuple(run for one in each for run in one.runs)
    return Cells([Cell(0, {"variant": name}, runs)], results[0], "whatif")


def _order(effects: tuple[Effect, ...]) -> float:
    """How much a change helps the nodes farthest from the gateway; an insignificant difference counts as none."""
    speeds = [effect for effect in effects if effect.measure.name.startswith("speed")]
    last = speeds[-1]
    ratio = last.ratio.value if last.differs and math.isfinite(last.ratio.value) else 1.0
    whole = speeds[0].ratio.value if speeds[0].differs and math.isfinite(speeds[0].ratio.value) else 1.0
    return math.log(max(ratio, 1e-9)) + 0.1 * math.log(max(whole, 1e-9))


def finite(value: float) -> float | None:
    """The value, or `None` if JSON cannot represent it."""
    return value if math.isfinite(value) else None
