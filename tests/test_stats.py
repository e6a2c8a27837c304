"""Statistics compared with values worked out by hand and with the limits of their definitions."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from fourhop import stats

RATES = st.lists(st.floats(min_value=0.0, max_value=1e12), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("degrees", "quantile"), [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042), (1000, 1.962)]
)
def test_quantiles_are_those_of_the_printed_tables(degrees: int, quantile: float) -> None:
    assert stats.student_quantile(degrees) == pytest.approx(quantile, abs=6e-4)


@pytest.mark.parametrize("degrees", range(1, 121))
def test_quantiles_that_are_stored_are_those_that_scipy_computes(degrees: int) -> None:
    computed = float(stdtrit(degrees, 0.975))
    assert stats.student_quantile(degrees) == pytest.approx(computed, rel=1e-14)


def test_quantile_at_another_confidence() -> None:
    assert stats.student_quantile(9, 0.99) == pytest.approx(3.250, abs=6e-4)


def test_quantile_refuses_what_has_no_meaning() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        stats.student_quantile(0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        stats.student_quantile(3, 1.0)


def test_interval_by_hand() -> None:
    # Mean 12, sample variance (4 + 0 + 4) / 2 = 4, standard error sqrt(4 / 3), t(2) = 4.30265.
    interval = stats.student_interval([10.0, 12.0, 14.0])
    assert interval.mean == 12.0
    assert interval.half_width == pytest.approx(4.30265 * math.sqrt(4.0 / 3.0), rel=1e-5)
    assert interval.low == pytest.approx(7.032, abs=1e-3)
    assert interval.high == pytest.approx(16.968, abs=1e-3)
    assert interval.relative == pytest.approx(0.41402, abs=1e-4)
    assert (interval.n, interval.method) == (3, "replications")


def test_one_value_has_a_mean_and_no_width() -> None:
    interval = stats.student_interval([3.0])
    assert (interval.mean, interval.half_width, interval.low, interval.relative) == (3.0, None, None, None)
    assert interval.method == "none"


def test_no_values_are_not_zero() -> None:
    interval = stats.student_interval([])
    assert math.isnan(interval.mean)
    assert interval.half_width is None


def test_a_nan_is_not_dropped() -> None:
    interval = stats.student_interval([1.0, math.nan, 3.0])
    assert math.isnan(interval.mean)
    assert interval.half_width is None


def test_all_zero_is_known_exactly() -> None:
    interval = stats.student_interval([0.0, 0.0, 0.0])
    assert (interval.mean, interval.half_width, interval.relative) == (0.0, 0.0, 0.0)


def test_a_width_around_zero_is_infinitely_imprecise() -> None:
    assert stats.student_interval([-1.0, 1.0]).relative == math.inf


def test_batch_means_with_and_without_the_first() -> None:
    dropped = stats.batch_means([0.0, 5.0, 7.0], drop_first=True)
    kept = stats.batch_means([0.0, 5.0, 7.0])
    assert (dropped.mean, dropped.n, dropped.method) == (6.0, 2, "batch means")
    assert (kept.mean, kept.n) == (4.0, 3)
    # Mean 6, sample variance 2, t(1) = 12.7062: 12.7062 * sqrt(2 / 2).
    assert dropped.half_width == pytest.approx(12.7062, rel=1e-5)


def test_batch_means_of_a_single_batch() -> None:
    assert math.isnan(stats.batch_means([4.0], drop_first=True).mean)
    assert stats.batch_means([4.0, 5.0], drop_first=True).half_width is None


def test_overlap() -> None:
    one = stats.Interval(10.0, 1.0, 5, "replications")
    assert one.overlaps(stats.Interval(11.5, 0.5, 5, "replications"))
    assert not one.overlaps(stats.Interval(11.6, 0.5, 5, "replications"))
    assert one.overlaps(stats.Interval(10.9, None, 1, "none"))


@pytest.mark.parametrize(
    ("rates", "index"),
    [
        ([5.0], 1.0),
        ([5.0, 5.0, 5.0], 1.0),
        ([9.0, 0.0, 0.0], 1.0 / 3.0),
        # (1 + 3)^2 / (2 * (1 + 9)) = 0.8
        ([1.0, 3.0], 0.8),
        ([1e-200, 1e-200], 1.0),
        ([1e200, 1e200], 1.0),
    ],
)
def test_jain_by_hand(rates: list[float], index: float) -> None:
    assert stats.jain(rates) == pytest.approx(index)


@pytest.mark.parametrize("rates", [[], [0.0, 0.0], [1.0, math.nan], [1.0, math.inf]])
def test_jain_without_an_answer(rates: list[float]) -> None:
    assert stats.jain(rates) is None


@given(RATES)
def test_jain_stays_between_one_over_n_and_one(rates: list[float]) -> None:
    index = stats.jain(rates)
    if index is not None:
        assert 1.0 / len(rates) - 1e-9 <= index <= 1.0 + 1e-9


@given(RATES, st.floats(min_value=-1e6, max_value=1e6))
def test_an_interval_moves_with_its_values(rates: list[float], shift: float) -> None:
    here = stats.student_interval(rates)
    there = stats.student_interval([rate + shift for rate in rates])
    scale = max(rates) + abs(shift) + 1.0
    assert there.mean == pytest.approx(here.mean + shift, abs=1e-9 * scale)
    if here.half_width is not None and there.half_width is not None:
        assert there.half_width == pytest.approx(here.half_width, abs=1e-7 * scale)


def test_an_interval_in_a_notebook_has_the_digits_that_it_supports() -> None:
    def shown(half_width: float | None, n: int) -> str:
        return stats.Interval(1.23456789, half_width, n, "replications")._repr_html_()

    assert "no interval: 1 value)" in shown(None, 1)
    assert "no interval: 2 values)" in shown(None, 2)
    assert "1.235" in shown(0.0, 5)
    assert "1.2346" not in shown(0.0, 5)
    assert "1.23" in shown(0.1, 5)
    assert "1.235" not in shown(0.1, 5)


def test_an_interval_does_not_change() -> None:
    interval = stats.Interval(1.0, 0.5, 2, "replications")
    with pytest.raises(FrozenInstanceError):
        interval.mean = 2.0  # type: ignore[misc]
