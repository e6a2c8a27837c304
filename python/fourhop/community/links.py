"""What was measured of a link as a scenario says it, and what distance says where nothing was."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fourhop import quantity
from fourhop.community.network import Link, Network, Note

FULL = 0.98
"""From this share of frames on a measurement only says that the link is good, not how good."""

FULL_SNR_DB = 20.0
"""Taken for such a link where no distance says more: 24 Mbit/s of 802.11g get through, 54 do not (docs/radio.md)."""

LEAST_FULL_SNR_DB = 12.0
"""The least for such a link whatever its distance: about what FULL of small frames at 6 Mbit/s need when they fade."""

UNKNOWN_SNR_DB = 12.0
"""Taken for a link of which nothing is known but that it is there."""

MOST_SNR_DB = 45.0
"""More helps no rate of 802.11."""

_LIGHT = 299_792_458.0
_UNEVEN = 0.2


@dataclass(frozen=True)
class Budget:
    """What a signal loses over a distance, by the keys of `[radio]`: free space over a metre, then `exponent`."""

    tx_dbm: float
    noise_dbm: float
    at_one_metre_db: float
    exponent: float

    @classmethod
    def of(cls, radio: Mapping[str, Any]) -> Budget:
        """By a resolved `[radio]` whose model is `sinr` and whose path loss is `log-distance`."""
        hertz = quantity.parse(radio["frequency"]).value
        watts = quantity.parse(radio["tx_power"]).value
        figure_db = quantity.parse(radio["noise_figure"]).value
        width = quantity.parse(radio["width"]).value if "width" in radio else 20e6
        # k T B F at 290 K, as the simulator has it.
        noise_dbm = 10.0 * math.log10(1.380649e-23 * 290.0 * width * 1e3) + figure_db
        at_one_metre = 20.0 * math.log10(4.0 * math.pi * hertz / _LIGHT)
        return cls(10.0 * math.log10(watts * 1e3), noise_dbm, at_one_metre, float(radio["exponent"]))

    def snr_db(self, metres: float, gains_db: float = 0.0) -> float:
        """Power over noise at a distance."""
        lost = self.at_one_metre_db + 10.0 * self.exponent * math.log10(max(metres, 1.0))
        return self.tx_dbm + gains_db - lost - self.noise_dbm


def entries(network: Network, budget: Budget) -> tuple[list[dict[str, Any]], list[Note]]:
    """`[[losses]]` of all radio links of a network, and what was assumed for them."""
    numbers = {id_: number for number, id_ in enumerate(network.nodes)}
    said: dict[str, list[str]] = {"full": [], "unknown": [], "one way": [], "uneven": []}
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
            said["one way"].append(name)
            there = back = there if back is None else back
        assert there is not None
        assert back is not None
        if link.quality == "etx":
            there = back = (there + back) / 2.0
        if link.quality == "tq" and abs(there - back) > _UNEVEN:
            said["uneven"].append(name)
        ways = [(link.source, link.target, there), (link.target, link.source, back)]
        keys = [_keys(link, value, far) for _, _, value in ways]
        if any(full for _, full in keys):
            said["full"].append(name)
        if keys[0][0] == keys[1][0]:
            made.append({"from": numbers[link.source], "to": numbers[link.target], **keys[0][0]})
        else:
            made += [
                {"from": numbers[a], "to": numbers[b], **key, "both_ways": False}
                for (a, b, _), (key, _) in zip(ways, keys, strict=True)
            ]
    return made, _notes(said, network)


def _keys(link: Link, value: float, far: float | None) -> tuple[dict[str, Any], bool]:
    """What is written of one direction, and whether it was as good as can be measured."""
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


def _notes(said: Mapping[str, list[str]], network: Network) -> list[Note]:
    shares = any(link.quality in ("tq", "etx") and (link.there or link.back) for link in network.links)
    notes = []
    if shares:
        text = (
            "shares of routing messages that arrive are those of small frames at the lowest rate when nobody else sends"
        )
        notes.append(Note("assumed", f"{text}: weak signal, not interference"))
    texts = {
        "full": (
            "assumed",
            f"links on which {FULL:.0%} and more arrive are as good as their distance says, and "
            f"{LEAST_FULL_SNR_DB:.0f} dB over noise at least; {FULL_SNR_DB:.0f} dB where no distance is known",
        ),
        "unknown": ("missing", "links without a quality; taken as good as their distance says"),
        "one way": ("missing", "links measured in one direction; the other is taken as alike"),
        "uneven": ("assumed", "links whose directions differ by more than 20 % stay so"),
    }
    for key, (kind, text) in texts.items():
        if said[key]:
            notes.append(Note(kind, f"{len(said[key])} {text}", tuple(said[key])))  # type: ignore[arg-type]
    return notes
