"""Means, confidence intervals and fairness, as the measurement papers define them.

Intervals are computed in one of two ways, and each says which:

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
_OVER: dict[Method, str] = {"replications": "runs", "batch means": "batches", "none": "values"}

# Two-sided quantiles at `CONFIDENCE` for 1, 2, ... degrees of freedom, computed with scipy, which takes longer to load
# than a short run.
# fmt: off
_QUANTILES = (
    12.706204736174694, 4.302652729749462, 3.1824463052837078, 2.7764451051977934, 2.5705818356363146,
    2.4469118511449786, 2.364624251592784, 2.306004135204166, 2.262157162798205, 2.228138851986274, 2.200985160091639,
    2.1788128296672284, 2.1603686564627913, 2.144786687917804, 2.131449545559776, 2.1199052992212546,
    2.1098155778333156, 2.1009220402410382, 2.0930240544083087, 2.085963447265864, 2.0796138447276795,
    2.0738730679040254, 2.0686576104190486, 2.0638985616280245, 2.0595385527532972, 2.0555294386428735,
    2.0518305164802846, 2.0484071417952454, 2.045229642132703, 2.0422724563012378, 2.039513446396408,
    2.0369333434601016, 2.0345152974493383, 2.0322445093177186, 2.030107928250343, 2.0280940009804502,
    2.0261924630291093, 2.0243941639119694, 2.022690920036761, 2.021075390306273, 2.019540970441376,
    2.0180817028184443, 2.016692199227824, 2.0153675744437636, 2.014103388880846, 2.012895598919429,
    2.0117405137297655, 2.010634757624232, 2.0095752371292392, 2.008559112100761, 2.007583770315836,
    2.006646805061688, 2.0057459953178687, 2.0048792881880564, 2.0040447832891455, 2.003240718847872,
    2.002465459291007, 2.0017174841452356, 2.000995378088267, 2.0002978220142604, 1.999623584994939,
    1.9989715170333788, 1.998340542520741, 1.997729654317693, 1.9971379083920038, 1.9965644189523117,
    1.996008354025296, 1.9954689314298435, 1.9949454151072374, 1.994437111771186, 1.9939433678456255,
    1.9934635666618719, 1.992997125889855, 1.992543495180932, 1.9921021540022417, 1.9916726096446642,
    1.9912543953883846, 1.9908470688116906, 1.9904502102301285, 1.990063421254446, 1.9896863234569029,
    1.989318557136572, 1.9889597801751624, 1.9886096669757083, 1.9882679074772216, 1.98793420623902,
    1.9876082815890708, 1.9872898648311692, 1.986978699506281, 1.9866745407037683, 1.9863771544186177,
    1.98608631695113, 1.9858018143458227, 1.985523441866604, 1.9852510035054978, 1.984984311522457,
    1.9847231860139845, 1.9844674545084815, 1.9842169515864174, 1.9839715185235518,
)
# fmt: on


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the half-width of its 95 % confidence interval, both in the unit of the values.

    `half_width` is `None` if there is no interval (fewer than two values, or one that is not a number); `method` says
    whether the `n` values are of runs or of batches.
    """

    mean: float
    half_width: float | None
    n: int
    method: Method

    @property
    def low(self) -> float | None:
        """Lower end of the interval, in the unit of the mean; `None` without an interval."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float | None:
        """Upper end of the interval, in the unit of the mean; `None` without an interval."""
        return None if self.half_width is None else self.mean + self.half_width

    def _repr_html_(self) -> str:
        """For a notebook: the mean, the interval, and the values it was taken over."""
        low, high = self.low, self.high
        if low is None or high is None:
            return f"{self.mean:.6g} <small>(no interval: {self.n} value{'' if self.n == 1 else 's'})</small>"
        half = self.half_width or 0.0
        # Two significant digits of the half-width are all that it supports, and they limit the mean's as well.
        digits = max(0, 1 - math.floor(math.log10(half))) if half > 0.0 else 3
        mean, half_width, below, above = (f"{each:.{digits}f}" for each in (self.mean, half, low, high))
        over = f"{self.n} {_OVER[self.method]}"
        return f"{mean} <small>± {half_width}, 95 % interval [{below}, {above}] over {over}</small>"

    @property
    def relative(self) -> float | None:
        """Half-width over mean, the relative precision.

        0 for equal values (even all zero), infinite for a mean of zero with a width, `None` without an interval.
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
    """Two-sided quantile of Student's t: 2.776 for 4 degrees of freedom and 95 %.

    >>> round(student_quantile(4), 3)
    2.776
    """
    if degrees < 1:
        raise ValueError(f"degrees of freedom: found {degrees}, allowed: at least 1")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence: found {confidence}, allowed: between 0 and 1")
    if confidence == CONFIDENCE and degrees <= len(_QUANTILES):
        return _QUANTILES[degrees - 1]
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + confidence / 2.0))


def student_interval(
    values: Sequence[float], *, confidence: float = CONFIDENCE, method: Method = "replications"
) -> Interval:
    """Mean and Student interval of independent values.

    A single value gives a mean without a half-width, no value a mean of NaN. A NaN among the values (say, the RTT of a
    flow that never got a sample) makes mean and half-width unknown: it is never dropped silently.

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
    """Mean and interval over the batches of one run; `drop_first` omits the first as warm-up.

    The simulator's own batches begin after the scenario's `warmup`, so none of them is dropped. Studies that cut a run
    themselves, as the papers do with 55,000 packets in 11 batches, drop the first.

    >>> batch_means([0.0, 5.0, 7.0], drop_first=True).mean
    6.0
    """
    return student_interval(batches[1:] if drop_first else batches, confidence=confidence, method="batch means")


def over_runs(values: Sequence[float], batches: Sequence[float]) -> Interval:
    """The interval over values measured once per run; for a single run, over its `batches`.

    The mean is that of the whole runs in both cases; batches determine only the width.

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
    """The interval over the runs that have a value; `None` if none has.

    >>> over_known([1.0, None, 0.5]).mean, over_known([None])
    (0.75, None)
    """
    known = [value for value in values if value is not None]
    return student_interval(known) if known else None


def jain(values: Sequence[float]) -> float | None:
    """Jain's fairness index of the flows' rates: 1 if all are equal, 1/n if one flow gets everything.

    `None` without flows, if every rate is zero, or if a rate is not finite: nothing was shared.

    >>> jain([4.0, 4.0]), jain([8.0, 0.0])
    (1.0, 0.5)
    """
    peak = max((abs(value) for value in values), default=0.0)
    if peak == 0.0 or not all(math.isfinite(value) for value in values):
        return None
    # Scaled by the largest rate, so that squares of tiny or huge rates neither vanish nor overflow.
    scaled = [value / peak for value in values]
    return math.fsum(scaled) ** 2 / (len(scaled) * math.fsum(value * value for value in scaled))
