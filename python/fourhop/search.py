"""The best rate of paced UDP on a path: the upper bound that TCP is compared with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fourhop._core import BestRate as _Search
from fourhop.errors import FourhopError

if TYPE_CHECKING:
    from fourhop.scenario import Scenario

# How long a look at the search may hold back Ctrl-C.
_POLL_S = 0.1


@dataclass(frozen=True)
class Trial:
    """A rate and what came of it."""

    offered_bps: int
    """Offered payload in bit/s."""
    goodput_bps: float
    """Payload that arrived in bit/s, mean over the seeds."""
    loss: float
    """Share of the offered payload that did not arrive, 0 to 1."""


@dataclass(frozen=True)
class BestRate:
    """What a search found."""

    best: Trial | None
    """The trial with the largest goodput among those within the loss bound; none if there was none."""
    trials: list[Trial]
    """Every trial, in the order made."""

    def to_dict(self) -> dict[str, object]:
        """As one JSON object."""
        return {"best": vars(self.best) if self.best else None, "trials": [vars(trial) for trial in self.trials]}


def best_rate(
    scenario: Scenario,
    *,
    flow: int = 0,
    from_bps: int = 10_000,
    to_bps: int | None = None,
    payload_bytes: int = 1460,
    loss_bound: float = 0.01,
    trials: int = 16,
    runs: int = 3,
) -> BestRate:
    """Turn one flow into paced UDP and search the rate with the largest goodput (golden section).

    Args:
        scenario: The network; its other flows stay what they are.
        flow: Number of the flow, from 0 in the order of the scenario.
        from_bps: Least rate of payload in bit/s.
        to_bps: Largest rate of payload in bit/s; by default the bit rate of the radio.
        payload_bytes: Payload of a datagram in bytes.
        loss_bound: Largest share of the offered payload that may be lost, 0 to 1; 1 looks at goodput alone.
        trials: Rates to try; each narrows the interval to 0.618 of what it was.
        runs: Seeds each rate is measured with, from the scenario's own on.

    Raises:
        FourhopError: if an argument cannot be used.
        KeyboardInterrupt: after Ctrl-C; a search that has not ended has no result to keep.

    >>> import fourhop
    >>> chain = fourhop.Scenario.chain(hops=1, transport="newreno", duration="10s")
    >>> found = fourhop.best_rate(chain, trials=8, runs=1)
    >>> found.best is not None and 1.0e6 < found.best.goodput_bps < 1.6e6
    True
    """
    resolved = scenario.resolved
    if to_bps is None:
        to_bps = _bits_per_second(resolved["radio"]["rate"])
    for name, value, low in (("from_bps", from_bps, 1), ("payload_bytes", payload_bytes, 1), ("runs", runs, 1)):
        if value < low:
            raise FourhopError(f"{name}: found {value}, allowed: {low} or more")
    if to_bps <= from_bps:
        raise FourhopError(f"to_bps: found {to_bps}, allowed: above from_bps, which is {from_bps}")
    if not 0 <= loss_bound <= 1:
        raise FourhopError(f"loss_bound: found {loss_bound}, allowed: 0 to 1")
    if trials < 2:
        raise FourhopError(f"trials: found {trials}, allowed: 2 or more")
    first = int(resolved["seed"])
    seeds = range(first, first + runs)
    search = _Search(scenario.resolved_json, flow, payload_bytes, from_bps, to_bps, loss_bound, trials, list(seeds))
    try:
        while (answer := search.poll(_POLL_S)) is None:
            pass
    except KeyboardInterrupt:
        search.stop()
        raise
    except ValueError as error:
        raise FourhopError(f"flow: {error}") from None
    found = json.loads(answer)
    best = Trial(**found["best"]) if found["best"] else None
    return BestRate(best, [Trial(**trial) for trial in found["trials"]])


def _bits_per_second(rate: str) -> int:
    """A rate as the resolved scenario writes it."""
    for unit, factor in (("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)):
        if rate.endswith(unit):
            return round(float(rate.removesuffix(unit)) * factor)
    raise FourhopError(f"radio.rate: found {rate!r}, allowed: a rate with its unit")
