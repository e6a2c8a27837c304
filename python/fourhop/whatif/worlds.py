"""Several networks that fit one file.

If all messages over a link arrive, a file says only that the link is good; its distance gives an estimate of how good,
with an error. The path loss is fitted to the links with more measurements if there are enough; otherwise the default
applies. Each run then has a different network, the same for every change.
"""

from __future__ import annotations

import math
import random
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fourhop.community.links import LEAST_FULL_SNR_DB, MOST_SNR_DB
from fourhop.picture import Network
from fourhop.scenario import Scenario
from fourhop.stats import student_quantile

ENOUGH = 20
"""Minimum number of links for fitting a law."""

APART = 4.0
"""Minimum ratio of the longest to the shortest of these links: otherwise any exponent would fit."""

FREE_SPACE = 2.0
"""Minimum exponent over many links: no place has a smaller one."""

USUAL_EXPONENT = (2.7, 3.5)
"""Rappaport, Wireless Communications, table 4.2: radio in cities."""

USUAL_SPREAD_DB = 7.0
"""The same, section 4.9 and table 4.6: from 5.7 to 11.8 dB inside buildings, about as much in streets."""

_VAGUE = re.compile(r"links? on which \d+% and more arrive|links? without a quality")
"""The notes that `fourhop import` writes about links of unknown quality."""


@dataclass(frozen=True)
class Law:
    """Path loss over distance."""

    exponent: float
    low: float
    """Lower end of the 95 % interval; `high` is the upper end."""
    high: float
    spread_db: float
    """Standard deviation of links from the law."""
    links: int
    """Number of links it was fitted to; 0 for the default."""
    refused: float | None = None
    """A fitted exponent that was rejected as impossible."""


@dataclass(frozen=True)
class Worlds:
    """The networks that fit a file."""

    given: Scenario
    vague: tuple[int, ...]
    """Indices of the entries of `[[losses]]` that only say that there is a link."""
    metres: tuple[float, ...]
    """The length of each of these."""
    law: Law

    @property
    def several(self) -> bool:
        """Whether there is more than one."""
        return bool(self.vague)

    def keys(self, seed: int) -> dict[str, Any]:
        """Keys of the scenario that differ in the network with this seed."""
        if not self.vague:
            return {}
        losses, radio = self.given.resolved["losses"], self.given.resolved["radio"]
        draw = random.Random(seed)
        # The interval is twice the standard error to either side; the usual range is treated like an interval.
        exponent = draw.gauss(self.law.exponent, (self.law.high - self.law.low) / 4.0)
        exponent = min(max(exponent, 2.0), 6.0)
        drawn: dict[frozenset[int], float] = {}
        keys: dict[str, Any] = {"radio.exponent": round(exponent, 2)}
        for index, metres in zip(self.vague, self.metres, strict=True):
            loss = losses[index]
            more = drawn.setdefault(frozenset((loss["from"], loss["to"])), draw.gauss(0.0, self.law.spread_db))
            # The law is fixed at its known value for one metre.
            steeper = 10.0 * (exponent - float(radio["exponent"])) * math.log10(max(metres, 1.0))
            snr = float(str(loss["snr"]).removesuffix("dB")) - steeper + more
            keys[f"losses[{index}].snr"] = f"{min(max(snr, LEAST_FULL_SNR_DB), MOST_SNR_DB):.1f}dB"
        return keys


def fitting(given: Scenario, network: Network, notes: Sequence[str]) -> Worlds:
    """The networks that fit a scenario and the notes in its file."""
    losses = given.resolved.get("losses", [])
    is_vague = any(_VAGUE.search(note) for note in notes)
    vague = tuple(i for i, loss in enumerate(losses) if "snr" in loss) if is_vague else ()
    rest = [loss for i, loss in enumerate(losses) if i not in vague]
    return Worlds(given, vague, tuple(_metres(network, losses[i]) for i in vague), law(network, rest))


def law(network: Network, losses: Sequence[dict[str, Any]]) -> Law:
    """A least-squares fit over the links with a measured quality; the default if there are too few."""
    low, high = USUAL_EXPONENT
    usual = Law((low + high) / 2.0, low, high, USUAL_SPREAD_DB, 0)
    ends = {(loss["from"], loss["to"]) for loss in losses}
    ends |= {(b, a) for loss in losses if loss.get("both_ways", True) for a, b in [(loss["from"], loss["to"])]}
    points = [
        (10.0 * math.log10(metres), margin_db)
        for (a, b), margin_db in network.links.items()
        if (a, b) in ends and (metres := math.dist(network.places[a], network.places[b])) > 1.0
    ]
    if len(points) < ENOUGH or max(x for x, _ in points) - min(x for x, _ in points) < 10.0 * math.log10(APART):
        return usual
    slope, start = statistics.linear_regression(*zip(*points, strict=True))
    rest = [y - start - slope * x for x, y in points]
    spread = math.sqrt(math.fsum(e * e for e in rest) / (len(points) - 2))
    middle = statistics.fmean(x for x, _ in points)
    error = spread / math.sqrt(math.fsum((x - middle) ** 2 for x, _ in points))
    half = student_quantile(len(points) - 2) * error
    if half - slope < FREE_SPACE:
        # Delivery ratios have other causes, or positions are inaccurate.
        return replace(usual, refused=-slope)
    return Law(-slope, -slope - half, -slope + half, spread, len(points))


def _metres(network: Network, loss: dict[str, Any]) -> float:
    return math.dist(network.places[loss["from"]], network.places[loss["to"]])


def others(given: Scenario) -> list[tuple[str, dict[str, Any]]]:
    """Alternative radios and traffic, as keys of the scenario."""
    resolved = given.resolved
    radio, flows = resolved["radio"], resolved.get("flows", [])
    found: list[tuple[str, dict[str, Any]]] = []
    if "streams" in radio:
        streams = 1 if radio["streams"] > 1 else 2
        label = "radios with one stream" if streams == 1 else "radios with two streams"
        found.append((label, {"radio.streams": streams}))
    elif radio["phy"] == "erp-ofdm":
        keys = {"phy": "ht-2.4ghz", "mcs": 7, "streams": 2, "width": "20MHz", "guard_interval": "400ns"}
        keys |= {"rate": "144.444444Mbps"}
        rest = {"mac.rate_control": "minstrel", "mac.rts_threshold": "64kB", "link.queue": "fq-codel"}
        found.append(("radios of 802.11n", {**{f"radio.{key}": value for key, value in keys.items()}, **rest}))
    if flows and all(flow["app"] == "bulk" for flow in flows):
        web: dict[str, Any] = {}
        for i in range(len(flows)):
            web |= {f"flows[{i}].app": "files", f"flows[{i}].mean_size": "500kB", f"flows[{i}].mean_pause": "5s",
                    f"flows[{i}].connection": "fresh"}  # fmt: skip
        found.append(("files of 500 kB with pauses in place of endless transfers", web))
        turned = {
            f"flows[{i}].{a}": flow[b] for i, flow in enumerate(flows) for a, b in (("from", "to"), ("to", "from"))
        }
        found.append(("transfers the other way", turned))
    return found
