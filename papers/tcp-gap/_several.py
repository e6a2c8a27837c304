"""Comparisons for studies with several flows: goodput and fairness of one variant with those of another."""

from __future__ import annotations

from fourhop.study import Cells, Claim, Data, Estimate, Study, above, below, every, fair


def gain(cells: Cells, over: str = "newreno", name: str = "gap-gc") -> Estimate:
    """Ratio of total goodput to that of another variant."""
    return cells.goodput(variant=name) / cells.goodput(variant=over)


def fairer(cells: Cells, than: str = "newreno", name: str = "gap-gc") -> Estimate:
    """Difference between Jain's index and that of another variant."""
    return cells.fairness(variant=name) - cells.fairness(variant=than)


ROUTES_HOLD = (
    "links are seldom taken for broken: NewReno carries at least nine tenths of what it does over static routes"
)


def causes_of_routes(study: Study) -> None:
    """Register causes due to routes, for a study with sweeps `up`, `down`, `mixed`, and each with `still_`."""

    @study.cause("over routes that never break TCP-GAP shares evenly: its index is above 0.99 upwards and downwards")
    def even_when_still(data: Data) -> Claim:
        return every(fair({way: data[f"still_{way}"].fairness(variant="gap-gc") for way in ("up", "down")}, 0.99))

    @study.cause("over routes that never break goodput control makes the directions equal: an index above 0.99")
    def equal_when_still(data: Data) -> Claim:
        return fair(data.still_mixed.fairness(variant="gap-gc"), 0.99)

    @study.cause(
        "over routes that never break TCP-GAP carries less than NewReno upwards: what it gains, NewReno loses with its "
        "routes"
    )
    def gain_is_routes(data: Data) -> Claim:
        return below(gain(data.still_up), 1.0)

    @study.cause(ROUTES_HOLD)
    def routes_hold(data: Data) -> Claim:
        def kept(way: str) -> Estimate:
            return data[way].goodput(variant="newreno") / data[f"still_{way}"].goodput(variant="newreno")

        return every(above({way: kept(way) for way in ("up", "down")}, 0.9))
