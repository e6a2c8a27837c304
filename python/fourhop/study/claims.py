"""Claims about estimates, and their verdicts.

A claim holds if the whole interval supports it, fails if the whole interval contradicts it, and is undecided otherwise:
a mean that is on the right side by luck is no evidence. A check is `reproduced` if its claim holds, `partly` if only a
weaker form, stated beforehand, holds, and `not reproduced` otherwise.

`above`, `below`, `about`, `between` and `fair` take one measurement, or several by name: then they return claims by
name, for `every` and `most`.

>>> from fourhop.study import Sample, above
>>> gain = Sample((30.0, 31.0, 32.0), (1, 2, 3)) / Sample((20.0, 20.5, 20.0), (1, 2, 3))
>>> print(above(gain, 1.2))
above +20 %: holds: +53.7 [+40.4, +67.4] %
>>> print(above(gain, 1.8).or_partly(above(gain, 1.0)))
above +80 %: fails: +53.7 [+40.4, +67.4] %
>>> judge(above(gain, 1.8).or_partly(above(gain, 1.0)))
'partly'
>>> every(above({"over 4 hops": gain, "over 8 hops": gain}, 1.2)).holds
True
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Concatenate, Literal, ParamSpec, Protocol, overload

from fourhop.study.estimate import Estimate, Sample, number, percent, slope

P = ParamSpec("P")

Measured = Estimate | Sample

Verdict = Literal["reproduced", "partly", "not reproduced", "not judged"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement about measurements, already compared with them."""

    criterion: str
    """The criterion, such as `above 1.2`."""
    holds: bool | None
    """Whether the interval supports it; `None` if it supports neither the claim nor its opposite."""
    measured: str
    """The measurement with its interval, for readers."""
    brief: str = ""
    """A shorter form for a line of prose, if `measured` is long."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    method: str = ""
    """Method of the interval."""
    beyond: float = -math.inf
    """Amount by which the value violates its bound, as a share of the bound unless that is 0; negative if it meets the
    bound."""
    firm: bool = False
    """Whether a look before the last may decide it: its interval was made for looks and has a width. Without such an
    interval, a claim says nothing about later runs, and equal values may be followed by others."""
    weaker: tuple[Claim, ...] = ()
    """Weaker forms; any of them makes it `partly`."""

    def or_partly(self, *weaker: Claim) -> Claim:
        """This claim with further weaker forms; any of them counts as `partly`."""
        return replace(self, weaker=self.weaker + weaker)

    def __str__(self) -> str:
        """Criterion, outcome, measurement."""
        return f"{self.criterion}: {_WORDS[self.holds]}: {self.measured}"


_WORDS = {True: "holds", False: "fails", None: "undecided"}


def judge(claim: Claim) -> Verdict:
    """The verdict on a claim and its weaker forms."""
    if claim.holds:
        return "reproduced"
    return "partly" if any(weaker.holds for weaker in claim.weaker) else "not reproduced"


def is_decided(claim: Claim) -> bool:
    """Whether further runs cannot change the verdict, with the confidence of the intervals."""
    if claim.holds is None or not claim.firm:
        return False
    weaker = claim.weaker
    return (
        claim.holds
        or any(each.holds and each.firm for each in weaker)
        or all(each.holds is False and each.firm for each in weaker)
    )


def reason(claim: Claim) -> str | None:
    """The reason why a claim is not fully reproduced; `None` if it is."""
    if claim.holds:
        return None
    why = {
        False: f"criterion: {claim.criterion}; the interval says otherwise",
        None: f"criterion: {claim.criterion}; the measurement does not decide it",
    }[claim.holds]
    for weaker in claim.weaker:
        measured = "" if weaker.measured == claim.measured else f" with {weaker.measured}"
        why += f"; weaker form: {weaker.criterion}: {_WORDS[weaker.holds]}{measured}"
    return why


class Criterion(Protocol[P]):
    """A criterion for one measured quantity, or for each of several."""

    @overload
    def __call__(self, measured: Measured, /, *args: P.args, **kwargs: P.kwargs) -> Claim: ...
    @overload
    def __call__(self, measured: Mapping[str, Measured], /, *args: P.args, **kwargs: P.kwargs) -> dict[str, Claim]: ...


def criterion(ask: Callable[Concatenate[Measured, P], Claim]) -> Criterion[P]:
    """Extend `ask` to several quantities by name."""

    @wraps(ask)
    def asked(
        measured: Measured | Mapping[str, Measured], /, *args: P.args, **kwargs: P.kwargs
    ) -> Claim | dict[str, Claim]:
        if isinstance(measured, Mapping):
            return {name: ask(each, *args, **kwargs) for name, each in measured.items()}
        return ask(measured, *args, **kwargs)

    return asked  # type: ignore[return-value]


@criterion
def above(measured: Measured, bound: float) -> Claim:
    """The measured quantity is above `bound`."""
    return _between(measured, bound, math.inf, f"above {_written(measured, bound)}")


@criterion
def below(measured: Measured, bound: float) -> Claim:
    """The measured quantity is below `bound`."""
    return _between(measured, -math.inf, bound, f"below {_written(measured, bound)}")


@criterion
def about(measured: Measured, value: float, within: float = 0.15) -> Claim:
    """The measured quantity is `value`, give or take the share `within` of it."""
    reach = abs(value) * within
    if _is_gain(measured):
        return between(measured, value - reach, value + reach)
    return _between(measured, value - reach, value + reach, f"{number(value)} ± {within:.0%}")


@criterion
def between(measured: Measured, low: float, high: float) -> Claim:
    """The measured quantity is between `low` and `high`."""
    return _between(measured, low, high, f"between {_written(measured, low)} and {_written(measured, high)}")


def _is_gain(measured: Measured) -> bool:
    return isinstance(measured, Estimate) and measured.gain


def _written(measured: Measured, bound: float) -> str:
    """A bound in the unit of the measurement."""
    return f"{percent(bound)} %" if _is_gain(measured) else number(bound)


def _between(measured: Measured, low: float, high: float, words: str) -> Claim:
    estimate = measured.estimate if isinstance(measured, Sample) else measured
    bottom, top = estimate.low, estimate.high
    if bottom is None or top is None:
        holds = None
    elif low < bottom and top < high:
        holds = True
    else:
        holds = False if top <= low or bottom >= high else None
    return Claim(
        words,
        holds,
        str(estimate),
        "",
        None if math.isnan(estimate.value) else estimate.value,
        bottom,
        top,
        estimate.unit,
        estimate.method,
        max(_beyond(low - estimate.value, low), _beyond(estimate.value - high, high)),
        estimate.confidence is not None and bottom is not None and top is not None and bottom < top,
    )


def _beyond(far: float, bound: float) -> float:
    return -math.inf if math.isnan(far) or math.isinf(bound) else far / (abs(bound) or 1.0)


def every(claims: Mapping[str, Claim]) -> Claim:
    """All of several claims hold; their names say what each is about."""
    return _several(claims, len(claims), "all of")


def most(claims: Mapping[str, Claim], share: float = 0.75) -> Claim:
    """At least a share of several claims hold, each by its own interval."""
    least = math.ceil(share * len(claims))
    return _several(claims, least, f"at least {least} of")


def _several(claims: Mapping[str, Claim], least: int, words: str) -> Claim:
    if not claims:
        raise ValueError("a claim about several quantities needs at least one")
    outcomes = {holds: [name for name, claim in claims.items() if claim.holds is holds] for holds in _WORDS}
    holding, undecided = len(outcomes[True]), len(outcomes[None])
    holds = True if holding >= least else None if holding + undecided >= least else False
    criteria = {claim.criterion for claim in claims.values()}
    own = (
        "; ".join(f"{name} {claim.criterion}" for name, claim in claims.items())
        if len(claims) <= 3
        else "its own bound"
    )
    what = criteria.pop() if len(criteria) == 1 else own
    lost = "".join(f"; {_WORDS[which]}: {'; '.join(outcomes[which])}" for which in (False, None) if outcomes[which])
    # Show the one that violates its bound most; if all hold, the closest to its bound.
    name, worst = max(claims.items(), key=lambda each: (not each[1].holds, each[1].beyond))
    place = "closest to its bound" if worst.holds else "farthest from its bound"
    method = next((claim.method for claim in claims.values()), "")
    firm = {which: sum(claim.firm for claim in claims.values() if claim.holds is which) for which in (True, False)}
    return Claim(
        f"{words} {len(claims)}: {what}",
        holds,
        f"{holding} of {len(claims)} hold{lost} ({place}: {name}: {worst.measured})",
        f"{holding} of {len(claims)} hold, weakest {name}: {worst.brief or worst.measured}",
        method=method,
        beyond=max(claim.beyond for claim in claims.values()),
        firm=firm[True] >= least or len(claims) - firm[False] < least,
    )


def ordered(samples: Sequence[tuple[str, Sample]]) -> Claim:
    """Each sample's mean is above the next one's: the largest comes first."""
    if len(samples) < 2:
        raise ValueError("an order needs at least two samples")
    pairs = {
        f"{one} over {other}": above(first - second, 0.0)
        for (one, first), (other, second) in itertools.pairwise(samples)
    }
    return replace(every(pairs), criterion=" > ".join(name for name, _ in samples))


def rises(points: Sequence[tuple[float, Sample]]) -> Claim:
    """The mean grows with x: the slope of the line through the means is above zero."""
    return replace(above(slope(points), 0.0), criterion="slope above 0")


def falls(points: Sequence[tuple[float, Sample]]) -> Claim:
    """The mean falls with x."""
    return replace(below(slope(points), 0.0), criterion="slope below 0")


@criterion
def fair(index: Measured, least: float = 0.99) -> Claim:
    """Jain's index is above `least`."""
    return replace(above(index, least), criterion=f"Jain's index above {number(least)}")
