"""Means, confidence intervals and fairness, as the measurement papers define them.

Two ways to an interval, and every interval says which one it is:

- *replications*: one value per independent run (one seed each), Student's t over the runs;
- *batch means*: one long run cut into batches after its warm-up, Student's t over the batches. Batches of one run are
  correlated, so such an interval is only as good as the batches are long.

Nothing here reads a clock or a file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

CONFIDENCE = 0.95
"""Confidence level of every interval in the package."""

Method = Literal["replications", "batch means", "none"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the half-width of its 95 % confidence interval, in the unit of the values it was made from.

    `half_width` is `None` where the values do not allow one (fewer than two of them, or one that is not a number);
    `method` says over what the interval was taken, and `n` over how many values.
    """

    mean: float
    half_width: float | None
    n: int
    method: Method

    @property
    def low(self) -> float | None:
        """Lower end of the interval."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float | None:
        """Upper end of the interval."""
        return None if self.half_width is None else self.mean + self.half_width

    @property
    def relative(self) -> float | None:
        """Half-width over mean, the relative precision.

        0 for values that are all the same (also all zero), infinite for a mean of zero with a width, `None` without
        an interval.
        """
        if self.half_width is None:
            return None
        if self.half_width == 0.0:
            return 0.0
        return math.inf if self.mean == 0.0 else self.half_width / abs(self.mean)

    def overlaps(self, other: Interval) -> bool:
        """Whether the two intervals share a point; a missing half-width counts as zero."""
        reach = (self.half_width or 0.0) + (other.half_width or 0.0)
        return abs(self.mean - other.mean) <= reach


def student_quantile(degrees: int, confidence: float = CONFIDENCE) -> float:
    """Two-sided quantile of Student's t: with 4 degrees of freedom and 95 %, 2.776.

    >>> round(student_quantile(4), 3)
    2.776
    """
    if degrees < 1:
        raise ValueError(f"degrees of freedom: found {degrees}, allowed: at least 1")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence: found {confidence}, allowed: between 0 and 1")
    # scipy.special alone loads in a third of the time of scipy.stats.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + confidence / 2.0))


def student_interval(
    values: Sequence[float], *, confidence: float = CONFIDENCE, method: Method = "replications"
) -> Interval:
    """Mean and Student interval of independent values.

    One value gives a mean without a half-width, none gives a mean that is not a number. A value that is not a number
    (say the RTT of a flow that never got a sample) makes mean and half-width unknown: it is never dropped silently.

    >>> interval = student_interval([10.0, 12.0, 14.0])
    >>> interval.mean, round(interval.half_width, 3)
    (12.0, 4.968)
    """
    n = len(values)
    if n == 0 or any(math.isnan(value) for value in values):
        return Interval(math.nan, None, n, "none")
    mean = math.fsum(values) / n
    if n == 1:
        return Interval(mean, None, 1, "none")
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    return Interval(mean, student_quantile(n - 1, confidence) * math.sqrt(variance / n), n, method)


def batch_means(batches: Sequence[float], *, drop_first: bool = False, confidence: float = CONFIDENCE) -> Interval:
    """Mean and interval over the batches of one run; `drop_first` leaves the first one out as warm-up.

    The simulator's own batches begin after the scenario's `warmup`, so nothing is dropped of them. Studies that cut a
    run themselves, as the papers do with 55,000 packets in 11 batches, drop the first.

    >>> batch_means([0.0, 5.0, 7.0], drop_first=True).mean
    6.0
    """
    return student_interval(batches[1:] if drop_first else batches, confidence=confidence, method="batch means")


def over_runs(values: Sequence[float], batches: Sequence[float]) -> Interval:
    """The interval over values measured once a run; for a single run, over the values of its `batches`.

    In both cases the mean is taken over the whole runs; batches give the width only.

    >>> over_runs([6.0], [5.0, 7.0]).method, over_runs([6.0, 8.0], []).method
    ('batch means', 'replications')
    """
    interval = student_interval(values)
    if len(values) == 1:
        within = batch_means(batches)
        if within.half_width is not None:
            return Interval(interval.mean, within.half_width, within.n, within.method)
    return interval


def over_known(values: Sequence[float | None]) -> Interval | None:
    """The interval over the runs in which there was something to measure; `None` if there was in none.

    >>> over_known([1.0, None, 0.5]).mean, over_known([None])
    (0.75, None)
    """
    known = [value for value in values if value is not None]
    return student_interval(known) if known else None


def jain(values: Sequence[float]) -> float | None:
    """Jain's fairness index of the flows' rates: 1 if all get the same, 1/n if one gets everything.

    `None` without flows, when every rate is zero, or with a rate that is not a number: nothing was shared.

    >>> jain([4.0, 4.0]), jain([8.0, 0.0])
    (1.0, 0.5)
    """
    peak = max((abs(value) for value in values), default=0.0)
    if peak == 0.0 or not all(math.isfinite(value) for value in values):
        return None
    # Scaled by the largest rate, so that squares of tiny or huge rates neither vanish nor overflow.
    scaled = [value / peak for value in values]
    return math.fsum(scaled) ** 2 / (len(scaled) * math.fsum(value * value for value in scaled))
