"""When a study may stop: the looks at its runs, and the confidence level of intervals at each.

This is a group-sequential design. Claims are compared with intervals at a quarter and a half of a sweep's runs, and at
all of them. If an interval decides a claim, its runs end there.

A 95 % interval allows 5 % of error. The looks share it by alpha spending (Lan and DeMets, Biometrika 70, 1983): at the
share t of the runs, 0.05 t³ is spent, the function of Kim and DeMets (Biometrika 74, 1987) that is close to the bounds
of O'Brien and Fleming. Each look gets the amount added since the previous one. By Bonferroni's inequality, the
intervals of all looks at one quantity hold *together* with 95 %, whatever stops the runs and however values are
correlated: they are repeated confidence intervals (Jennison and Turnbull, 1989). The level of the last look is 95.6 %,
which makes intervals of 20 runs 3 % wider than without looks.

The estimate of a claim that is decided early is on average slightly too far from its bound, as in every design that
stops early; the level of its interval holds.

Looks are taken at numbers of runs, never at times, so they depend only on the study and the seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fourhop.stats import CONFIDENCE

LOOKS = (0.25, 0.5, 1.0)
"""Shares of the runs at which looks are taken."""

LEAST = 3
"""Minimum number of runs for a look: the interval of two is almost useless."""

EXPONENT = 3.0
"""Exponent of the spending function: little is spent early, so that the last look loses little."""


@dataclass(frozen=True, slots=True)
class Look:
    """A number of runs, and the level of intervals at it."""

    runs: int
    """Maximum number of runs per point."""
    confidence: float
    """Level of each interval at this look; those of all looks hold together with 95 %."""


def looks(runs: int, shares: Sequence[float] = LOOKS) -> tuple[Look, ...]:
    """The looks at a sweep with `runs` per point, one for each share; a look with too few runs equals the next one.

    >>> [(look.runs, round(look.confidence, 4)) for look in looks(20)]
    [(5, 0.9992), (10, 0.9945), (20, 0.9562)]
    >>> [(look.runs, round(look.confidence, 4)) for look in looks(4)]
    [(4, 0.95), (4, 0.95), (4, 0.95)]
    """
    counts: list[int] = []
    for share in reversed(shares):
        count = math.ceil(share * runs)
        counts.insert(0, count if count >= LEAST or not counts else counts[0])
    made: list[Look] = []
    spent = 0.0
    for count in counts:
        if made and made[-1].runs == count:
            # The same runs again: no error is added.
            made.append(made[-1])
            continue
        total = (1.0 - CONFIDENCE) * (count / runs) ** EXPONENT
        # Exactly `CONFIDENCE` if nothing was spent before, so that rounding changes no interval.
        made.append(Look(count, 1.0 - (total - spent) if spent or count < runs else CONFIDENCE))
        spent = total
    return tuple(made)
