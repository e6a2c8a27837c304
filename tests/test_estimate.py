"""Estimates and claims: intervals have their stated coverage, and verdicts follow from intervals alone."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhop.study import (
    Claim,
    Estimate,
    Sample,
    about,
    above,
    below,
    between,
    combine,
    every,
    fair,
    falls,
    growth,
    most,
    ordered,
    peak,
    ratio,
    rises,
    share,
    slope,
    trough,
)
from fourhop.study.claims import judge, reason
from fourhop.study.estimate import run_by_run


def sample(*values: float, units: tuple[object, ...] | None = None) -> Sample:
    return Sample(values, tuple(range(len(values))) if units is None else units, "kbit/s")


def apart(*values: float) -> Sample:
    """A sample on separate runs."""
    return sample(*values, units=tuple(f"other-{i}" for i in range(len(values))))


def covered(draw: Callable[[random.Random], Estimate], truth: float, trials: int = 1500) -> float:
    """How often the 95 % interval contains the truth; a missing interval contains everything."""
    source = random.Random(4)
    hits = 0
    for _ in range(trials):
        estimate = draw(source)
        hits += estimate.low is None or estimate.high is None or estimate.low <= truth <= estimate.high
    return hits / trials


# With 1500 trials, the coverage has a standard deviation of 0.6 %.
def test_ratio_of_independent_means_is_covered() -> None:
    def draw(source: random.Random) -> Estimate:
        over = sample(*(source.gauss(30.0, 3.0) for _ in range(10)))
        under = apart(*(source.gauss(20.0, 6.0) for _ in range(10)))
        return over / under

    assert 0.93 <= covered(draw, 1.5) <= 0.975


def test_ratio_of_paired_means_is_covered_and_narrower() -> None:
    def pair(source: random.Random) -> tuple[Sample, tuple[float, ...]]:
        luck = [source.gauss(0.0, 4.0) for _ in range(10)]
        over = tuple(30.0 + 1.5 * x + source.gauss(0.0, 0.5) for x in luck)
        return sample(*(20.0 + x for x in luck)), over

    def draw(source: random.Random) -> Estimate:
        under, over = pair(source)
        return sample(*over) / under

    assert 0.93 <= covered(draw, 1.5) <= 0.975
    under, over = pair(random.Random(1))
    together, separate = sample(*over) / under, apart(*over) / under
    assert together.value == separate.value
    assert together.high is not None
    assert together.low is not None
    assert separate.high is not None
    assert separate.low is not None
    assert together.high - together.low < 0.3 * (separate.high - separate.low)


def test_the_largest_of_several_is_covered_though_it_was_picked() -> None:
    def draw(source: random.Random) -> Estimate:
        each = [
            sample(*(source.gauss(10.0, 1.0) for _ in range(8))) - apart(*(source.gauss(10.0, 1.0) for _ in range(8)))
            for _ in range(12)
        ]
        return peak(each)

    assert covered(draw, 0.0, 400) >= 0.93


def test_a_slope_is_covered() -> None:
    def draw(source: random.Random) -> Estimate:
        return slope([(x, apart_at(x, *(5.0 + 2.0 * x + source.gauss(0.0, 3.0) for _ in range(6)))) for x in (1, 2, 4)])

    def apart_at(x: float, *values: float) -> Sample:
        return sample(*values, units=tuple((x, i) for i in range(len(values))))

    assert 0.93 <= covered(draw, 2.0) <= 0.98


def test_a_ratio_by_hand() -> None:
    gain = sample(30.0, 30.0, 30.0) / apart(20.0, 20.0, 20.0)
    assert (gain.value, gain.low, gain.high) == (1.5, 1.5, 1.5)
    assert str(gain) == "+50 [+50, +50] %"


# Also in units so large that all variances are far below 1.
@pytest.mark.parametrize("scale", [1.0, 1e-3])
@pytest.mark.parametrize("paired", [True, False])
def test_fiellers_bounds_solve_his_equation(paired: bool, scale: float) -> None:
    # Fieller (1954): at a bound r, over - r under is Student's t times its standard error away from zero.
    from scipy import stats

    over = [scale * x for x in (31.0, 28.0, 33.0, 30.0, 29.0, 32.5, 27.0)]
    under = [scale * x for x in ((21.0, 19.0, 24.0, 20.0, 18.5, 22.0, 16.0) if paired else (21.0, 12.0, 24.0, 20.0))]
    estimate = sample(*over) / (sample(*under) if paired else apart(*under))
    assert estimate.low is not None
    assert estimate.high is not None
    mean_over, mean_under = statistics.fmean(over), statistics.fmean(under)
    var_over, var_under = statistics.variance(over) / len(over), statistics.variance(under) / len(under)
    scaled = (mean_over / mean_under) ** 2 * var_under
    # Welch (1947) and Satterthwaite (1946), at the ratio of the means.
    welch = (var_over + scaled) ** 2 / (var_over**2 / (len(over) - 1) + scaled**2 / (len(under) - 1))
    quantile = stats.t.ppf(0.975, len(over) - 1 if paired else welch)
    for bound in (estimate.low, estimate.high):
        if paired:
            error = statistics.stdev(x - bound * y for x, y in zip(over, under, strict=True)) / math.sqrt(len(over))
        else:
            error = math.sqrt(var_over + bound**2 * var_under)
        assert abs(mean_over - bound * mean_under) == pytest.approx(quantile * error, rel=1e-9)


def test_a_difference_of_independent_means_has_welchs_bounds() -> None:
    from scipy import stats

    ours, theirs = (31.0, 28.0, 33.0, 30.0), (21.0, 12.0, 24.0)
    found = sample(*ours) - apart(*theirs)
    expected = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_one_run_on_either_side_leaves_a_ratio_without_an_interval() -> None:
    for estimate in (sample(30.0) / apart(20.0, 21.0, 22.0), apart(20.0, 21.0, 22.0) / sample(30.0)):
        assert (estimate.low, estimate.high) == (None, None)


def test_one_sample_alone_is_not_paired_with_anything() -> None:
    assert sample(1.0, 2.0).estimate.method == "replications"
    assert (sample(1.0, 2.0) - sample(2.0, 4.0)).method == "replications, paired"
    assert (sample(1.0, 2.0) / sample(2.0, 4.0)).method == "replications, Fieller, paired"
    assert (sample(1.0, 2.0) / apart(2.0, 4.0)).method == "replications, Fieller"


def test_values_run_by_run_can_come_from_one_sample() -> None:
    half = run_by_run(lambda x: x / 2, sample(1.0, 3.0), unit="Mbit/s")
    assert (half.values, half.units, half.unit, half.method) == ((0.5, 1.5), (0, 1), "Mbit/s", "replications")


def test_a_ratio_of_samples_without_spread_has_no_width() -> None:
    exact = sample(30.0, 30.0, 30.0) / apart(20.0, 20.0)
    assert (exact.low, exact.value, exact.high) == (1.5, 1.5, 1.5)


def test_gains_have_one_notation_and_parts_and_multiples_another() -> None:
    over, under = sample(30.0, 30.0, 30.0), sample(20.0, 20.0, 20.0)
    gain = over / under
    claims = above(gain, 1.2), below(gain, 0.5), about(gain, 1.84), between(gain, 0.98, 1.02), above(gain, 1.0)
    assert [claim.criterion for claim in claims] == [
        "above +20 %", "below -50 %", "between +56.4 % and +112 %", "between -2 % and +2 %", "above 0 %",
    ]  # fmt: skip
    assert [claim.holds for claim in claims] == [True, False, False, False, True], "bounds are ratios, however written"
    assert claims[0].measured == str(peak([gain, under / over])) == "+50 [+50, +50] %"
    assert str(ratio(over, under)) == "1.5 [1.5, 1.5]"
    assert about(ratio(over, under), 1.5).criterion == "1.5 ± 15%"
    assert str(share(over, [over, under])) == "0.6 [0.6, 0.6]"


def test_there_is_no_interval_where_the_denominator_may_be_zero() -> None:
    gain = sample(30.0, 31.0, 32.0) / apart(0.0, 0.0, 3.0)
    assert (gain.low, gain.high) == (None, None)
    assert above(gain, 1.0).holds is None
    # The interval of the first denominator reaches from below zero to 2.2, that of the second begins above.
    assert str(sample(30.0, 31.0, 32.0) / sample(0.5, 1.0, 1.5)) == "+3000 % (no interval)"
    assert (sample(30.0, 31.0, 32.0) / sample(0.6, 1.0, 1.4)).low is not None
    assert math.isnan((sample(1.0, 2.0) / sample(0.0, 0.0)).value)


def test_values_that_are_not_known_are_never_dropped() -> None:
    unknown = sample(1.0, math.nan, 3.0)
    assert (unknown - apart(1.0, 1.0, 1.0)).low is None
    assert above(unknown, 0.0).holds is None
    assert math.isnan(peak([unknown.estimate, sample(1.0, 2.0).estimate]).value)


def test_one_run_decides_nothing() -> None:
    claim = above(sample(100.0), 1.0)
    assert claim.holds is None
    assert judge(claim) == "not reproduced"
    assert "(no interval)" in claim.measured


def test_a_share_needs_the_same_runs() -> None:
    one, two = sample(9.0, 8.5, 9.5), sample(1.0, 1.5, 0.5)
    part = share(two, [one, two])
    assert part.value == pytest.approx(0.1)
    assert below(part, 0.3).holds
    with pytest.raises(ValueError, match="same runs"):
        share(two, [apart(9.0, 8.5, 9.5), two])


def test_batches_keep_what_the_run_measured_as_a_whole() -> None:
    run = Sample((10.0, 14.0), (("a", 0), ("a", 1)), "kbit/s", "batch means", 11.5)
    assert run.mean == run.estimate.value == 11.5
    assert run.interval.method == "batch means"
    assert run.interval.half_width == pytest.approx(12.706 * 2.0, rel=1e-3)


def test_slopes_and_orders() -> None:
    points = [(1.0, sample(1.0, 1.1, 0.9)), (2.0, sample(2.0, 2.1, 1.9)), (3.0, sample(3.0, 3.1, 2.9))]
    assert rises(points).holds
    assert falls(points).holds is False
    assert ordered([("c", points[2][1]), ("b", points[1][1]), ("a", points[0][1])]).holds
    back = ordered([("a", points[0][1]), ("b", points[1][1])])
    assert (back.holds, back.criterion) == (False, "a > b")
    with pytest.raises(ValueError, match="two or more values of x, found 1"):
        slope(points[:1])


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (lambda e: above(e, 1.2), "reproduced"),
        (lambda e: about(e, 1.5, 0.2), "reproduced"),
        (lambda e: about(e, 1.5, 0.01), "not reproduced"),
        (lambda e: about(e, 2.0, 0.01).or_partly(above(e, 1.0)), "partly"),
        (lambda e: above(e, 1.8).or_partly(above(e, 1.7)), "not reproduced"),
        (lambda e: below(e, 1.4), "not reproduced"),
        # Any weaker form counts, whichever was added last.
        (lambda e: about(e, 2.0, 0.01).or_partly(above(e, 1.0)).or_partly(above(e, 1.9)), "partly"),
        (lambda e: about(e, 2.0, 0.01).or_partly(above(e, 1.9), above(e, 1.0)), "partly"),
        # A weaker form never makes a claim's verdict better.
        (lambda e: above(e, 1.2).or_partly(above(e, 9.0)), "reproduced"),
    ],
)
def test_verdicts(claim: Callable[[Estimate], Claim], verdict: str) -> None:
    estimate = sample(29.0, 30.0, 31.0) / sample(20.0, 20.0, 20.0)
    made = claim(estimate)
    assert judge(made) == verdict
    assert (reason(made) is None) == (verdict == "reproduced")


def test_several_claims() -> None:
    yes, no, open_ = above(sample(2.0, 2.0), 1.0), above(sample(0.5, 0.5), 1.0), above(sample(0.0, 2.0), 1.0)
    assert every({"a": yes, "b": yes}).holds is True
    assert every({"a": yes, "b": open_}).holds is None
    assert every({"a": yes, "b": open_, "c": no}).holds is False
    assert most({"a": yes, "b": yes, "c": yes, "d": no}, 0.75).holds is True
    assert most({"a": yes, "b": yes, "c": open_, "d": no}, 0.75).holds is None
    assert most({"a": yes, "b": no, "c": open_, "d": no}, 0.75).holds is False
    assert every({"a": yes, "b": no}).measured == (
        "1 of 2 hold; fails: b (farthest from its bound: b: 0.5 [0.5, 0.5] kbit/s)"
    )
    with pytest.raises(ValueError, match="needs at least one"):
        every({})


def test_three_quarters_are_most_unless_said_otherwise() -> None:
    yes, no = above(sample(2.0, 2.0), 1.0), above(sample(0.5, 0.5), 1.0)
    assert str(most({"a": yes, "b": yes, "c": yes, "d": no})).startswith("at least 3 of 4: above 1: holds: 3 of 4 hold")
    assert most({"a": yes, "b": yes, "c": no, "d": no}).holds is False


def test_bounds_that_differ_are_named_up_to_three() -> None:
    claims = {name: above(sample(9.0, 9.0), bound) for name, bound in (("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0))}
    assert every(claims).criterion == "all of 4: its own bound"
    del claims["d"]
    assert every(claims).criterion == "all of 3: a above 1; b above 2; c above 3"


def test_an_interval_that_ends_at_the_bound_denies_the_claim() -> None:
    at = sample(1.0, 1.0)
    assert [claim.holds for claim in (above(at, 1.0), below(at, 1.0))] == [False, False]
    assert str(above(at, 1.0)) == "above 1: fails: 1 [1, 1] kbit/s"


def test_a_claim_does_not_change() -> None:
    claim = above(sample(2.0, 2.0), 1.0)
    with pytest.raises(FrozenInstanceError):
        claim.holds = False  # type: ignore[misc]


def test_what_does_not_hold_is_named_and_the_worst_of_it_measured() -> None:
    of = {name: sample(value, value) for name, value in {"a": 2.0, "b": 0.9, "c": 0.2, "d": 0.8, "e": 0.5}.items()}
    claims = {**{name: above(each, 1.0) for name, each in of.items()}, "f": above(sample(-1.0, 2.0), 1.0)}
    assert most(claims).measured == (
        "1 of 6 hold; fails: b; c; d; e; undecided: f (farthest from its bound: c: 0.2 [0.2, 0.2] kbit/s)"
    )
    assert most(claims).brief == "1 of 6 hold, weakest c: 0.2 [0.2, 0.2] kbit/s"
    assert every({"x": most(claims)}).brief.endswith("x: 1 of 6 hold, weakest c: 0.2 [0.2, 0.2] kbit/s")
    # Distances are compared as shares of their bounds: 180 is a tenth short, 0.5 a half.
    mixed = {"wide": above(sample(180.0, 180.0), 200.0), "narrow": below(sample(1.5, 1.5), 1.0)}
    assert "farthest from its bound: narrow: 1.5" in every(mixed).measured
    # Zero has no shares: distances from it count as they are.
    mixed = {"zero": above(sample(-0.6, -0.6), 0.0), "one": above(sample(0.5, 0.5), 1.0)}
    assert "farthest from its bound: zero: -0.6" in every(mixed).measured
    # If all hold, the one with the smallest margin.
    claims = {"a": above(of["a"], 1.0), "b": above(of["b"], 0.85)}
    assert every(claims).measured == "2 of 2 hold (closest to its bound: b: 0.9 [0.9, 0.9] kbit/s)"


def test_several_are_asked_what_one_is_asked() -> None:
    of = {"a": sample(2.0, 2.0), "b": sample(0.5, 0.5)}
    assert above(of, 1.0) == {name: above(each, 1.0) for name, each in of.items()}
    assert about(of, 2.0, within=0.1)["a"].holds
    assert [between(of, 0.4, 0.6)[name].holds for name in of] == [False, True]
    assert every(fair({"x": sample(0.995, 0.995)}, 0.99)).criterion == "all of 1: Jain's index above 0.99"


def test_growth_is_a_difference_of_differences() -> None:
    grown = growth([sample(1.0, 2.0), sample(9.0, 9.0), sample(4.0, 6.0)], [sample(1.0, 1.0), sample(2.0, 2.0)])
    assert grown.value == pytest.approx(2.5)
    assert "paired" in grown.method


values = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12)


@given(values, st.floats(-1e6, 1e6))
def test_a_claim_and_its_contrary_never_both_hold(numbers: list[float], bound: float) -> None:
    estimate = sample(*numbers).estimate
    assert not (above(estimate, bound).holds and below(estimate, bound).holds)
    assert above(estimate, bound).holds is not True or estimate.value > bound


@given(values, values)
def test_the_estimate_lies_in_its_interval(one: list[float], other: list[float]) -> None:
    for estimate in (sample(*one) - apart(*other), combine([(0.5, sample(*one)), (2.0, apart(*other))])):
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low <= estimate.value <= estimate.high


@given(st.lists(values, min_size=1, max_size=5))
def test_peak_and_trough_are_wider_than_what_they_are_made_of(many: list[list[float]]) -> None:
    each = [sample(*numbers).estimate for numbers in many]
    top, bottom = peak(each), trough(each)
    assert top.value == max(estimate.value for estimate in each)
    assert top.high is not None
    assert top.high >= max(estimate.high or 0.0 for estimate in each) - 1e-6 or len(each) == 1
    assert bottom.value <= top.value
