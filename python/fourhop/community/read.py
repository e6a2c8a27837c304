"""Reads files of any format, recognised by content, and merges several files about the same nodes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fourhop.community import ffmap, geojson, hopglass, meshviewer, tables
from fourhop.community.network import Link, Network, Node, Quality
from fourhop.community.place import Place
from fourhop.errors import FourhopError

FORMATS = (
    "meshviewer.json, nodes.json, graph.json, hopglass.json, GeoJSON, a CSV with `name` and `x`, `y` or `lat`, `lon`, "
    "a CSV matrix, or a CSV list of links with `from`, `to` and a quality"
)


def read(files: Sequence[Path], values: Quality | None = None) -> Network:
    """The network in all files; `values` is the meaning of a matrix. Raises `FourhopError` with file and key."""
    networks = [_read(file, values) for file in files]
    whole = networks[0]
    for file, more in zip(files[1:], networks[1:], strict=True):
        whole = _together(whole, more, file)
    if not whole.nodes:
        raise FourhopError(f"{', '.join(map(str, files))}: found no node; at least two are needed")
    return whole


def _read(file: Path, values: Quality | None) -> Network:
    name = str(file)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FourhopError(f"{name}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FourhopError(f"{name}: found bytes at {error.start} that are not UTF-8, allowed: {FORMATS}") from error
    if not text.strip():
        raise FourhopError(f"{name}: found an empty file, allowed: {FORMATS}")
    if file.suffix.lower() in (".json", ".geojson") or text.lstrip()[:1] in ("{", "["):
        return _of_json(name, text)
    table = tables.rows(text)
    if tables.is_list(table):
        return tables.read_list(name, table, values)
    return tables.read_matrix(name, table, values) if tables.is_matrix(table) else tables.read_places(name, table)


def _of_json(name: str, text: str) -> Network:
    try:
        root = Place(name, "", json.loads(text))
    except (ValueError, RecursionError) as error:
        raise FourhopError(f"{name}: found invalid JSON ({error}), allowed: {FORMATS}") from None
    if geojson.recognised(root):
        return geojson.read(root)
    if ffmap.graph_recognised(root):
        return ffmap.read_graph(root)
    if hopglass.recognised(root):
        return hopglass.read(root)
    if meshviewer.recognised(root):
        return meshviewer.read(root)
    if ffmap.nodes_recognised(root):
        return ffmap.read_nodes(root)
    keys = ", ".join(root.value) if isinstance(root.value, dict) else "a list"
    raise FourhopError(f"{name}: found JSON with {keys[:80] or 'nothing'}, allowed: {FORMATS}")


def _together(one: Network, more: Network, file: Path) -> Network:
    placed = [any(node.place is not None for node in network.nodes.values()) for network in (one, more)]
    if all(placed) and one.in_metres != more.in_metres:
        raise FourhopError(
            f"{file}: found units other than in the files before it, allowed: metres in all files, or degrees in all"
        )
    nodes = dict(one.nodes)
    # Tables of positions and matrices use names, maps use ids.
    by_name = {node.name: id_ for id_, node in one.nodes.items()}
    known = {id_: id_ if id_ in nodes else by_name.get(node.name, id_) for id_, node in more.nodes.items()}
    for id_, node in more.nodes.items():
        nodes[known[id_]] = _merged(nodes.get(known[id_]), node, known[id_])
    links = [replace(link, source=known[link.source], target=known[link.target]) for link in more.links]
    ends = {link.ends for link in links}
    # If a link occurs twice, the later one counts.
    kept: list[Link] = [link for link in one.links if link.ends not in ends]
    return Network(nodes, (*kept, *links), more.in_metres if placed[1] else one.in_metres, (*one.notes, *more.notes))


def _merged(known: Node | None, node: Node, id_: str) -> Node:
    if known is None:
        return replace(node, id=id_)
    return Node(
        id_,
        node.name if known.name == known.id else known.name,
        known.place or node.place,
        known.online and node.online,
        known.uplink or node.uplink,
        node.clients if known.clients is None else known.clients,
        known.channels or node.channels,
        node.antenna_dbi if known.antenna_dbi is None else known.antenna_dbi,
        known.model or node.model,
        known.forwards and node.forwards,
    )
