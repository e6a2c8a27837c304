"""`nodes.json` and `graph.json`, the pair of files that maps had before `meshviewer.json`.

Source: the formats that ffmap-backend and yanic write: nodes.json version 1 (a table by id) and 2 (a list), each node
with `nodeinfo`, `flags` and `statistics`; graph.json version 1 with `batadv.nodes` and `batadv.links`, whose `source`
and `target` are positions in that list and whose `tq` is one over the share of messages that arrive, from 1 on.
"""

from __future__ import annotations

from fourhop.community.meshviewer import coordinates
from fourhop.community.network import Link, Medium, Network, Node, Note
from fourhop.community.place import Place

_TUNNELS = ("vpn", "tunnel", "l2tp", "fastd")
_CABLES = ("other", "cable", "ethernet", "lan")


def nodes_recognised(root: Place) -> bool:
    """Is it a nodes.json?"""
    return isinstance(root.value, dict) and "nodes" in root.value and "links" not in root.value


def graph_recognised(root: Place) -> bool:
    """Is it a graph.json?"""
    return isinstance(root.value, dict) and "batadv" in root.value


def read_nodes(root: Place) -> Network:
    """The nodes of a nodes.json."""
    version = root.get("version")
    if version is not None and version.whole(0, 1000) not in (1, 2):
        version.refuse("1 or 2")
    listed = root.need("nodes", "the nodes")
    allowed = "a list of nodes (version 2), or a table of them (version 1)"
    places = (
        list(listed.items(allowed)) if isinstance(listed.value, list) else [at for _, at in listed.entries(allowed)]
    )
    nodes: dict[str, Node] = {}
    for each in places:
        node = _node(each)
        if node.id in nodes:
            each.refuse("each node once", f"{node.id!r} for the second time")
        nodes[node.id] = node
    return Network(nodes)


def _node(each: Place) -> Node:
    info = each.need("nodeinfo", "what the node says of itself")
    id_ = info.need("node_id", "the id of the node").text()
    name, location = info.get("hostname"), info.get("location")
    flags, statistics = each.get("flags"), each.get("statistics")

    def flag(key: str, absent: bool) -> bool:
        found = None if flags is None else flags.get(key)
        return absent if found is None else found.flag()

    clients = None if statistics is None else statistics.get("clients")
    if clients is not None and isinstance(clients.value, dict):
        clients = clients.get("total")
    return Node(
        id_,
        id_ if name is None else name.text(),
        None if location is None else coordinates(location),
        flag("online", True),
        flag("gateway", False) or flag("uplink", False),
        None if clients is None else clients.whole(0, 100_000),
    )


def read_graph(root: Place) -> Network:
    """The links of a graph.json, and its nodes as far as it knows them."""
    graph = root.need("batadv", "the graph")
    ids: list[str | None] = []
    for each in graph.need("nodes", "a list of nodes").items("a list of nodes"):
        id_ = each.get("node_id")
        ids.append(None if id_ is None else id_.text())
    found: dict[frozenset[str], Link] = {}
    strangers = 0
    for each in graph.need("links", "a list of links").items("a list of links"):
        numbers = [each.need(key, "a position in batadv.nodes").whole(0, len(ids) - 1) for key in ("source", "target")]
        source, target = (ids[number] for number in numbers)
        if source is None or target is None:
            strangers += 1
        elif source != target:
            link = _link(each, source, target)
            # Where each direction has an entry of its own, the second is the way back.
            first = found.get(link.ends)
            if first is not None and first.source == link.target and first.back is None:
                link = Link(first.source, first.target, first.medium, "tq", first.there, link.there)
            found[link.ends] = link
    directed = graph.get("directed")
    links = list(found.values())
    if directed is None or not directed.flag():
        links = [
            Link(x.source, x.target, x.medium, "tq", x.there, x.there if x.back is None else x.back) for x in links
        ]
    notes = [Note("left out", f"{strangers} links of devices that are no nodes")] if strangers else []
    nodes = {id_: Node(id_, id_) for id_ in ids if id_ is not None}
    return Network(nodes, tuple(links), notes=tuple(notes))


def _link(each: Place, source: str, target: str) -> Link:
    kind, vpn, quality = each.get("type"), each.get("vpn"), each.get("tq")
    word = "" if kind is None else kind.text().lower()
    tunnel = word in _TUNNELS or (vpn is not None and vpn.flag())
    medium: Medium = "tunnel" if tunnel else "cable" if word in _CABLES else "radio"
    if quality is None:
        return Link(source, target, medium)
    tq = quality.number(0, 1000)
    return Link(source, target, medium, "tq", (1.0 / tq if tq >= 1.0 else tq) or None)
