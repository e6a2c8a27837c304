"""Claims decided before the last look at a study: those whose intervals allow for looks."""

from __future__ import annotations

from dataclasses import replace

from fourhop.stats import CONFIDENCE
from fourhop.study import Claim, Sample, above, below, every, most
from fourhop.study.claims import is_decided


def sample(*values: float) -> Sample:
    return Sample(values, tuple(range(len(values))), confidence=CONFIDENCE)


def test_only_an_interval_that_was_made_for_looks_and_has_a_width_decides() -> None:
    far = sample(10.0, 11.0, 12.0)
    assert is_decided(above(far, 1.0))
    assert is_decided(below(far, 1.0))
    assert not is_decided(above(far, 11.0))
    assert not is_decided(above(sample(10.0, 10.0, 10.0), 1.0)), "equal values say nothing of the next one"
    assert not is_decided(above(replace(far, confidence=None), 1.0))
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
