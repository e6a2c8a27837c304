"""The network as a picture: an SVG that takes its colours from the page, so that it is legible on a dark one, too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fourhop.picture import Network, Place

WIDTH = 520.0
"""Units of the drawing. A narrow screen shows it at two thirds of this, where its letters can still be read."""
_HEIGHTS = (180.0, 560.0)
_EDGE = 26.0

CLASSES = (
    ("weak", 0.0, "under 5 dB"),
    ("fair", 5.0, "5 to 10 dB"),
    ("good", 10.0, "10 to 20 dB"),
    ("strong", 20.0, "20 dB and more"),
)
"""Links by the power over the least of a link: name, least margin, words."""

_LABELLED = 70
"""With more nodes only gateways and nodes with traffic have their numbers."""


@dataclass(frozen=True)
class Picture:
    """What the template draws."""

    width: float
    height: float
    links: list[dict[str, Any]]
    nodes: list[dict[str, Any]]
    scale: dict[str, Any]
    """A bar of a round length: `length`, `label`."""


def picture(network: Network, names: Mapping[int, str], speeds: Mapping[int, float]) -> Picture:
    """The drawing; `speeds` are those of nodes with traffic today, in Mbit/s."""
    xs, ys = zip(*network.places, strict=True)
    wide, high = max(xs) - min(xs) or 1.0, max(ys) - min(ys) or 1.0
    least, most = _HEIGHTS
    scale = min((WIDTH - 2 * _EDGE) / wide, (most - 2 * _EDGE) / high)
    height = max(high * scale + 2 * _EDGE, least)
    left = (WIDTH - wide * scale) / 2.0
    top = (height - high * scale) / 2.0

    def at(place: Place) -> tuple[float, float]:
        # North is up.
        return round(left + (place[0] - min(xs)) * scale, 1), round(top + (max(ys) - place[1]) * scale, 1)

    spots = [at(place) for place in network.places]
    links = []
    for (a, b), (margin, both) in sorted(network.pairs.items(), key=lambda item: item[1][0]):
        name = next(name for name, from_db, _ in reversed(CLASSES) if margin >= from_db or from_db == 0.0)
        ways = "" if both else ", one way only"
        (x1, y1), (x2, y2) = spots[a], spots[b]
        title = f"{_name(a, names)} to {_name(b, names)}: margin {margin:.0f} dB{ways}"
        links.append({"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": name, "both": both, "title": title})
    nodes = []
    for number, (x, y) in enumerate(spots):
        gateway = number in network.gateways
        speed = speeds.get(number)
        title = _name(number, names) + (", gateway" if gateway else "")
        title += "" if speed is None else f", today {speed:.3g} Mbit/s"
        labelled = len(spots) <= _LABELLED or gateway or speed is not None
        kind = "gateway" if gateway else "busy" if speed is not None else "idle"
        nodes.append({"x": x, "y": y, "class": kind, "label": str(number) if labelled else "", "title": title})
    # Gateways on top.
    nodes.sort(key=lambda node: ("idle", "busy", "gateway").index(node["class"]))
    length_m = _round(0.25 * WIDTH / scale)
    label = f"{length_m / 1000:g} km" if length_m >= 1000 else f"{length_m:g} m"
    return Picture(WIDTH, round(height, 1), links, nodes, {"length": round(length_m * scale, 1), "label": label})


def _round(length: float) -> float:
    power = 10.0 ** math.floor(math.log10(length))
    return max(step * power for step in (1.0, 2.0, 5.0) if step * power <= length)


def _name(number: int, names: Mapping[int, str]) -> str:
    return f"{number} {names[number]}" if number in names else f"node {number}"
