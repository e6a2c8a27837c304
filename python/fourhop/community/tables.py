"""CSV: a table of places, or a matrix of what was measured between nodes.

Places: a line a node, with `name` and either `x` and `y` in metres or `lat` and `lon` in degrees; `gateway`, `channel`,
`antenna` (dBi) and `clients` may be there. A matrix has the names in its first line and its first column, rows transmit
and columns receive; an empty field was not measured.
"""

from __future__ import annotations

import csv
import io

from fourhop.community.network import Link, Network, Node, Note, Quality
from fourhop.community.place import Place
from fourhop.errors import FourhopError

BOUNDS: dict[Quality, tuple[float, float, str]] = {
    "snr": (-30.0, 100.0, "dB"),
    "etx": (1.0, 1000.0, ""),
    "loss": (0.0, 300.0, "dB"),
    "tq": (0.0, 1.0, ""),
}
"""Least and greatest value of each quantity, and its unit."""

_PLACES = (("x", "y"), ("lat", "lon"), ("latitude", "longitude"))
_KNOWN = ("name", "x", "y", "lat", "lon", "latitude", "longitude", "gateway", "channel", "antenna", "clients")


def rows(text: str) -> list[list[str]]:
    """The fields of the lines that hold anything, separated by commas, semicolons or tabs."""
    first = next(iter(text.splitlines()), "")
    mark = max(",;\t", key=first.count)
    return [[field.strip() for field in row] for row in csv.reader(io.StringIO(text), delimiter=mark) if any(row)]


def is_matrix(table: list[list[str]]) -> bool:
    """Does the first column hold the names of the first line?"""
    return len(table) > 1 and [row[0] for row in table[1:]] == table[0][1:]


def read_places(file: str, table: list[list[str]]) -> Network:
    """The nodes of a table of places."""
    head = [name.lower() for name in table[0]] if table else []
    pair = next((pair for pair in _PLACES if set(pair) <= set(head)), None)
    if "name" not in head or pair is None:
        allowed = "columns `name` and `x`, `y` or `lat`, `lon`; or a matrix with the same names across and down"
        raise FourhopError(f"{file}: line 1: found {', '.join(head) or 'nothing'}, allowed: {allowed}")
    nodes: dict[str, Node] = {}
    for number, row in enumerate(table[1:], 2):
        if len(row) != len(head):
            raise FourhopError(f"{file}: line {number}: found {len(row)} fields, allowed: {len(head)}, as in line 1")
        fields = {
            key: Place(file, f"line {number}, {key}", value) for key, value in zip(head, row, strict=True) if value
        }
        node = _node(file, number, fields, pair)
        if node.id in nodes:
            fields["name"].refuse("each name once", f"{node.id!r} for the second time")
        nodes[node.id] = node
    unknown = [name for name in head if name not in _KNOWN]
    notes = [Note("left out", "columns that mean nothing here", tuple(unknown))] if unknown else []
    return Network(nodes, in_metres=pair == ("x", "y"), notes=tuple(notes))


def _node(file: str, number: int, fields: dict[str, Place], pair: tuple[str, str]) -> Node:
    if "name" not in fields:
        raise FourhopError(f"{file}: line {number}, name: found nothing, allowed: a text")
    bounds = (
        ((-1e6, 1e6, "m"), (-1e6, 1e6, "m")) if pair == ("x", "y") else ((-90, 90, "degrees"), (-180, 180, "degrees"))
    )
    if len(fields.keys() & set(pair)) == 1:
        lacking = next(key for key in pair if key not in fields)
        raise FourhopError(
            f"{file}: line {number}, {lacking}: found nothing, allowed: both of {' and '.join(pair)}, or none"
        )
    ends = [fields[key].number(*limits) for key, limits in zip(pair, bounds, strict=True) if key in fields]
    name = fields["name"].text()
    return Node(
        name,
        name,
        (ends[0], ends[1]) if ends else None,
        uplink="gateway" in fields and fields["gateway"].flag(),
        clients=fields["clients"].whole(0, 100_000) if "clients" in fields else None,
        channel=fields["channel"].whole(1, 196) if "channel" in fields else None,
        antenna_dbi=fields["antenna"].number(-30, 60, "dBi") if "antenna" in fields else None,
    )


def read_matrix(file: str, table: list[list[str]], quality: Quality | None) -> Network:
    """The links of a matrix."""
    if quality is None:
        raise FourhopError(
            f"{file}: found a matrix, allowed: with --values, which says what it holds: {', '.join(BOUNDS)}"
        )
    names = table[0][1:]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FourhopError(f"{file}: line 1: found {twice!r} twice, allowed: each name once")
    values: dict[tuple[str, str], float] = {}
    for number, row in enumerate(table[1:], 2):
        if len(row) != len(names) + 1:
            raise FourhopError(
                f"{file}: line {number}: found {len(row)} fields, allowed: {len(names) + 1}, as in line 1"
            )
        for name, value in zip(names, row[1:], strict=True):
            if value not in ("", "-", "nan", "inf") and name != row[0]:
                at = Place(file, f"line {number}, column {name}", value)
                values[row[0], name] = at.number(*BOUNDS[quality])
    links = [
        Link(one, other, "radio", quality, values.get((one, other)), values.get((other, one)))
        for i, one in enumerate(names)
        for other in names[i + 1 :]
        if (one, other) in values or (other, one) in values
    ]
    return Network({name: Node(name, name) for name in names}, tuple(links))
