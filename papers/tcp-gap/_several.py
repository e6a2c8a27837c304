"""Comparisons for studies with several flows: goodput and fairness of one variant with those of another."""

from __future__ import annotations

from fourhop.study import Cells, Estimate


def gain(cells: Cells, over: str = "newreno", name: str = "gap-gc") -> Estimate:
    """Ratio of total goodput to that of another variant."""
    return cells.goodput(variant=name) / cells.goodput(variant=over)


def fairer(cells: Cells, than: str = "newreno", name: str = "gap-gc") -> Estimate:
    """Difference of Jain's index to that of another variant."""
    return cells.fairness(variant=name) - cells.fairness(variant=than)
