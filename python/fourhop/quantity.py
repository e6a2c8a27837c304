"""Numbers with units, parsed as in scenarios: `"2Mbps"`, `"200 m"`, `"40ms"`, `"5%"`, `"0.5"`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from fourhop import _core
from fourhop.errors import FourhopError

if TYPE_CHECKING:
    from decimal import Decimal


class Quantity(NamedTuple):
    """A parsed quantity."""

    kind: str
    """The quantity with its article: `"a time"`, or `"a number"` without a unit."""
    number: Decimal
    """The number as written."""
    unit: str
    """The unit as written."""
    value: float
    """The value in the base unit of its kind: ns, bit/s, m, B, W, dB, Hz, m/s, per cent."""


def parse(text: str) -> Quantity:
    """Parse a quantity of any kind. Raises `ValueError` for anything else.

    >>> parse("1.5 km")
    Quantity(kind='a length', number=Decimal('1.5'), unit='km', value=1500.0)
    """
    from decimal import Decimal

    kind, number, unit, value = _core.quantity(text)
    return Quantity(kind, Decimal(number), unit, value)


def seconds(time: str) -> float:
    """A time in seconds. Raises `ValueError` for anything else.

    >>> seconds("40ms")
    0.04
    """
    return _of("a time", time) / 1e9


def metres(length: str) -> float:
    """A length in metres. Raises `ValueError` for anything else.

    >>> metres("1.2km")
    1200.0
    """
    return _of("a length", length)


def bits_per_second(rate: str) -> int:
    """A rate in bit/s. Raises `ValueError` for anything else.

    >>> bits_per_second("5.5Mbps")
    5500000
    """
    return int(_of("a rate", rate))


def precision(share: str | float) -> float:
    """A relative precision: `"5%"`, `"0.05"` or `0.05` all mean 0.05.

    Raises `FourhopError` unless the share is strictly between 0 and 1.

    >>> precision("5%")
    0.05
    """
    try:
        kind, _, _, read = _core.quantity(share) if isinstance(share, str) else ("a number", "", "", share)
        value = {"a share": read / 100.0, "a number": read}.get(kind, math.nan)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1.0:
        raise FourhopError(f'precision: found {share!r}, allowed: a share between 0 % and 100 %, such as "5%" or 0.05')
    return value


def _of(kind: str, text: str) -> float:
    found, _, _, value = _core.quantity(text)
    if found != kind:
        raise ValueError(f"{text!r} is {found}, not {kind}")
    return value
