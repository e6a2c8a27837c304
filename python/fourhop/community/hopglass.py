"""Reads Berlin's hopglass.freifunk.de: rows of nodes with the links reported by the OLSR and radios of each.

Source: the database that Berlin's nodes report to (freifunk-berlin/openwifimap-api): `rows`, each with an `id` and a
`value` that has `hostname`, `latlng` and `links`. A link has the `id` of its other end, `ifname`, `quality` (the share
of Hellos received by this node, 0 to 1, or an ETX from 1 on), and `wifi` if the interface is a radio.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from fourhop.community.meshviewer import BAD_POSITIONS, nodes_of, of_other
from fourhop.community.network import Link, Medium, Network, Node
from fourhop.community.place import Faults, Place

_TUNNELS = ("vpn", "tun", "tap", "bbbdigger", "l2tp", "wg")
_RADIOS = ("wlan", "wifi", "wireless", "ath", "radio")


def recognised(root: Place) -> bool:
    """Whether it is a file of hopglass."""
    inner = root.value.get("JSON", root.value) if isinstance(root.value, dict) else None
    return isinstance(inner, dict) and isinstance(inner.get("rows"), list)


def read(root: Place) -> Network:
    """The network in it."""
    rows = (root.get("JSON") or root).need("rows", "a list of nodes")
    faults = Faults()
    found: dict[frozenset[str], Link] = {}
    # Pairs whose medium at least one end reports.
    known: set[frozenset[str]] = set()
    entries = list(rows.items("a list of nodes"))
    nodes = nodes_of(entries, _node, faults)
    for each in entries:
        here = each.get("id")
        listed = (each.get("value") or each).get("links")
        if here is None or listed is None or not isinstance(listed.value, list):
            continue
        for at in listed.items("a list of links"):
            heard = faults.tried("links without two ends", at.path, partial(_heard, at, here.text(), faults))
            if heard is None:
                continue
            kind = _medium(at)
            if heard.ends <= nodes.keys():
                found[heard.ends] = _joined(found.get(heard.ends), heard, kind)
                known |= {heard.ends} if kind else set()
            elif kind == "tunnel" and heard.target in nodes:
                nodes[heard.target] = replace(nodes[heard.target], uplink=True)
            else:
                faults.note("links whose ends are not among the nodes", f"{heard.source}-{heard.target}")
    links = [link if link.ends in known else _merged(link) for link in found.values()]
    return Network(nodes, tuple(links), notes=tuple(faults.notes()))


def _node(each: Place, faults: Faults) -> Node:
    id_ = each.need("id", "the id of the node").text()
    said = each.need("value", "a table with the node's data")
    named, at = said.get("hostname"), said.get("latlng")
    name = id_.removesuffix(".olsr") if named is None else named.text()
    model = said.get("hardware") or said.get("model")
    return Node(
        id_,
        name,
        None if at is None else faults.tried(BAD_POSITIONS, name, partial(_position, at)),
        model=None if model is None or not isinstance(model.value, str) else model.text(),
    )


def _position(at: Place) -> tuple[float, float] | None:
    both = list(at.items("latitude and longitude"))
    if len(both) != 2:
        at.refuse("latitude and longitude")
    place = (both[0].number(-90, 90, "degrees"), both[1].number(-180, 180, "degrees"))
    return None if place == (0.0, 0.0) else place


def _heard(at: Place, here: str, faults: Faults) -> Link:
    """The link as received at `here` from the other end."""
    other = at.need("id", "the id of a node").text()
    if other == here:
        at.need("id", "").refuse("another node")
    quality = at.get("quality")
    share = None
    if quality is not None:
        value = faults.tried("qualities without a number", f"{other}-{here}", partial(quality.number, 0, 1e6))
        share = None if not value else value if value <= 1.0 else 1.0 / value
    return Link(other, here, "radio", "tq", share)


def _medium(at: Place) -> Medium | None:
    """The medium of the interface; `None` if unknown."""
    name = at.get("ifname")
    word = "" if name is None else str(name.value).lower()
    if any(word.startswith(each) for each in _TUNNELS) or "vpn" in str(at.value.get("id", "")).lower():
        return "tunnel"
    if at.get("wifi") is not None or any(word.startswith(each) for each in _RADIOS):
        return "radio"
    return "cable" if word.startswith(("eth", "br-", "lan")) else None


def _joined(known: Link | None, heard: Link, kind: Medium | None) -> Link:
    """Combine both directions of a link, using the better of several entries."""
    medium: Medium = kind or (known.medium if known else "radio")
    if known is None:
        return Link(heard.source, heard.target, medium, "tq", heard.there)
    there, back = known.there, known.back
    if heard.source == known.source:
        there = max(there or 0.0, heard.there or 0.0) or None
    else:
        back = max(back or 0.0, heard.there or 0.0) or None
    return Link(known.source, known.target, medium, "tq", there, back)


def _merged(link: Link) -> Link:
    return Link(link.source, link.target, of_other(link.there, link.back), "tq", link.there, link.back)
