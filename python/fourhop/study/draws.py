"""Draws: points of a sweep that differ only in one key, such as the seed of a random network.

A sweep runs each of them once. A study looks at some of the draws first, as it looks at some runs of other sweeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fourhop.errors import FourhopError

if TYPE_CHECKING:
    from fourhop.sweeps.describe import Sweep


class Draws:
    """The draws of a sweep."""

    def __init__(self, sweep: Sweep, key: str) -> None:
        """`key` is the full name of a key of `over`; each point runs once. Raises `FourhopError` otherwise."""
        if key not in sweep.over:
            raise FourhopError(f"draws: found {key!r}, allowed: a key of over: {', '.join(sweep.over) or 'none'}")
        if sweep.wanted > 1:
            raise FourhopError(f"draws: found {sweep.wanted} runs of each draw, allowed: one")
        self.of = [point.parameters[key] for point in sweep.points]
        """The draw that each point is."""
        self.first: list[int] = []
        """For each point, the first draw of the same settings: it stands for all of them."""
        self.place: list[int] = []
        """For each point, its place among the draws of the same settings, from 0."""
        groups: dict[tuple[object, ...], list[int]] = {}
        for point in sweep.points:
            group = groups.setdefault(tuple(value for name, value in point.parameters.items() if name != key), [])
            self.place.append(len(group))
            group.append(point.index)
            self.first.append(group[0])
        self.count = max(map(len, groups.values()))
        """Number of draws."""
