"""Measured links as keys of a scenario, and estimates by distance for the others."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fourhop import quantity
from fourhop.community.network import Link, Network, Note, Quality
from fourhop.text import count

FULL = 0.98
"""From this share of frames on, a measurement says only that the link is good, not how good."""

FULL_SNR_DB = 20.0
"""SNR of such a link if no distance is known: 802.11g gets through at 24 Mbit/s, but not at 54 (docs/radio.md)."""

LEAST_FULL_SNR_DB = 12.0
"""Minimum SNR of such a link at any distance: about what small frames need at 6 Mbit/s to reach FULL despite fading."""

UNKNOWN_SNR_DB = 12.0
"""SNR assumed for a link that is only known to exist."""

MOST_SNR_DB = 45.0
"""A higher SNR helps no rate of 802.11."""

CARRIED = 0.55
"""Share of a link's reported bit rate that it carries before overhead, fitted to one mesh (`papers/meshes`). We think
that reported rates are those of frames that arrive, at moments when the signal is strong."""

FULL_RATE = 0.95
"""From this share of the highest rate on, a rate says only that the link is good, not how good."""

_LIGHT = 299_792_458.0
_UNEVEN = 0.2


@dataclass(frozen=True)
class Budget:
    """Path loss over a distance by the keys of `[radio]`: free space for one metre, then `exponent`."""

    tx_dbm: float
    noise_dbm: float
    at_one_metre_db: float
    exponent: float

    @classmethod
    def of(cls, radio: Mapping[str, Any]) -> Budget:
        """From a resolved `[radio]` whose model is `sinr` and whose path loss is `log-distance`."""
        hertz = quantity.parse(radio["frequency"]).value
        watts = quantity.parse(radio["tx_power"]).value
        figure_db = quantity.parse(radio["noise_figure"]).value
        width = quantity.parse(radio["width"]).value if "width" in radio else 20e6
        # k T B F at 290 K, as in the simulator.
        noise_dbm = 10.0 * math.log10(1.380649e-23 * 290.0 * width * 1e3) + figure_db
        at_one_metre = 20.0 * math.log10(4.0 * math.pi * hertz / _LIGHT)
        return cls(10.0 * math.log10(watts * 1e3), noise_dbm, at_one_metre, float(radio["exponent"]))

    def snr_db(self, metres: float, gains_db: float = 0.0) -> float:
        """SNR at a distance, in dB."""
        lost = self.at_one_metre_db + 10.0 * self.exponent * math.log10(max(metres, 1.0))
        return self.tx_dbm + gains_db - lost - self.noise_dbm


def entries(
    network: Network, budget: Budget, top_mbps: float = math.inf, carried: float = CARRIED
) -> tuple[list[dict[str, Any]], list[Note]]:
    """`[[losses]]` of all radio links, and the assumptions made; `top_mbps` is the radio's highest rate."""
    instead = _paths(network)
    numbers = {id_: number for number, id_ in enumerate(network.nodes)}
    said: dict[str, list[str]] = {"full": [], "unknown": [], "one way": [], "instead": [], "uneven": []}
    made: list[dict[str, Any]] = []
    for link in network.links:
        name = "-".join(network.named((link.source, link.target)))
        far = _by_distance(network, link, budget)
        there, back = link.there, link.back
        if there is None and back is None:
            said["unknown"].append(name)
            value: dict[str, Any] = {"snr": f"{_bounded(UNKNOWN_SNR_DB if far is None else far):.1f}dB"}
            made.append({"from": numbers[link.source], "to": numbers[link.target], **value})
            continue
        if there is None or back is None:
            known = there if back is None else back
            assert known is not None
            ends = (link.source, link.target) if there is None else (link.target, link.source)
            other = instead(*ends, link)
            said["one way" if other is None else "instead"].append(name)
            other = known if other is None else _worse(link.quality, known, other)
            there, back = (other, known) if there is None else (known, other)
        assert there is not None
        assert back is not None
        if link.quality == "etx":
            there = back = (there + back) / 2.0
        if link.quality == "tq" and abs(there - back) > _UNEVEN:
            said["uneven"].append(name)
        ways = [(link.source, link.target, there), (link.target, link.source, back)]
        keys = [_keys(link, value, far, top_mbps, carried) for _, _, value in ways]
        if any(full for _, full in keys):
            said["full"].append(name)
        if keys[0][0] == keys[1][0]:
            made.append({"from": numbers[link.source], "to": numbers[link.target], **keys[0][0]})
        else:
            made += [
                {"from": numbers[a], "to": numbers[b], **key, "both_ways": False}
                for (a, b, _), (key, _) in zip(ways, keys, strict=True)
            ]
    return made, _notes(said, network, carried)


def _worse(quality: Quality, one: float, other: float) -> float:
    return max(one, other) if quality in ("etx", "loss") else min(one, other)


def _paths(network: Network) -> Callable[[str, str, Link], float | None]:
    """The quality of the best path between two nodes without their direct link.

    An unmeasured direction is no better than that. Inverses of shares and rates add up, as hops share the air.
    """
    costs: dict[str, dict[str, float]] = {}
    for link in network.links:
        for a, b, value in ((link.source, link.target, link.there), (link.target, link.source, link.back)):
            if value and link.quality in ("tq", "etx", "rate"):
                costs.setdefault(a, {})[b] = value if link.quality == "etx" else 1.0 / value

    def best(a: str, b: str, but: Link) -> float | None:
        if but.quality not in ("tq", "etx", "rate"):
            return None
        known, front = {a: 0.0}, [(0.0, a)]
        while front:
            cost, at = heapq.heappop(front)
            if at == b:
                return cost if but.quality == "etx" else 1.0 / cost
            for to, more in costs.get(at, {}).items():
                if {at, to} != but.ends and cost + more < known.get(to, math.inf):
                    known[to] = cost + more
                    heapq.heappush(front, (cost + more, to))
        return None

    return best


def _keys(link: Link, value: float, far: float | None, top_mbps: float, carried: float) -> tuple[dict[str, Any], bool]:
    """The keys of one direction, and whether its quality was the best measurable."""
    if link.quality == "rate":
        return {"rate": f"{max(carried * min(value, top_mbps), 0.01):.2f}Mbps"}, value >= FULL_RATE * top_mbps
    if link.quality in ("snr", "loss"):
        return {link.quality: f"{value:.1f}dB"}, False
    if (value >= FULL) if link.quality == "tq" else (value <= 1.0 / FULL**2):
        snr = FULL_SNR_DB if far is None else max(far, LEAST_FULL_SNR_DB)
        return {"snr": f"{_bounded(snr):.1f}dB"}, True
    if link.quality == "etx":
        return {"etx": round(value, 3)}, False
    return {"delivery": f"{max(100.0 * value, 0.1):.1f}%"}, False


def _by_distance(network: Network, link: Link, budget: Budget) -> float | None:
    metres = network.distance_m(link.source, link.target)
    if metres is None:
        return None
    gains = sum(network.nodes[id_].antenna_dbi or 0.0 for id_ in (link.source, link.target))
    return budget.snr_db(metres, gains)


def _bounded(snr_db: float) -> float:
    return min(max(snr_db, -30.0), MOST_SNR_DB)


def _notes(said: Mapping[str, list[str]], network: Network, carried: float) -> list[Note]:
    shares = any(link.quality in ("tq", "etx") and (link.there or link.back) for link in network.links)
    notes = []
    if shares:
        text = "shares of routing messages that arrive apply to small frames at the lowest rate while nobody else sends"
        notes.append(Note("assumed", f"{text}: weak signal, not interference"))
    if any(link.quality == "rate" for link in network.links):
        text = f"a link carries {carried:.0%} of its reported bit rate before overhead, as fitted to one mesh"
        notes.append(Note("assumed", text))
    rates = any(link.quality == "rate" for link in network.links)
    texts = {
        "full": (
            "assumed",
            "at the highest possible rate; the quality may be better"
            if rates
            else f"on which {FULL:.0%} and more arrive: as good as the distance says, and "
            f"at least {LEAST_FULL_SNR_DB:.0f} dB above noise; {FULL_SNR_DB:.0f} dB if no distance is known",
        ),
        "unknown": ("missing", "without a quality; taken as good as the distance says"),
        "one way": ("missing", "measured in one direction; the other is assumed equal"),
        "instead": (
            "missing",
            "measured in one direction; the other is no better than the best path around it",
        ),
        "uneven": ("assumed", "with directions that differ by more than 20 %"),
    }
    for key, (kind, text) in texts.items():
        if said[key]:
            notes.append(Note(kind, f"{count(len(said[key]), 'link')} {text}", tuple(said[key])))  # type: ignore[arg-type]
    return notes
