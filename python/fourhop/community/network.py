"""A mesh as read from files: nodes, links with their measurements, and notes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

Quality = Literal["tq", "etx", "snr", "loss", "rate"]
"""The measured quantity of a link: delivery ratio, expected transmissions, SNR in dB, path loss in dB, or the received
bit rate in Mbit/s."""

Medium = Literal["radio", "cable", "tunnel"]
"""The medium of a link; a tunnel leads through somebody's Internet access."""

EARTH_M = 6_371_008.8
"""Mean radius of the earth (IUGG), only for distances: the simulator projects by the ellipsoid, see docs/radio.md."""

FARTHEST_M = 8_000.0
"""A longer link means an error in a position. The shortest frame of 802.11a, an ACK of 28 us, is 8.4 km long, also the
simulator's limit."""

_NAMED = 5
"""Maximum number of names shown in a note."""


@dataclass(frozen=True)
class Node:
    """One node of a mesh."""

    id: str
    name: str
    place: tuple[float, float] | None = None
    """Degrees of latitude and longitude, or metres to the east and north, see `Network.in_metres`."""
    online: bool = True
    uplink: bool = False
    """Whether it has Internet access other than through the mesh."""
    clients: int | None = None
    channels: tuple[int, ...] = ()
    """Channels of its radios, one each; empty if unknown."""
    antenna_dbi: float | None = None
    model: str | None = None
    """The router's model."""
    forwards: bool = True
    """Whether it forwards packets of others."""


@dataclass(frozen=True)
class Link:
    """The measurements between two nodes, separate for each direction, or missing."""

    source: str
    target: str
    medium: Medium = "radio"
    quality: Quality = "tq"
    there: float | None = None
    """Quality from source to target; `back` is that of the opposite direction."""
    back: float | None = None

    @property
    def ends(self) -> frozenset[str]:
        """Both nodes."""
        return frozenset((self.source, self.target))

    @property
    def turned(self) -> Link:
        """The same link, seen from the other end."""
        return replace(self, source=self.target, target=self.source, there=self.back, back=self.there)


@dataclass(frozen=True)
class Note:
    """Something that was missing, left out or assumed."""

    kind: Literal["left out", "missing", "assumed"]
    text: str
    nodes: tuple[str, ...] = ()
    """Names of the nodes concerned, if any."""

    def __str__(self) -> str:
        """One line of text."""
        if not self.nodes:
            return f"{self.kind}: {self.text}"
        more = f" and {len(self.nodes) - _NAMED} more" if len(self.nodes) > _NAMED else ""
        return f"{self.kind}: {self.text}: {', '.join(self.nodes[:_NAMED])}{more}"


@dataclass(frozen=True)
class Network:
    """Nodes by id, and the links between them."""

    nodes: dict[str, Node]
    links: tuple[Link, ...] = ()
    in_metres: bool = False
    """Whether positions are in metres rather than degrees."""
    notes: tuple[Note, ...] = field(default=(), compare=False)

    def only(self, ids: Iterable[str], *notes: Note) -> Network:
        """The network restricted to these nodes and the links between them, in the same order, with further notes."""
        kept = set(ids)
        nodes = {id_: node for id_, node in self.nodes.items() if id_ in kept}
        links = tuple(link for link in self.links if link.ends <= kept)
        return replace(self, nodes=nodes, links=links, notes=(*self.notes, *notes))

    def named(self, ids: Iterable[str]) -> tuple[str, ...]:
        """The names of nodes."""
        return tuple(self.nodes[id_].name for id_ in ids)

    def neighbours(self, media: tuple[Medium, ...] = ("radio",)) -> dict[str, list[str]]:
        """The neighbours of each node."""
        found: dict[str, list[str]] = {id_: [] for id_ in self.nodes}
        for link in self.links:
            if link.medium in media:
                found[link.source].append(link.target)
                found[link.target].append(link.source)
        return found

    def distance_m(self, one: str, other: str) -> float | None:
        """Distance of two nodes with a position: great circle by haversines (Sinnott 1984), or straight in metres."""
        a, b = self.nodes[one].place, self.nodes[other].place
        if a is None or b is None:
            return None
        if self.in_metres:
            return math.dist(a, b)
        (lat1, lon1), (lat2, lon2) = (tuple(map(math.radians, place)) for place in (a, b))
        half = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
        return 2.0 * EARTH_M * math.asin(min(1.0, math.sqrt(half)))


def hops_from(neighbours: dict[str, list[str]], starts: Iterable[str]) -> dict[str, int]:
    """For each reachable node, the number of links to the nearest of `starts`."""
    found = dict.fromkeys(starts, 0)
    front = list(found)
    while front:
        following = []
        for id_ in front:
            for other in neighbours[id_]:
                if other not in found:
                    found[other] = found[id_] + 1
                    following.append(other)
        front = following
    return found


def components(neighbours: dict[str, list[str]]) -> list[list[str]]:
    """The connected components, the largest first."""
    seen: set[str] = set()
    parts = []
    for id_ in neighbours:
        if id_ not in seen:
            part = list(hops_from(neighbours, [id_]))
            seen.update(part)
            parts.append(part)
    return sorted(parts, key=len, reverse=True)
