"""How much may be asked for: numbers beyond these are slips of the hand."""

from __future__ import annotations

from fourhop.errors import FourhopError

MIN_RUNS = 3
"""Fewest runs before the stop rule may end: the interval of two runs is wide, but by luck it can be tiny."""

MAX_RUNS = 100
"""Runs after which the stop rule gives up by default."""

RUNS_LIMIT = 1_000_000
"""Most runs of a scenario."""

JOBS_LIMIT = 1024
"""Most runs at a time."""

POINTS_LIMIT = 1_000_000
"""Most points of a sweep."""

MAX_SEED = 2**53
"""Seeds stay below this, so that JSON readers of every language keep them exact."""


def within(name: str, value: int, least: int, most: int) -> int:
    """`value` if it is a whole number in range, be it of Python, of numpy, or `4.0`. Raises `FourhopError` if not."""
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        whole = None
    if whole is None or whole != value or not least <= whole <= most:
        raise FourhopError(f"{name}: found {value}, allowed: {least} to {most}")
    return whole
