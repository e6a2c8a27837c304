"""The network as a picture: an SVG that takes its colours from the page, so that it is legible on a dark one, too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fourhop.picture import Network, Place
from fourhop.whatif import words
from fourhop.whatif.answer import Answer

WIDTH = 520.0
"""Width of the drawing in its own units. A narrow screen shows it at two thirds of this, where it is still legible."""
_HEIGHTS = (180.0, 560.0)
_EDGE = 26.0

CLASSES = (
    ("weak", 0.0, "below 5 dB"),
    ("fair", 5.0, "5 to 10 dB"),
    ("good", 10.0, "10 to 20 dB"),
    ("strong", 20.0, "20 dB and more"),
)
"""Classes of links by margin above the minimum power of a link: name, minimum margin, text."""

_LABELLED = 70
"""With more nodes, only gateways, tried places and nodes with traffic have numbers."""
_ROOM = 20.0
"""Minimum distance between the centres of two nodes with numbers, in units."""
_BESIDE = ((0.0, -26.0), (0.0, 26.0), (60.0, 0.0), (-60.0, 0.0))
"""Positions of text beside a node; it is some 76 units wide on a phone."""
_CLASSES = ("idle", "busy", "tried", "best", "gateway")
"""Classes of nodes from bottom to top; the upper ones get their numbers first."""


@dataclass(frozen=True)
class Picture:
    """Data for the template."""

    width: float
    height: float
    links: list[dict[str, Any]]
    nodes: list[dict[str, Any]]
    best: tuple[float, float] | None
    """Position of the text that names the best place, if there is one."""
    scale: dict[str, Any]
    """A scale bar of a round length: `length`, `label`."""


@dataclass(frozen=True)
class Tried:
    """A place that was tried for a gateway."""

    best: bool
    """Whether it is the first of those that help, or if none helps everybody, of those that help some."""
    label: str
    """The heading of its change on the page."""
    verdict: str
    """In words."""


def tried_places(answer: Answer) -> dict[int, Tried]:
    """The nodes at which a gateway was tried, each with the better of its changes."""
    here = set(answer.tried.network.gateways)
    found: dict[int, Tried] = {}
    verdicts = [(change, words.verdict(answer.effects[change.name])) for change in answer.ranked]
    order = {"helps": 0, "mixed": 1}
    best = None
    for change, verdict in sorted(verdicts, key=lambda each: order.get(each[1], 2)):
        gateways = change.scenario.resolved.get("wired", {}).get("gateways", [])
        for node in sorted(set(gateways) - here - set(found)):
            best = node if best is None and verdict in order else best
            found[node] = Tried(node == best, change.label, words.VERDICTS[verdict])
    return found


def picture(
    network: Network, names: Mapping[int, str], speeds: Mapping[int, float], tried: Mapping[int, Tried]
) -> Picture:
    """The drawing; `speeds` are today's speeds of nodes with traffic, in Mbit/s, `tried` the places for a gateway."""
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

    positions = [at(place) for place in network.places]
    links = []
    for (a, b), (margin, both) in sorted(network.pairs.items(), key=lambda item: item[1][0]):
        name = next(name for name, from_db, _ in reversed(CLASSES) if margin >= from_db or from_db == 0.0)
        ways = "" if both else ", one way only"
        (x1, y1), (x2, y2) = positions[a], positions[b]
        title = f"{_name(a, names)} to {_name(b, names)}: margin {margin:.0f} dB{ways}"
        links.append({"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": name, "both": both, "title": title})
    nodes = []
    for number, (x, y) in enumerate(positions):
        gateway = number in network.gateways
        speed = speeds.get(number)
        title = _name(number, names) + (", gateway" if gateway else "")
        title += "" if speed is None else f", today {speed:.3g} Mbit/s"
        kind = "gateway" if gateway else "busy" if speed is not None else "idle"
        if (place := tried.get(number)) is not None:
            title += f"; {place.label}: {place.verdict}"
            kind = "best" if place.best else "tried"
        nodes.append({"x": x, "y": y, "class": kind, "label": str(number), "title": title})
    nodes.sort(key=lambda node: _CLASSES.index(node["class"]))
    _label(nodes)
    length_m = _round(0.25 * WIDTH / scale)
    label = f"{length_m / 1000:g} km" if length_m >= 1000 else f"{length_m:g} m"
    words_at = next((_beside(node, nodes, height) for node in nodes if node["class"] == "best"), None)
    return Picture(
        WIDTH, round(height, 1), links, nodes, words_at, {"length": round(length_m * scale, 1), "label": label}
    )


def _label(nodes: list[dict[str, Any]]) -> None:
    """Remove the number of each node that has no room for it; nodes drawn on top keep theirs."""
    written: list[dict[str, Any]] = []
    for node in reversed(nodes):
        near = any(math.dist((node["x"], node["y"]), (other["x"], other["y"])) < _ROOM for other in written)
        if near or (len(nodes) > _LABELLED and node["class"] == "idle"):
            node["label"] = ""
        else:
            written.append(node)


def _beside(node: dict[str, Any], nodes: list[dict[str, Any]], height: float) -> tuple[float, float]:
    """Position of text about a node: inside the drawing, covering the fewest other nodes."""

    def covered(at: tuple[float, float]) -> int:
        return sum(
            abs(each["x"] - at[0]) < 48.0 and abs(each["y"] - at[1]) < 17.0 for each in nodes if each is not node
        )

    around = [(round(node["x"] + dx, 1), round(node["y"] + dy, 1)) for dx, dy in _BESIDE]
    inside = [(x, y) for x, y in around if 40.0 <= x <= WIDTH - 40.0 and 10.0 <= y <= height - 10.0]
    return min(inside or around[:1], key=covered)


def _round(length: float) -> float:
    power = 10.0 ** math.floor(math.log10(length))
    return max(step * power for step in (1.0, 2.0, 5.0) if step * power <= length)


def _name(number: int, names: Mapping[int, str]) -> str:
    return f"{number} {names[number]}" if number in names else f"node {number}"
