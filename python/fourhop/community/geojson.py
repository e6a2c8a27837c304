"""GeoJSON (RFC 7946): a FeatureCollection whose points are nodes. Everything else is left out, with a note."""

from __future__ import annotations

from fourhop.community.meshviewer import BAD_POSITIONS
from fourhop.community.network import Network, Node, Note
from fourhop.community.place import Faults, Place
from fourhop.text import count

_NAMES = ("name", "hostname", "title", "id", "node_id")


def recognised(root: Place) -> bool:
    """Whether it is GeoJSON."""
    return isinstance(root.value, dict) and root.value.get("type") in ("FeatureCollection", "Feature")


def read(root: Place) -> Network:
    """The points in it."""
    collection = root.value["type"] == "FeatureCollection"
    features = root.need("features", "a list of features").items("a list of features") if collection else iter([root])
    nodes: dict[str, Node] = {}
    faults = Faults()
    others = 0
    for each in features:
        geometry = each.get("geometry")
        if geometry is None or geometry.need("type", "the kind of geometry").text() != "Point":
            others += 1
            continue
        node = _node(each, geometry, len(nodes), faults)
        if node.id in nodes:
            faults.note("points with a duplicate name", node.name)
        else:
            nodes[node.id] = node
    many = count(others, "feature other than a point", "features other than points")
    notes = [Note("left out", many)] if others else []
    return Network(nodes, notes=(*notes, *faults.notes()))


def _position(geometry: Place) -> tuple[float, float]:
    at = list(geometry.need("coordinates", "longitude and latitude").items("longitude and latitude"))
    if len(at) not in (2, 3):
        geometry.need("coordinates", "").refuse("longitude, latitude and perhaps a height")
    return at[1].number(-90, 90, "degrees"), at[0].number(-180, 180, "degrees")


def _node(each: Place, geometry: Place, number: int, faults: Faults) -> Node:
    said = each.get("properties")
    if said is None:
        bare = f"point-{number + 1}"
        return Node(bare, bare, faults.tried(BAD_POSITIONS, bare, lambda: _position(geometry)))

    def of(*keys: str) -> Place | None:
        return next((found for key in keys if (found := said.get(key)) is not None), None)

    name, uplink, clients = of(*_NAMES), of("gateway", "is_gateway", "uplink"), of("clients")
    channel, antenna = of("channel"), of("antenna", "antenna_gain", "antenna_dbi")
    id_ = f"point-{number + 1}" if name is None else name.text()
    return Node(
        id_,
        id_,
        faults.tried(BAD_POSITIONS, id_, lambda: _position(geometry)),
        (online := of("online", "is_online")) is None or online.flag(),
        uplink is not None and uplink.flag(),
        None if clients is None else clients.whole(0, 100_000),
        () if channel is None else channel.wholes(1, 233),
        None if antenna is None else antenna.number(-30, 60, "dBi"),
    )
