"""When a study may stop: the looks at its runs, and the confidence level of intervals at each.

This is a group-sequential design. Claims are compared with intervals at several shares of a sweep's runs, and at all of
them. If an interval decides a claim, its runs end there.

A 95 % interval allows 5 % of error. The looks share it by alpha spending (Lan and DeMets, Biometrika 70, 1983): up to
the share t of the runs, 0.05 t³ is spent, the function of Kim and DeMets (Biometrika 74, 1987) that is close to the
bounds of O'Brien and Fleming. The level of each look follows from what the earlier ones have spent, with the
recursion of Armitage, McPherson and Rowe (J. R. Stat. Soc. A 132, 1969) for means of normal values. So the intervals of
all looks at one quantity hold *together* with 95 %, whatever stops the runs: they are repeated confidence intervals
(Jennison and Turnbull, 1989). Student's quantile has the same level, as in Pocock (Biometrika 64, 1977).

The estimate of a claim that is decided early is on average slightly too far from its bound, as in every design that
stops early; the level of its interval holds.

Looks are taken at numbers of runs, never at times, so they depend only on the study and the seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from fourhop.stats import CONFIDENCE

LOOKS = (0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 0.75, 1.0)
"""Shares of the runs at which looks are taken."""

LEAST = 3
"""Minimum number of runs for a look: the interval of two is almost useless."""

_NODES = 200
"""Points of the numerical integration; twice as many change no level by 1e-9."""

EXPONENT = 3.0
"""Exponent of the spending function: little is spent early, so that the last look loses little."""


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


def looks(runs: int, shares: Sequence[float] = LOOKS) -> tuple[Look, ...]:
    """The looks at a sweep with `runs` per point, one for each share; a look with too few runs equals the next one.

    >>> [(look.runs, round(look.confidence, 4)) for look in looks(20, (0.25, 0.5, 1.0))]
    [(5, 0.9992), (10, 0.9942), (20, 0.9527)]
    >>> [(look.runs, round(look.confidence, 4)) for look in looks(4, (0.25, 0.5, 1.0))]
    [(4, 0.95), (4, 0.95), (4, 0.95)]
    """
    counts: list[int] = []
    for share in reversed(shares):
        count = math.ceil(share * runs)
        counts.insert(0, count if count >= LEAST or not counts else counts[0])
    taken = tuple(dict.fromkeys(count / runs for count in counts))
    spent = tuple((1.0 - CONFIDENCE) * share**EXPONENT for share in taken)
    # Exactly `CONFIDENCE` for a single look, so that rounding changes no interval.
    levels = dict(zip(taken, levels_at(taken, spent) if len(taken) > 1 else (CONFIDENCE,), strict=True))
    return tuple(Look(count, levels[count / runs], count / runs) for count in counts)


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
