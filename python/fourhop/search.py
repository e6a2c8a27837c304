"""The best rate of paced UDP on a path: the upper bound that TCP is compared with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fourhop._core import Run
from fourhop.errors import FourhopError
from fourhop.limits import within
from fourhop.quantity import bits_per_second
from fourhop.runner import measure
from fourhop.scenario import Scenario
from fourhop.sweeps.describe import Sweep

# A scenario's limits for `rate` in bit/s and `payload` in bytes.
_RATE_LIMIT = 10_000_000_000
_PAYLOAD_LIMIT = 65_000


@dataclass(frozen=True)
class Trial:
    """A rate and its outcome."""

    offered_bps: int
    """Offered payload in bit/s."""
    goodput_bps: float
    """Delivered payload in bit/s, mean over the seeds."""
    loss: float
    """Share of the offered payload that did not arrive, 0 to 1."""


@dataclass(frozen=True)
class BestRate:
    """Result of a search."""

    best: Trial | None
    """The trial with the largest goodput among those within the loss bound; `None` without any."""
    trials: list[Trial]
    """All trials in the order of the search."""

    def to_dict(self) -> dict[str, object]:
        """As one JSON object: rates in bit/s, losses as shares."""
        return {"best": vars(self.best) if self.best else None, "trials": [vars(trial) for trial in self.trials]}


def best_rate(
    scenario: Scenario | str | Path,
    *,
    flow: int = 0,
    from_bps: int = 10_000,
    to_bps: int | None = None,
    payload_bytes: int = 1460,
    loss_bound: float = 0.01,
    trials: int = 16,
    runs: int = 3,
) -> BestRate:
    """Turn one flow into paced UDP and search for the rate with the largest goodput (golden section).

    Args:
        scenario: The network, or the name of its file; its other flows stay as they are.
        flow: Number of the flow, from 0 in the order of the scenario.
        from_bps: Lowest payload rate in bit/s.
        to_bps: Highest payload rate in bit/s; by default the bit rate of the radio.
        payload_bytes: Payload of a datagram in bytes.
        loss_bound: Largest share of the offered payload that may be lost, 0 to 1; with 1, goodput alone decides.
        trials: Number of rates to try; each narrows the interval to 0.618 of its width.
        runs: Number of seeds per rate, beginning with the scenario's own.

    Returns:
        The rates tried, in the order of the search, and the best of those that lose no more than `loss_bound`, or
        `None` if all lose more. Rates and goodputs are in bit/s, losses are shares from 0 to 1.

    Raises:
        FourhopError: An argument cannot be used.
        KeyboardInterrupt: Ctrl-C; an unfinished search has no result to keep.

    >>> import fourhop
    >>> chain = fourhop.Scenario.chain(hops=1, transport="newreno", duration="10s")
    >>> found = fourhop.best_rate(chain, trials=8, runs=1)
    >>> found.best is not None and 1.0e6 < found.best.goodput_bps < 1.6e6
    True
    """
    scenario = Scenario.of(scenario)
    scenario.require_flows()
    resolved = scenario.resolved
    hosts = set(resolved.get("wired", {}).get("nodes", []))
    ends = {each["name"]: {each["from"], each["to"]} for each in resolved.get("flows", [])}
    if to_bps is None:
        to_bps = bits_per_second(resolved["radio"]["rate"])
    within("from_bps", from_bps, 1, _RATE_LIMIT)
    within("payload_bytes", payload_bytes, 1, _PAYLOAD_LIMIT)
    if not from_bps < to_bps <= _RATE_LIMIT:
        raise FourhopError(f"to_bps: found {to_bps}, allowed: above from_bps, which is {from_bps}, to {_RATE_LIMIT}")
    if not 0 <= loss_bound <= 1:
        raise FourhopError(f"loss_bound: found {loss_bound}, allowed: 0 to 1")
    if trials < 2:
        raise FourhopError(f"trials: found {trials}, allowed: 2 or more")
    if not 0 <= flow < scenario.flow_count:
        raise FourhopError(f"flow: there is no flow {flow}: the scenario has {scenario.flow_count}")
    sweep = Sweep(scenario.with_(sample_every="none"), runs=runs, source="")

    def trial(offered_bps: float) -> Trial:
        paced = (flow, round(offered_bps), payload_bytes)
        result = measure(sweep, lambda task, _: Run(task.scenario_json, task.seed, paced_udp=paced))
        flows = [run["flows"][flow] for run in result.runs]
        if ends.get(flows[0]["name"], {None}) <= hosts:
            raise FourhopError(f"flow: flow {flow} runs between two wired hosts: choose one with an end in the mesh")
        active_s = math.fsum(each["active_s"] for each in flows)
        if active_s == 0.0:
            raise FourhopError(
                f"flow: found {flow}, which sends nothing in the measured time, allowed: a flow that starts before the "
                "end of the run and does not stop before its warm-up does"
            )
        goodput_bps = 8.0 * sum(each["delivered_bytes"] for each in flows) / active_s
        return Trial(paced[1], goodput_bps, max(0.0, 1.0 - goodput_bps / paced[1]))

    return _maximise(from_bps, to_bps, loss_bound, trials, trial)


_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def _maximise(low: float, high: float, loss_bound: float, trials: int, measured: Callable[[float], Trial]) -> BestRate:
    """Search for the largest goodput between two rates (golden section, Kiefer 1953).

    Goodput rises along the diagonal up to the capacity of the path and falls beyond it, where frames collide. A rate
    that loses more than the bound ranks below all that do not, and lower the more it loses, which keeps the curve
    single-peaked. Two rates that differ by less than the spread over seeds may rank in either order.
    """

    def value(trial: Trial) -> float:
        return trial.goodput_bps if trial.loss <= loss_bound else -trial.loss

    left, right = measured(high - _GOLDEN * (high - low)), measured(low + _GOLDEN * (high - low))
    made = [left, right]
    while len(made) < trials:
        if value(left) < value(right):
            low, left = left.offered_bps, right
            right = measured(low + _GOLDEN * (high - low))
            made.append(right)
        else:
            high, right = right.offered_bps, left
            left = measured(high - _GOLDEN * (high - low))
            made.append(left)
    best = max(made, key=value)
    return BestRate(best if best.loss <= loss_bound else None, made)
