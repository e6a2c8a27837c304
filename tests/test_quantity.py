"""Quantities: the same grammar as in scenarios, whichever code reads them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from fourhop import FourhopError, Scenario, quantity


@pytest.mark.parametrize(
    ("text", "kind", "number", "unit", "value"),
    [
        ("40ms", "a time", "40", "ms", 4e7),
        (" 5 min ", "a time", "5", "min", 3e11),
        ("5.5 Mbps", "a rate", "5.5", "Mbps", 5.5e6),
        ("1.2km", "a length", "1.2", "km", 1200.0),
        ("3.652e-10W", "a power", "3.652e-10", "W", 3.652e-10),
        ("36km/h", "a speed", "36", "km/h", 10.0),
        ("70%", "a share", "70", "%", 70.0),
        ("-3", "a number", "-3", "", -3.0),
    ],
)
def test_a_quantity_is_taken_apart(text: str, kind: str, number: str, unit: str, value: float) -> None:
    assert quantity.parse(text) == (kind, Decimal(number), unit, value)


@pytest.mark.parametrize("text", ["", "ms", "2 furlongs", "2mbps", "nan", "1e999s", "2Mbps 3"])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a number with a unit"):
        quantity.parse(text)


def test_a_scenario_and_python_read_the_same() -> None:
    for text in ("100s", "1500 ms", "2min", "1.5e3ms"):
        assert Scenario.chain(hops=1, duration=text).duration_s == quantity.seconds(text)
    with pytest.raises(ValueError, match="'2Mbps' is a rate, not a time"):
        quantity.seconds("2Mbps")


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), ("2.5 %", 0.025), ("0.1", 0.1), (0.05, 0.05)])
def test_precision(text: str | float, share: float) -> None:
    assert quantity.precision(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["0", "100%", "5", "-5%", "5ms", "five", "", "nan", 1.0, float("nan")])
def test_precision_refused(text: str | float) -> None:
    with pytest.raises(FourhopError, match="precision: found"):
        quantity.precision(text)
