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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Concatenate, Literal, ParamSpec, Protocol, overload

from fourhop.stats import CONFIDENCE
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
    futile: bool = False
    """Whether it is unlikely to hold with all runs (`_is_futile`), so that more runs are not worth their time."""
    weaker: tuple[Claim, ...] = ()
    """Weaker forms; any of them makes it `partly`."""
    parts: Mapping[str, Claim] = field(default_factory=dict, repr=False, hash=False)
    """If it is about several quantities, the claim about each."""
    least: int = 0
    """Number of `parts` that must hold."""
    points: frozenset[tuple[str, int]] | None = None
    """The points that were measured, as in `Basis`; `None` if unknown."""

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
    """Whether further runs cannot change the verdict, with the confidence of the intervals, or are unlikely to."""
    if claim.holds:
        return claim.firm
    if not _is_out(claim):
        return False
    weaker = claim.weaker
    return any(each.holds and each.firm for each in weaker) or all(map(_is_out, weaker))


def _is_out(claim: Claim) -> bool:
    """Whether it fails for good, or is unlikely to hold."""
    return (claim.holds is False and claim.firm) or claim.futile


def undecided(claim: Claim) -> Iterator[Claim]:
    """The claims about single quantities, among its parts and weaker forms, for which more runs may matter."""
    if is_decided(claim):
        return
    if not ((claim.holds and claim.firm) or _is_out(claim)):
        if claim.parts:
            for part in claim.parts.values():
                yield from undecided(replace(part, weaker=()))
        else:
            yield claim
    # A weaker form counts only if the claim itself does not hold.
    if not claim.holds:
        for weaker in claim.weaker:
            yield from undecided(weaker)


def measured_points(claim: Claim) -> frozenset[tuple[str, int]] | None:
    """All points behind a claim, its parts and its weaker forms; `None` if those of one are unknown."""
    points = frozenset[tuple[str, int]]()
    for each in (
        *(() if claim.parts else (claim.points,)),
        *(measured_points(other) for other in (*claim.parts.values(), *claim.weaker)),
    ):
        if each is None:
            return None
        points |= each
    return points


def keep_decided(earlier: Claim, now: Claim) -> Claim:
    """The claim as it is `now`, except for parts decided at an earlier look: their points may have no more runs."""
    weaker = now.weaker
    if len(earlier.weaker) == len(weaker):
        weaker = tuple(keep_decided(was, one) for was, one in zip(earlier.weaker, weaker, strict=True))
    # A check may ask about something else once it has seen more runs.
    same = earlier.parts.keys() == now.parts.keys() and (
        now.parts or (earlier.criterion, earlier.points) == (now.criterion, now.points)
    )
    if same and is_decided(replace(earlier, weaker=())):
        return replace(earlier, weaker=weaker)
    if not same or not now.parts:
        return replace(now, weaker=weaker)
    parts = {name: keep_decided(earlier.parts[name], part) for name, part in now.parts.items()}
    return replace(_several(parts, now.least), criterion=now.criterion, weaker=weaker)


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
        estimate.basis is not None and bottom is not None and top is not None and bottom < top,
        holds is None and _is_futile(estimate, low, high),
        points=None if estimate.basis is None else estimate.basis.points,
    )


def _is_futile(estimate: Estimate, low: float, high: float) -> bool:
    """Whether it is unlikely that the interval of all runs will lie between `low` and `high`.

    This is stochastic curtailment (Lan, Simon and Halperin, Sequential Analysis 1, 1982) by prediction. At the share t
    of the runs, with a 95 % interval of ± h, the estimate of all runs will be within h √(1 - t) of this one with 95 %.
    If the values are normal, all looks together give up less than 3 % of the claims although they would hold. No
    interval depends on it, so it costs no confidence.
    """
    usual, half = estimate.bounds(CONFIDENCE), estimate.bounds(0.5)
    if estimate.basis is None or usual is None or half is None or math.isnan(estimate.value) or not half[0] < half[1]:
        return False
    # The sides of a ratio's interval differ, and less with more runs.
    moves = max(estimate.value - usual[0], usual[1] - estimate.value) * math.sqrt(1.0 - estimate.basis.share)
    # The 50 % interval, unlike that of 95 %, is hardly wider for being made from few values.
    reaches = _NORMAL * min(estimate.value - half[0], half[1] - estimate.value) * math.sqrt(estimate.basis.share)
    if estimate.value + moves - reaches <= low or estimate.value - moves + reaches >= high:
        return True
    # The interval of all runs will be too wide, even if the values scatter half as much as they seem to.
    return reaches >= high - low


_NORMAL = 2.906
"""A normal value's 95 % interval over its 50 % interval: 1.960 / 0.6745."""


def _beyond(far: float, bound: float) -> float:
    return -math.inf if math.isnan(far) or math.isinf(bound) else far / (abs(bound) or 1.0)


def every(claims: Mapping[str, Claim]) -> Claim:
    """All of several claims hold; their names say what each is about."""
    return _several(claims, len(claims))


def most(claims: Mapping[str, Claim], share: float = 0.75) -> Claim:
    """At least a share of several claims hold, each by its own interval."""
    return _several(claims, math.ceil(share * len(claims)))


def _several(claims: Mapping[str, Claim], least: int) -> Claim:
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
    words = "all of" if least == len(claims) else f"at least {least} of"
    return Claim(
        f"{words} {len(claims)}: {what}",
        holds,
        f"{holding} of {len(claims)} hold{lost} ({place}: {name}: {worst.measured})",
        f"{holding} of {len(claims)} hold, weakest {name}: {worst.brief or worst.measured}",
        method=method,
        beyond=max(claim.beyond for claim in claims.values()),
        firm=firm[True] >= least or len(claims) - firm[False] < least,
        futile=holds is None and len(claims) - sum(map(_is_out, claims.values())) < least,
        parts=dict(claims),
        least=least,
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
