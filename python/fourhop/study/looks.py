"""When a study may stop: the looks at its runs, and the confidence level of intervals at each.

This is a group-sequential design. Claims are compared with intervals several times, and each time there are more runs.
If an interval decides a claim, its runs end there.

A 95 % interval allows 5 % of error. Each look has a part of it, fixed beforehand, as in Slud and Wei (J. Am. Stat.
Assoc. 77, 1982): up to look k of K, 0.05 (k/K)⁴. As this depends on the number of the look, and not on the number of
runs, the design also suits a sweep with a precision target, which may end at any number. The level of each look follows
from the error of the earlier ones, with the recursion of Armitage, McPherson and Rowe (J. R. Stat. Soc. A 132, 1969)
for means of normal values. So the intervals of all looks at one quantity hold *together* with 95 %, whatever stops the
runs: they are repeated confidence intervals (Jennison and Turnbull, 1989). Student's quantile has the same level, as in
Pocock (Biometrika 64, 1977).

The estimate of a claim that is decided early is on average slightly too far from its bound, as in every design that
stops early; the level of its interval holds.

Looks are taken at numbers of runs, never at times, so they depend only on the study and the seeds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from fourhop.stats import CONFIDENCE

LOOKS = 12
"""Number of looks at each sweep."""

LEAST = 3
"""Number of runs at the first look: the interval of two is almost useless."""

_NODES = 200
"""Points of the numerical integration; twice as many change no level by 1e-9."""

EXPONENT = 4.0
"""Early looks have little of the error, so that the last loses little."""


@dataclass(frozen=True, slots=True)
class Look:
    """A number of runs, and the level of intervals at it."""

    runs: int
    """Maximum number of runs per point."""
    confidence: float
    """Level of each interval at this look; those of all looks hold together with 95 %."""
    share: float = 1.0
    """Its share of all runs."""


ALL = Look(1, CONFIDENCE)
"""The only look at runs that are all there."""


def looks(runs: int) -> tuple[Look, ...]:
    """The looks at a sweep with at most `runs` per point. Their numbers of runs grow by the same factor each time.

    >>> [look.runs for look in looks(40)]
    [3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40]
    >>> [round(look.confidence, 4) for look in looks(4)[-7:]]
    [0.9969, 0.9502, 0.9502, 0.9502, 0.9502, 0.9502, 0.9502]
    """
    least = min(LEAST, runs)
    counts = [round(least * (runs / least) ** (number / (LOOKS - 1))) for number in range(LOOKS)]
    # Of several looks at the same runs, all have the level of the last.
    last = {count: number for number, count in enumerate(counts, 1)}
    shares = tuple(count / runs for count in last)
    spent = tuple((1.0 - CONFIDENCE) * (number / LOOKS) ** EXPONENT for number in last.values())
    # Exactly `CONFIDENCE` for a single look, so that rounding changes no interval.
    levels = dict(zip(last, levels_at(shares, spent) if len(last) > 1 else (CONFIDENCE,), strict=True))
    return tuple(Look(count, levels[count], count / runs) for count in counts)


@cache
def levels_at(shares: tuple[float, ...], spent: tuple[float, ...]) -> tuple[float, ...]:
    """The level of intervals at each of these shares of the runs; `spent` is the error allowed up to each."""
    import numpy as np
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    levels: list[float] = []
    # The density of the sum of the values so far, scaled to a variance of the share, where no look has erred yet.
    sums, density = np.zeros(1), np.ones(1)
    for share, before, error in zip(shares, (0.0, *shares), np.diff(spent, prepend=0.0), strict=False):
        step = math.sqrt(share - before)
        # Bisect for the bound that this look is the first to exceed with this probability.
        low, bound = 0.0, 9.0 * math.sqrt(share)
        for _ in range(60):
            middle = (low + bound) / 2.0
            beyond = density @ (ndtr((sums - middle) / step) + ndtr((-sums - middle) / step))
            low, bound = (middle, bound) if beyond > error else (low, middle)
        levels.append(float(1.0 - 2.0 * ndtr(-bound / math.sqrt(share))))
        later = bound * nodes
        moved = np.exp(-0.5 * ((later[:, None] - sums[None, :]) / step) ** 2) / (step * math.sqrt(2.0 * math.pi))
        sums, density = later, bound * weights * (moved @ density)
    return tuple(levels)
