"""Estimates with intervals: ratios, differences and slopes of measured means.

A `Sample` has the measured values of one quantity: one per run, or one per batch of a single long run. An `Estimate` is
a number computed from samples, with the interval that they allow:

- Samples whose values correspond one by one (the same seeds, or the batches of the same run) are *paired*, so luck
  common to two schemes cancels. Others are independent, with Welch's and Satterthwaite's degrees of freedom; so are
  samples with different numbers of runs, which result from a precision target.
- A ratio of means has Fieller's interval, or none if the denominator may be zero.
- The largest of several has the simultaneous interval of all of them (Bonferroni), so that selecting it does not bias
  the result.

Nothing here reads a clock or a file.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace

from fourhop import stats
from fourhop.stats import CONFIDENCE, Interval, Method

Bounds = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Basis:
    """The runs behind a measurement that a study takes at a look (`looks`)."""

    confidence: float
    """Level of its intervals, such that those of all looks hold together with 95 %."""
    share: float
    """Share of the runs that the study may use for it, above 0 up to 1."""
    points: frozenset[tuple[str, int]]
    """The points that were measured, each as the name of its sweep and its number there."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, and the bounds of its confidence interval (`None` without one)."""

    value: float
    bounds: Callable[[float], Bounds] = field(repr=False, compare=False)
    unit: str = ""
    """Unit of the value; empty for a ratio."""
    method: str = ""
    """Method of the interval, for readers."""
    gain: bool = False
    """Whether it is a ratio that reports show as a gain or a loss: 1.2 as +20 %."""
    basis: Basis | None = None
    """The runs behind it. `None` if unknown: then its interval is a single one of 95 %, which decides nothing before
    the last look."""

    @property
    def low(self) -> float | None:
        """Lower end of the 95 % interval."""
        bounds = self.bounds(_confidence(self.basis))
        return None if bounds is None else bounds[0]

    @property
    def high(self) -> float | None:
        """Upper end of the 95 % interval."""
        bounds = self.bounds(_confidence(self.basis))
        return None if bounds is None else bounds[1]

    def __str__(self) -> str:
        """Value and interval: `12 [7.03, 17] kbit/s`, or for a gain `+84 [+71.2, +98] %`."""
        written, unit = (percent, " %") if self.gain else (number, f" {self.unit}" if self.unit else "")
        if self.low is None or self.high is None:
            return f"{written(self.value)}{unit} (no interval)"
        return f"{written(self.value)} [{written(self.low)}, {written(self.high)}]{unit}"

    def _repr_html_(self) -> str:
        """For a notebook: value, interval, and its method."""
        made = f" <small>95 % interval, {html.escape(self.method)}</small>" if self.method else ""
        return f"{html.escape(str(self))}{made}"


@dataclass(frozen=True, slots=True)
class Sample:
    """Measured values of one quantity, one per run or one per batch of a run.

    >>> slow = Sample((10.0, 12.0, 14.0), (1, 2, 3), "kbit/s")
    >>> fast = Sample((20.0, 24.0, 28.0), (1, 2, 3), "kbit/s")
    >>> print(fast / slow)
    +100 [+100, +100] %
    >>> print(fast - slow)
    12 [7.03, 17] kbit/s
    """

    values: tuple[float, ...]
    units: tuple[Hashable, ...]
    """Identity of each value: the seed of a run, or the run and the batch."""
    unit: str = ""
    """Unit of the values."""
    method: Method = "replications"
    centre: float | None = None
    """The estimate if it is not the plain mean of the values: for a single run, the measurement of the whole run."""
    basis: Basis | None = field(default=None, compare=False)
    """The runs behind it, as in `Estimate`."""

    @property
    def mean(self) -> float:
        """The estimate."""
        if self.centre is not None:
            return self.centre
        return math.fsum(self.values) / len(self.values) if self.values else math.nan

    @property
    def interval(self) -> Interval:
        """Mean and half-width of the 95 % interval."""
        spread = stats.student_interval(self.values, confidence=_confidence(self.basis), method=self.method)
        return Interval(self.mean, spread.half_width, spread.n, spread.method)

    @property
    def estimate(self) -> Estimate:
        """The mean as an estimate."""
        return combine([(1.0, self)])

    def __truediv__(self, other: Sample) -> Estimate:
        """The ratio of the means, shown as a gain."""
        return replace(ratio(self, other), gain=True)

    def __sub__(self, other: Sample) -> Estimate:
        """The difference of the means."""
        return combine([(1.0, self), (-1.0, other)])


def paired(samples: Sequence[Sample]) -> bool:
    """Whether the values of the samples correspond one by one."""
    first = samples[0]
    return all(sample.units == first.units and sample.method == first.method for sample in samples)


def common(samples: Sequence[Sample]) -> list[Sample]:
    """The samples cut to the runs of the shortest, if all have these: points of a study may differ in their runs.

    >>> few, many = Sample((1.0, 2.0), (1, 2)), Sample((3.0, 4.0, 9.0), (1, 2, 3))
    >>> [sample.values for sample in common([few, many])]
    [(1.0, 2.0), (3.0, 4.0)]
    """
    fewest = min((sample.units for sample in samples), key=len)
    if any(sample.units[: len(fewest)] != fewest or sample.method != samples[0].method for sample in samples):
        return list(samples)
    return [replace(sample, units=fewest, values=sample.values[: len(fewest)]) for sample in samples]


def _confidence(basis: Basis | None) -> float:
    return CONFIDENCE if basis is None else basis.confidence


def _basis(made_of: Sequence[Sample] | Sequence[Estimate]) -> Basis | None:
    """The runs behind a combination of several: unknown if those of one are."""
    known = [each.basis for each in made_of if each.basis is not None]
    if not known or len(known) < len(made_of):
        return None
    points = frozenset[tuple[str, int]]().union(*(basis.points for basis in known))
    return Basis(max(basis.confidence for basis in known), min(basis.share for basis in known), points)


def combine(terms: Sequence[tuple[float, Sample]], unit: str | None = None) -> Estimate:
    """A weighted sum of means; a difference has the weights 1 and -1."""
    value = math.fsum(weight * sample.mean for weight, sample in terms)
    samples = [sample for _, sample in terms]
    unit = samples[0].unit if unit is None else unit
    if paired(samples):
        each = [
            math.fsum(weight * x for (weight, _), x in zip(terms, row, strict=True))
            for row in zip(*(sample.values for sample in samples), strict=True)
        ]

        def bounds(confidence: float) -> Bounds:
            return _around(value, stats.student_interval(each, confidence=confidence).half_width)

        how = _method(samples, "paired" if len(samples) > 1 else "")
        return Estimate(value, bounds, unit, how, basis=_basis(samples))
    spreads = [(weight**2 * _variance(sample), len(sample.values) - 1) for weight, sample in terms]

    def welch(confidence: float) -> Bounds:
        return _around(value, _welch(spreads, confidence))

    return Estimate(value, welch, unit, _method(samples, "Welch"), basis=_basis(samples))


def ratio(over: Sample, under: Sample) -> Estimate:
    """The ratio of two means with Fieller's interval, shown as a ratio; `over / under` is shown as a gain."""
    below = under.mean
    value = math.nan if below == 0.0 or math.isnan(below) else over.mean / below
    together = paired([over, under])

    def bounds(confidence: float) -> Bounds:
        v11, v22 = _variance(over), _variance(under)
        v12 = _covariance(over, under) if together else 0.0
        if math.isnan(value) or math.isnan(v11) or math.isnan(v22):
            return None
        if together:
            degrees = float(len(over.values) - 1)
        else:
            degrees = _degrees([(v11, len(over.values) - 1), (value**2 * v22, len(under.values) - 1)])
        quantile = _quantile(degrees, confidence)
        g = quantile**2 * v22 / below**2
        if g >= 1.0:
            return None
        # Rounding may make this slightly negative if over is a multiple of under.
        inner = v11 - 2.0 * value * v12 + value**2 * v22 - g * (v11 - (v12**2 / v22 if v22 > 0.0 else 0.0))
        half = quantile / abs(below) * math.sqrt(max(inner, 0.0))
        middle = value - (g * v12 / v22 if v22 > 0.0 else 0.0)
        return (middle - half) / (1.0 - g), (middle + half) / (1.0 - g)

    how = _method([over, under], "Fieller, paired" if together else "Fieller")
    return Estimate(value, bounds, "", how, basis=_basis([over, under]))


def run_by_run(of: Callable[..., float], *samples: Sample, unit: str = "") -> Sample:
    """Apply `of` to the values of several samples, for each run that all of them have.

    >>> one, other = Sample((1.0, 2.0), (1, 2), "kbit/s"), Sample((3.0, 2.0), (1, 2), "kbit/s")
    >>> run_by_run(lambda x, y: x / (x + y), one, other).values
    (0.25, 0.5)
    """
    shared = common(samples)
    values = tuple(of(*row) for row in zip(*(sample.values for sample in shared), strict=True))
    return Sample(values, shared[0].units, unit, shared[0].method, basis=_basis(samples))


def share(part: Sample, whole: Sequence[Sample]) -> Estimate:
    """The share of `part` in the sum of `whole`, over the runs that all of them have."""
    part, *whole = common([part, *whole])
    if not paired([part, *whole]):
        raise ValueError("a share needs samples of the same runs")
    values = tuple(math.fsum(row) for row in zip(*(sample.values for sample in whole), strict=True))
    centre = math.fsum(sample.mean for sample in whole)
    return ratio(part, Sample(values, part.units, part.unit, part.method, centre, _basis(whole)))


def growth(ours: Sequence[Sample], theirs: Sequence[Sample]) -> Estimate:
    """The change of `ours` from its first sample to its last, minus that of `theirs`."""
    return combine([(1.0, ours[-1]), (-1.0, ours[0]), (-1.0, theirs[-1]), (1.0, theirs[0])])


def slope(points: Sequence[tuple[float, Sample]]) -> Estimate:
    """The slope of the least-squares line through the means, per unit of x."""
    values = {x for x, _ in points}
    if len(values) < 2:
        raise ValueError(f"a slope needs points at two or more values of x, found {len(values)}")
    centre = math.fsum(x for x, _ in points) / len(points)
    square = math.fsum((x - centre) ** 2 for x, _ in points)
    unit = points[0][1].unit
    return combine(
        [((x - centre) / square, sample) for x, sample in points], f"{unit} per step" if unit else "per step"
    )


def peak(estimates: Sequence[Estimate]) -> Estimate:
    """The largest of several."""
    return _extreme(estimates, max, "largest")


def trough(estimates: Sequence[Estimate]) -> Estimate:
    """The smallest of several."""
    return _extreme(estimates, min, "smallest")


def _extreme(estimates: Sequence[Estimate], pick: Callable[..., float], word: str) -> Estimate:
    if not estimates:
        raise ValueError(f"the {word} needs at least one estimate")
    value = math.nan if any(math.isnan(each.value) for each in estimates) else pick(each.value for each in estimates)

    def bounds(confidence: float) -> Bounds:
        each = [estimate.bounds(1.0 - (1.0 - confidence) / len(estimates)) for estimate in estimates]
        known = [pair for pair in each if pair is not None]
        if len(known) < len(each):
            return None
        return pick(low for low, _ in known), pick(high for _, high in known)

    method = f"{word} of {len(estimates)}, simultaneous"
    first = estimates[0]
    how = "; ".join(filter(None, (first.method, method)))
    return Estimate(value, bounds, first.unit, how, first.gain, _basis(estimates))


def number(value: float) -> str:
    """A number for readers: three significant digits, more only before the decimal point.

    >>> [number(x) for x in (1234.56, 12.345, 0.98765, 1.0, float("nan"))]
    ['1235', '12.3', '0.988', '1', 'unknown']
    """
    if math.isnan(value):
        return "unknown"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def percent(ratio: float) -> str:
    """A ratio as a gain or a loss in percent: three significant digits, at most one decimal.

    >>> [percent(x) for x in (1.84321, 0.9557, 1.0, 1.00049, 12.5, float("nan"))]
    ['+84.3', '-4.4', '0', '0', '+1150', 'unknown']
    """
    if math.isnan(ratio):
        return "unknown"
    gain = round(100.0 * (ratio - 1.0), 1) + 0.0
    return f"{gain:+.0f}" if abs(gain) >= 100.0 else f"{gain:+.3g}" if gain else "0"


def _around(value: float, half_width: float | None) -> Bounds:
    return None if half_width is None or math.isnan(value) else (value - half_width, value + half_width)


def _variance(sample: Sample) -> float:
    """Variance of the mean; NaN if undefined."""
    n = len(sample.values)
    return _covariance(sample, sample) if n > 1 else math.nan


def _covariance(one: Sample, other: Sample) -> float:
    """Covariance of the two means of paired values."""
    n = len(one.values)
    if n < 2:
        return math.nan
    mean_one, mean_other = math.fsum(one.values) / n, math.fsum(other.values) / n
    pairs = zip(one.values, other.values, strict=True)
    return math.fsum((x - mean_one) * (y - mean_other) for x, y in pairs) / ((n - 1) * n)


def _degrees(spreads: Sequence[tuple[float, int]]) -> float:
    """Degrees of freedom of a sum of independent variances (Welch, Satterthwaite)."""
    total = math.fsum(variance for variance, _ in spreads)
    parts = math.fsum(variance**2 / degrees for variance, degrees in spreads)
    # Without any variation the interval has no width, whatever the degrees of freedom.
    return 1.0 if parts == 0.0 else total**2 / parts


def _welch(spreads: Sequence[tuple[float, int]], confidence: float) -> float | None:
    total = math.fsum(variance for variance, _ in spreads)
    if math.isnan(total):
        return None
    return _quantile(_degrees(spreads), confidence) * math.sqrt(total)


def _quantile(degrees: float, confidence: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + confidence / 2.0))


def _method(samples: Sequence[Sample], how: str) -> str:
    over = " and ".join(sorted({sample.method for sample in samples}))
    return ", ".join(filter(None, (over, how)))
