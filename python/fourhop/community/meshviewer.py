"""`meshviewer.json`, the file behind the maps of Freifunk and others: one list of nodes, one of links.

Source: the format that yanic writes and meshviewer reads. A node has `node_id`, `hostname`, `is_online`, `is_gateway`,
`clients` and `location`; a link has `type` (`wifi`, `vpn`, `other`), `source` and `target` (ids of nodes) and
`source_tq` and `target_tq`, the share of routing messages of either end that reach the other, 0 to 1.
"""

from __future__ import annotations

from fourhop.community.network import Link, Medium, Network, Node, Note
from fourhop.community.place import Place

_MEDIA: dict[str, Medium] = {"wifi": "radio", "vpn": "tunnel", "other": "cable"}


def recognised(root: Place) -> bool:
    """Is it one?"""
    return isinstance(root.value, dict) and isinstance(root.value.get("links"), list) and "nodes" in root.value


def read(root: Place) -> Network:
    """The network in it."""
    nodes = {}
    for each in root.need("nodes", "a list of nodes").items("a list of nodes"):
        node = _node(each)
        if node.id in nodes:
            each.need("node_id", "").refuse("each node once", f"{node.id!r} for the second time")
        nodes[node.id] = node
    links = []
    unknown = []
    for each in root.need("links", "a list of links").items("a list of links"):
        link = _link(each)
        if link.ends <= nodes.keys():
            links.append(link)
        else:
            unknown.append(f"{link.source}-{link.target}")
    notes = []
    if unknown:
        text = f"{len(unknown)} links whose ends are not among the nodes"
        notes.append(Note("left out", text, tuple(unknown)))
    return Network(nodes, tuple(links), notes=tuple(notes))


def _node(each: Place) -> Node:
    id_ = each.need("node_id", "the id of the node").text()
    name, online, gateway, clients = (each.get(key) for key in ("hostname", "is_online", "is_gateway", "clients"))
    location = each.get("location")
    return Node(
        id_,
        id_ if name is None else name.text(),
        None if location is None else coordinates(location),
        online is None or online.flag(),
        gateway is not None and gateway.flag(),
        None if clients is None else clients.whole(0, 100_000),
    )


def coordinates(location: Place) -> tuple[float, float] | None:
    """Latitude and longitude; a place at 0, 0 is how some maps say that there is none."""
    allowed = "degrees (WGS 84)"
    at = (
        location.need("latitude", allowed).number(-90, 90, "degrees"),
        location.need("longitude", allowed).number(-180, 180, "degrees"),
    )
    return None if at == (0.0, 0.0) else at


def _link(each: Place) -> Link:
    kind = each.get("type")
    word = "wifi" if kind is None else kind.text()
    if kind is not None and word not in _MEDIA:
        kind.refuse(" or ".join(_MEDIA))
    source, target = (each.need(key, "the id of a node").text() for key in ("source", "target"))
    if source == target:
        each.need("target", "").refuse("another node than `source`")
    there, back = (
        None if (found := each.get(key)) is None else found.number(0, 1) for key in ("source_tq", "target_tq")
    )
    # Zero is what is written where nothing was measured.
    return Link(source, target, _MEDIA[word], "tq", there or None, back or None)
