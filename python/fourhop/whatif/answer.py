"""What was tried and measured, and how it compares with today."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from fourhop.scenario import Scenario
from fourhop.study.cells import Cells, Run
from fourhop.study.estimate import Estimate, Sample
from fourhop.whatif.tries import TODAY, Tries, Try

if TYPE_CHECKING:
    from fourhop.sweeps.result import SweepResult

Better = Literal["more", "less"]


@dataclass(frozen=True)
class Group:
    """Flows that are looked at together."""

    name: str
    label: str
    """As it is used in a sentence, as `the farthest third of nodes`."""
    flows: tuple[str, ...]
    hops: tuple[int, int] | None
    """The fewest and the most."""


@dataclass(frozen=True)
class Measure:
    """What is compared."""

    name: str
    label: str
    unit: str
    better: Better
    of: Callable[[Run], float]
    group: Group | None = None


@dataclass(frozen=True)
class Effect:
    """One measure with one change, beside today."""

    measure: Measure
    ours: Sample
    today: Sample

    @cached_property
    def ratio(self) -> Estimate:
        """The mean with the change over that of today."""
        return self.ours / self.today

    @cached_property
    def difference(self) -> Estimate:
        """The mean with the change less that of today."""
        return self.ours - self.today

    @property
    def differs(self) -> bool:
        """Does the interval of the difference leave out zero?"""
        low, high = self.difference.low, self.difference.high
        return low is not None and high is not None and (low > 0.0 or high < 0.0)

    @property
    def good(self) -> bool | None:
        """Is it better than today? `None`: nothing that these runs show."""
        if not self.differs:
            return None
        return (self.difference.value > 0.0) == (self.measure.better == "more")

    def to_dict(self) -> dict[str, Any]:
        """For machines."""

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
        }


@dataclass(frozen=True)
class Answer:
    """What was measured of everything that was tried."""

    scenario: Scenario
    tried: Tries
    groups: tuple[Group, ...]
    measures: tuple[Measure, ...]
    effects: Mapping[str, tuple[Effect, ...]]
    """Of each change, one for each measure."""
    result: SweepResult

    @property
    def ranked(self) -> list[Try]:
        """The changes, what helps the slowest most first: by the last group of nodes, of which the farthest are."""
        return sorted(self.tried.changes, key=lambda each: -_order(self.effects[each.name]))

    @property
    def seeds(self) -> list[int]:
        """Of the runs."""
        return [int(seed) for seed in self.result.runs["seed"].unique().sort()]

    def today(self, measure: Measure) -> Sample:
        """What is measured without a change."""
        return cells(self.result, TODAY).measure(measure.of, measure.unit)


def cells(result: SweepResult, name: str) -> Cells:
    """The runs of one of the things that were tried."""
    return Cells.of(result, "whatif").where(variant=name)


def _order(effects: tuple[Effect, ...]) -> float:
    """How much a change helps those farthest from the gateway; what is no difference counts as none."""
    speeds = [effect for effect in effects if effect.measure.name.startswith("speed")]
    last = speeds[-1]
    ratio = last.ratio.value if last.differs and math.isfinite(last.ratio.value) else 1.0
    whole = speeds[0].ratio.value if speeds[0].differs and math.isfinite(speeds[0].ratio.value) else 1.0
    return math.log(max(ratio, 1e-9)) + 0.1 * math.log(max(whole, 1e-9))


def finite(value: float) -> float | None:
    """The value, or nothing for what JSON has no number."""
    return value if math.isfinite(value) else None
