"""`meshviewer.json`, the file behind the maps of Freifunk and others: one list of nodes, one of links.

Source: the format written by yanic and read by meshviewer. A node has `node_id`, `hostname`, `is_online`, `is_gateway`,
`clients`, `model` and `location`; a link has `type` (`wifi`, `vpn`, `other`), `source` and `target` (ids of nodes) and
`source_tq` and `target_tq`, the share of routing messages from each end that reach the other, 0 to 1. With B.A.T.M.A.N.
V, they are throughputs in kbit/s.

Errors in a single node or link are noted, and the rest is read: published files have empty positions, typing errors and
links of devices that no longer exist.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from fourhop.community.network import Link, Medium, Network, Node, Note
from fourhop.community.place import Faults, Place

T = TypeVar("T")

_MEDIA: dict[str, Medium] = {"wifi": "radio", "vpn": "tunnel"}

CABLE_QUALITY = 0.98
"""A link of type `other`, which the router does not know as Wi-Fi, is a cable from this share of messages both ways on,
else a radio."""

MOST_TQ = 255.0
"""B.A.T.M.A.N. IV's best quality; its inverse is the smallest one above zero."""

CABLE_MBPS = 100.0
"""The same for a throughput: that of Fast Ethernet."""

MOST_KBPS = 1e7
"""Highest plausible throughput: 10 Gbit/s."""

IN_KBPS = Note("assumed", "qualities are throughputs in kbit/s, as B.A.T.M.A.N. V gives them")

QUALITIES = ("qualities outside 0 to 1", "throughputs without a number in kbit/s")
"""Errors in a share, and in a throughput."""

_ENDS = ("source_tq", "target_tq")


def recognised(root: Place) -> bool:
    """Whether it is a meshviewer.json."""
    return isinstance(root.value, dict) and isinstance(root.value.get("links"), list) and "nodes" in root.value


def read(root: Place) -> Network:
    """The network in it."""
    faults = Faults()
    nodes = nodes_of(root.need("nodes", "a list of nodes").items("a list of nodes"), _node, faults)
    links = []
    listed = list(root.need("links", "a list of links").items("a list of links"))
    rates = are_rates(each.value.get(key) for each in listed if isinstance(each.value, dict) for key in _ENDS)
    for each in listed:
        link = faults.tried("links without two ends", each.path, partial(_link, each, faults, rates))
        if link is None:
            continue
        if link.ends <= nodes.keys():
            links.append(link)
        else:
            faults.note("links whose ends are not among the nodes", f"{link.source}-{link.target}")
    return Network(nodes, tuple(links), notes=(*faults.notes(), *([IN_KBPS] if rates else [])))


def are_rates(values: Iterable[object]) -> bool:
    """Whether qualities are throughputs: half of them are larger than any notation of a share."""
    known = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool) and value > 0]
    return bool(known) and statistics.median(known) > MOST_TQ


def nodes_of(entries: Iterable[Place], read: Callable[[Place, Faults], Node], faults: Faults) -> dict[str, Node]:
    """The nodes by id; entries without an id and duplicates are noted."""
    nodes: dict[str, Node] = {}
    for each in entries:
        node = faults.tried("nodes without an id", each.path, partial(read, each, faults))
        if node is not None and node.id in nodes:
            faults.note("entries repeated for a node", node.name)
        elif node is not None:
            nodes[node.id] = node
    return nodes


def _node(each: Place, faults: Faults) -> Node:
    id_ = each.need("node_id", "the id of the node").text()

    def of(key: str, what: str, read: Callable[[Place], T]) -> T | None:
        found = each.get(key)
        return None if found is None else faults.tried(what, name, lambda: read(found))

    name = id_
    name = of("hostname", "names that are not text", Place.text) or id_
    online = of("is_online", "states that are neither true nor false", Place.flag)
    return Node(
        id_,
        name,
        of("location", BAD_POSITIONS, coordinates),
        online is None or online,
        bool(of("is_gateway", "states of gateways that are neither true nor false", Place.flag)),
        of("clients", "numbers of clients out of range", lambda found: found.whole(0, 100_000)),
        model=of("model", "models that are not text", model_of),
    )


def model_of(found: Place) -> str | None:
    """The router's model; some report an empty string."""
    return None if found.value == "" else found.text()


BAD_POSITIONS = "positions outside WGS 84 degrees"


def coordinates(location: Place) -> tuple[float, float] | None:
    """Latitude and longitude; some maps write an empty table, or 0, 0, if there is no position."""
    if location.value == {}:
        return None
    allowed = "degrees (WGS 84)"
    at = (
        location.need("latitude", allowed).number(-90, 90, "degrees"),
        location.need("longitude", allowed).number(-180, 180, "degrees"),
    )
    return None if at == (0.0, 0.0) else at


def _link(each: Place, faults: Faults, rates: bool) -> Link:
    source, target = (each.need(key, "the id of a node").text() for key in ("source", "target"))
    if source == target:
        each.need("target", "").refuse("another node than `source`")
    name = f"{source}-{target}"
    kind = each.get("type")
    word = "wifi" if kind is None else str(kind.value)
    if word not in _MEDIA and word != "other":
        faults.note(
            f"types of links other than {', '.join([*_MEDIA, 'other'])}; they count as `other`", f"{name} ({word})"
        )
        word = "other"

    def share(key: str) -> float | None:
        found = each.get(key)
        what = QUALITIES[rates]
        most = MOST_KBPS if rates else 1.0
        value = None if found is None else faults.tried(what, name, lambda: found.number(0, most))
        # Zero means that nothing was measured.
        return (value / 1e3 if rates else value) if value else None

    there, back = (share(key) for key in _ENDS)
    medium = _MEDIA.get(word) or of_other(there, back, rates)
    return Link(source, target, medium, "rate" if rates else "tq", there, back)


def of_other(there: float | None, back: float | None, rates: bool = False) -> Medium:
    """Medium of a link that the router does not know as Wi-Fi: a cable if it is that good both ways."""
    return "cable" if min(there or 0.0, back or 0.0) >= (CABLE_MBPS if rates else CABLE_QUALITY) else "radio"
