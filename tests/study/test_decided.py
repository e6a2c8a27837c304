"""Claims decided before the last look at a study: those whose intervals allow for looks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from fourhop.stats import CONFIDENCE
from fourhop.study import Claim, Sample, above, below, between, every, most
from fourhop.study.claims import is_decided, keep_decided, measured_points, undecided
from fourhop.study.estimate import Basis
from fourhop.study.looks import Look, looks


def sample(*values: float, confidence: float = CONFIDENCE, share: float = 0.25) -> Sample:
    return Sample(values, tuple(range(len(values))), basis=Basis(confidence, share, frozenset()))


def test_only_an_interval_that_was_made_for_looks_and_has_a_width_decides() -> None:
    far = sample(10.0, 11.0, 12.0)
    assert is_decided(above(far, 1.0))
    assert is_decided(below(far, 1.0))
    assert not is_decided(above(far, 11.0))
    assert not is_decided(above(sample(10.0, 10.0, 10.0), 1.0)), "equal values say nothing of the next one"
    assert not is_decided(above(replace(far, basis=None), 1.0))
    assert not is_decided(Claim("by its values", True, "10"))


def test_a_claim_that_fails_waits_for_its_weaker_forms() -> None:
    far = sample(10.0, 11.0, 12.0)
    lost, open_, holding = above(far, 20.0), above(far, 11.0), above(far, 1.0)
    assert is_decided(lost.or_partly(holding))
    assert not is_decided(lost.or_partly(open_))
    assert is_decided(lost.or_partly(above(far, 30.0)))
    assert is_decided(holding.or_partly(open_))


def test_several_claims_are_decided_by_those_that_decide() -> None:
    far = sample(10.0, 11.0, 12.0)
    lost, open_, holding = above(far, 20.0), above(far, 11.0), above(far, 1.0)
    flat = above(sample(10.0, 10.0, 10.0), 1.0)
    assert is_decided(every({"a": lost, "b": open_}))
    assert not is_decided(every({"a": holding, "b": open_}))
    assert not is_decided(every({"a": holding, "b": flat}))
    assert is_decided(most({"a": holding, "b": holding, "c": holding, "d": open_}))


def test_a_claim_that_hardly_holds_with_all_runs_is_given_up() -> None:
    """At half of the runs: if the value is too far beyond the bound, or the interval will be wider than the bounds."""
    half = sample(9.0, 10.0, 11.0, share=0.5)
    assert is_decided(above(half, 10.9))
    assert is_decided(below(half, 9.1))
    assert not is_decided(above(half, 10.5))
    assert not is_decided(below(half, 9.5))
    assert not is_decided(above(sample(9.0, 10.0, 11.0, share=0.25), 10.9))
    assert is_decided(between(half, 9.6, 10.4))
    assert not is_decided(between(half, 9.4, 10.6))
    # A weaker form that may hold keeps it open; one that does decides it.
    lost = above(half, 10.9)
    assert not is_decided(lost.or_partly(above(half, 9.9)))
    assert is_decided(lost.or_partly(above(half, 5.0)))


@pytest.mark.parametrize("distance", [0.0, 1.0, 2.0, 2.5, 3.0])
def test_few_of_the_claims_that_hold_with_all_runs_are_given_up(distance: float) -> None:
    """At most 3 % of all claims, at all looks together, wherever the bound is."""
    runs, trials = 20, 500
    drawn = np.random.default_rng(7).normal(10.0, 1.0, (trials, runs))
    bound = 10.0 - distance / math.sqrt(runs)

    def claim(values: np.ndarray, look: Look) -> Claim:
        return above(sample(*values[: look.runs], confidence=look.confidence, share=look.share), bound)

    *early, last = dict.fromkeys(looks(runs))
    given_up = [any(claim(each, look).futile for look in early) for each in drawn]
    holds = [bool(claim(each, last).holds) for each in drawn]
    assert sum(map(min, given_up, holds)) <= 0.03 * trials
    if distance == 0.0:
        assert sum(given_up) >= 0.5 * trials


def at(point: int, *values: float) -> Sample:
    points = frozenset({("chain", point)})
    return replace(sample(*values), basis=Basis(CONFIDENCE, 0.25, points))


def test_each_part_asks_for_the_runs_of_its_own_points() -> None:
    base, near, far = at(0, 10.0, 10.5, 11.0), at(1, 9.0, 10.5, 11.9), at(2, 3.0, 3.3, 3.2)
    claim = every(above({"near": base / near, "far": base / far}, 1.0))
    assert measured_points(claim) == frozenset({("chain", 0), ("chain", 1), ("chain", 2)})
    assert [part.points for part in undecided(claim)] == [frozenset({("chain", 0), ("chain", 1)})]
    partly = above(far - base, 1.0).or_partly(above(near, 10.0))
    assert [part.points for part in undecided(partly)] == [frozenset({("chain", 1)})]
    # Points that nobody recorded: a sample made by hand, a claim made by hand.
    assert measured_points(every({"a": claim, "b": Claim("by hand", True, "10")})) is None
    assert measured_points(above(sample(1.0, 2.0).estimate, 0.0)) == frozenset()
    assert measured_points(above(Sample((1.0, 2.0), (1, 2)), 0.0)) is None


def test_a_decided_part_stays_as_it_was_decided() -> None:
    """Its points may have no more runs, or those of another number."""
    ahead, open_, behind = (10.8, 11.0, 11.2), (9.0, 10.5, 11.9), (1.0, 2.0, 1.5)
    earlier = every(above({"a": at(1, *ahead), "b": at(2, *open_)}, 9.0)).or_partly(above(at(3, *behind), 9.0))
    later = every(above({"a": at(1, *behind), "b": at(2, *behind)}, 9.0)).or_partly(above(at(3, *ahead), 9.0))
    kept = keep_decided(earlier, later)
    assert {name: part.holds for name, part in kept.parts.items()} == {"a": True, "b": False}
    assert [each.holds for each in kept.weaker] == [False]
    assert kept.holds is False
    assert kept.criterion == later.criterion
    whole = every(above({"a": at(1, *ahead), "b": at(2, *ahead)}, 5.0))
    assert keep_decided(whole, later).holds


@pytest.mark.parametrize("other", ["points", "bound", "name"])
def test_a_check_that_asks_about_something_else_is_not_kept(other: str) -> None:
    ahead, behind = (10.8, 11.0, 11.2), (1.0, 2.0, 1.5)
    claim = above({"a": at(1, *ahead)}, 9.0)
    later = {
        "points": above({"a": at(2, *behind)}, 9.0),
        "bound": above({"a": at(1, *behind)}, 8.0),
        "name": above({"b": at(1, *behind)}, 9.0),
    }[other]
    (part,) = later.values()
    if other != "name":
        assert keep_decided(claim["a"], part).holds is False
    open_ = every({**claim, **above({"c": at(3, 9.0, 10.5, 11.9)}, 9.0)})
    assert keep_decided(open_, every({**later, **above({"c": at(3, *ahead)}, 9.0)})).holds is False
