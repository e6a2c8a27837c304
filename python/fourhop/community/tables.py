"""CSV: a table of positions, or a matrix of measurements between nodes.

Positions: one line per node, with `name` and either `x` and `y` in metres or `lat` and `lon` in degrees; `gateway`,
`channel`, `antenna` (dBi) and `clients` are optional. A matrix has names in its first line and column; rows transmit,
columns receive, and an empty field was not measured.
"""

from __future__ import annotations

import csv
import io
import statistics

from fourhop.community.network import Link, Network, Node, Note, Quality
from fourhop.community.place import Place
from fourhop.errors import FourhopError

BOUNDS: dict[Quality, tuple[float, float, str]] = {
    "snr": (-30.0, 100.0, "dB"),
    "etx": (1.0, 1000.0, ""),
    "loss": (0.0, 300.0, "dB"),
    "tq": (0.0, 1.0, ""),
    "rate": (0.0, 1e7, "Mbit/s"),
}
"""Minimum and maximum of each quantity, and its unit."""

_PLACES = (("x", "y"), ("lat", "lon"), ("latitude", "longitude"))
_KNOWN = (
    "name", "x", "y", "lat", "lon", "latitude", "longitude", "gateway", "channel", "antenna", "clients", "model",
    "forwards",
)  # fmt: skip

_ENDS = (("from", "to"), ("source", "target"))
_COLUMNS: dict[str, Quality] = {"snr": "snr", "etx": "etx", "loss": "loss", "tq": "tq", "rate": "rate", "mbps": "rate",
                                "mbit": "rate", "kbps": "rate", "kbit": "rate", "throughput": "rate"}  # fmt: skip
"""Prefixes of columns in a list of links, with their quantities."""

_KBPS = 1_000.0
"""Rates with a larger median are in kbit/s, as exported by B.A.T.M.A.N. V: radios of a mesh rarely reach 1 Gbit/s."""


def rows(text: str) -> list[list[str]]:
    """The fields of all non-empty lines, separated by commas, semicolons or tabs."""
    first = next(iter(text.splitlines()), "")
    mark = max(",;\t", key=first.count)
    return [[field.strip() for field in row] for row in csv.reader(io.StringIO(text), delimiter=mark) if any(row)]


def is_matrix(table: list[list[str]]) -> bool:
    """Whether the first column has the names of the first line."""
    return len(table) > 1 and [row[0] for row in table[1:]] == table[0][1:]


def is_list(table: list[list[str]]) -> bool:
    """Whether each line names the two ends of a link."""
    return any(set(pair) <= {name.lower() for name in table[0]} for pair in _ENDS) if table else False


def read_list(file: str, table: list[list[str]], quality: Quality | None) -> Network:
    """The links of a list with one line per measured direction."""
    head = [name.lower() for name in table[0]]
    source, target = next(pair for pair in _ENDS if set(pair) <= set(head))
    quantities = {name: kind for name in head for start, kind in _COLUMNS.items() if name.startswith(start)}
    fitting = [name for name, kind in quantities.items() if quality in (None, kind)]
    if not fitting or (quality is None and len(set(quantities.values())) > 1):
        found = ", ".join(head)
        allowed = f"a column that begins with one of {', '.join(_COLUMNS)}; if several do, choose with --values"
        raise FourhopError(f"{file}: line 1: found {found}, allowed: {allowed}")
    column = fitting[0]
    kind = quantities[column]
    values: dict[tuple[str, str], float] = {}
    names: dict[str, None] = {}
    for number, row in enumerate(table[1:], 2):
        if len(row) != len(head):
            raise FourhopError(f"{file}: line {number}: found {len(row)} fields, allowed: {len(head)}, as in line 1")
        fields = {key: Place(file, f"line {number}, {key}", value) for key, value in zip(head, row, strict=True)}
        ends = fields[source].text(), fields[target].text()
        names |= dict.fromkeys(ends)
        if ends[0] != ends[1] and fields[column].value not in _NOTHING:
            values[ends] = fields[column].number(*BOUNDS[kind])
    return _network(list(names), values, kind, column.startswith(("kbps", "kbit")))


def read_routes(file: str, text: str) -> list[tuple[str, str, str]]:
    """Given routes: node, destination, and next hop, by name."""
    table = rows(text)
    head = [name.lower() for name in table[0]] if table else []

    def of(*names: str) -> int:
        found = next((head.index(name) for name in names if name in head), None)
        if found is None:
            allowed = "columns `node` (or `from`), `to` and `via` (or `next`)"
            raise FourhopError(f"{file}: line 1: found {', '.join(head) or 'nothing'}, allowed: {allowed}")
        return found

    columns = (
        of("node", "from", "source"),
        of("to", "target", "destination"),
        of("via", "next", "next_hop", "next_most"),
    )
    short = next((n for n, row in enumerate(table[1:], 2) if len(row) != len(head)), None)
    if short is not None:
        raise FourhopError(f"{file}: line {short}: found {len(table[short - 1])} fields, allowed: {len(head)}")
    return [(row[columns[0]], row[columns[1]], row[columns[2]]) for row in table[1:]]


def read_places(file: str, table: list[list[str]]) -> Network:
    """The nodes of a table of positions."""
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
    notes = [Note("left out", "unknown columns", tuple(unknown))] if unknown else []
    return Network(nodes, in_metres=pair == ("x", "y"), notes=tuple(notes))


def _node(file: str, number: int, fields: dict[str, Place], pair: tuple[str, str]) -> Node:
    if "name" not in fields:
        raise FourhopError(f"{file}: line {number}, name: found nothing, allowed: a name")
    bounds = (
        ((-1e6, 1e6, "m"), (-1e6, 1e6, "m")) if pair == ("x", "y") else ((-90, 90, "degrees"), (-180, 180, "degrees"))
    )
    if len(fields.keys() & set(pair)) == 1:
        lacking = next(key for key in pair if key not in fields)
        raise FourhopError(
            f"{file}: line {number}, {lacking}: found nothing, allowed: both {' and '.join(pair)}, or neither"
        )
    ends = [fields[key].number(*limits) for key, limits in zip(pair, bounds, strict=True) if key in fields]
    name = fields["name"].text()
    return Node(
        name,
        name,
        (ends[0], ends[1]) if ends else None,
        uplink="gateway" in fields and fields["gateway"].flag(),
        clients=fields["clients"].whole(0, 100_000) if "clients" in fields else None,
        channels=fields["channel"].wholes(1, 233) if "channel" in fields else (),
        antenna_dbi=fields["antenna"].number(-30, 60, "dBi") if "antenna" in fields else None,
        model=fields["model"].text() if "model" in fields else None,
        forwards="forwards" not in fields or fields["forwards"].flag(),
    )


def read_matrix(file: str, table: list[list[str]], quality: Quality | None) -> Network:
    """The links of a matrix."""
    if quality is None:
        raise FourhopError(f"{file}: found a matrix; name its values with --values: {', '.join(BOUNDS)}")
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
            if value not in _NOTHING and name != row[0]:
                at = Place(file, f"line {number}, column {name}", value)
                values[row[0], name] = at.number(*BOUNDS[quality])
    return _network(names, values, quality)


_NOTHING = ("", "-", "nan", "inf")


def _network(
    names: list[str], values: dict[tuple[str, str], float], quality: Quality, in_kbps: bool = False
) -> Network:
    """The nodes and the measurements between all of them."""
    notes: list[Note] = []
    if quality == "rate":
        values = {ends: value for ends, value in values.items() if value > 0.0}
        if in_kbps or (values and statistics.median(values.values()) > _KBPS):
            values = {ends: value / 1e3 for ends, value in values.items()}
            notes.append(Note("assumed", "rates are in kbit/s, as B.A.T.M.A.N. V gives them"))
    links = [
        Link(one, other, "radio", quality, values.get((one, other)), values.get((other, one)))
        for i, one in enumerate(names)
        for other in names[i + 1 :]
        if (one, other) in values or (other, one) in values
    ]
    return Network({name: Node(name, name) for name in names}, tuple(links), notes=tuple(notes))
