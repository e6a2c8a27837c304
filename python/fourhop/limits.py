"""Upper limits of arguments: larger numbers are typing errors."""

from __future__ import annotations

from fourhop.errors import FourhopError

MIN_RUNS = 3
"""Minimum number of runs before the stop rule applies: the interval of two runs is wide, but can be tiny by luck."""

MAX_RUNS = 100
"""Runs after which the stop rule gives up by default."""

RUNS_LIMIT = 1_000_000
"""Maximum number of runs of a scenario."""

JOBS_LIMIT = 1024
"""Maximum number of runs at a time."""

POINTS_LIMIT = 1_000_000
"""Maximum number of points of a sweep."""

MAX_SEED = 2**53
"""Upper bound of seeds, so that JSON parsers of every language read them exactly."""


def within(name: str, value: int, least: int, most: int) -> int:
    """Return `value` as an int if it is whole (of Python, of numpy, or `4.0`) and in range, or raise `FourhopError`."""
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        whole = None
    if whole is None or whole != value or not least <= whole <= most:
        raise FourhopError(f"{name}: found {value}, allowed: {least} to {most}")
    return whole
