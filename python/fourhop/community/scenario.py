"""A network as a scenario: places, measured links, gateways, a radio, and the traffic of a busy hour."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fourhop import quantity
from fourhop.community import layout, links, routers
from fourhop.community.choose import Part, choose
from fourhop.community.network import Link, Network, Note, components, hops_from
from fourhop.errors import FourhopError
from fourhop.scenario import Scenario

Traffic = Literal["downloads", "uploads", "web"]
Unmeasured = Literal["path-loss", "no-link", "silent"]

TRAFFIC: dict[str, str] = {
    "downloads": "an endless download of each chosen node",
    "uploads": "an endless upload of each chosen node",
    "web": "files of 500 kB on average to each chosen node, with pauses that are shorter the more clients it has",
}

FLOWS = 12
"""Nodes with traffic at the same time, unless told otherwise."""

HOST = "internet"
"""Name of the host on the other side."""


PACKET_COST = "190us"
"""Time of the processor for a packet, where the model of a router does not say more: that of an AR9344 (`routers`)."""


@dataclass(frozen=True)
class Radio:
    """A kind of radio that all nodes have."""

    text: str
    """What it is,"""
    how: str
    """and how it chooses rates."""
    radio: dict[str, Any]
    """Keys of `[radio]`, `[mac]` and `[link]`."""
    mac: dict[str, Any]
    link: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def with_mcs(cls, text: str, phy: str, width: str, frequency: str, mcs: int = 7) -> Radio:
        """Of 802.11n or later with two streams, as most routers of communities have, and Linux's queues and rates."""
        sizes = {"mcs": mcs, "streams": 2, "width": width, "guard_interval": "400ns"}
        return cls(
            f"{text} in {width.removesuffix('MHz')} MHz, two streams, aggregates",
            "choose rates by Minstrel-HT, hold a queue with FQ-CoDel for each neighbour",
            {"phy": phy, **sizes, "basic_rate": "6Mbps", "frequency": frequency},
            {"rate_control": "minstrel", "answer_rate": "mandatory"},
            {"queue": "fq-codel", "packet_cost": PACKET_COST},
        )


_LEGACY = ({"rate": "54Mbps", "basic_rate": "6Mbps"}, {"rate_control": "aarf", "answer_rate": "mandatory"})
RADIOS: dict[str, Radio] = {
    "11g": Radio(
        "802.11g at 2.4 GHz",
        "choose rates by AARF",
        {"phy": "erp-ofdm", **_LEGACY[0], "frequency": "2437MHz"},
        _LEGACY[1],
    ),
    "11a": Radio(
        "802.11a at 5 GHz", "choose rates by AARF", {"phy": "ofdm", **_LEGACY[0], "frequency": "5240MHz"}, _LEGACY[1]
    ),
    "11n": Radio.with_mcs("802.11n at 2.4 GHz", "ht-2.4ghz", "20MHz", "2437MHz"),
    "11n-5ghz": Radio.with_mcs("802.11n at 5 GHz", "ht", "40MHz", "5190MHz"),
    "11ac": Radio.with_mcs("802.11ac at 5 GHz", "vht", "80MHz", "5210MHz", mcs=9),
}
"""By name."""

_AIR = {"model": "sinr", "tx_power": "20dBm", "exponent": 3.0, "fading": "rician", "rician_k": "6dB", "doppler": "2Hz"}
TRIES = 20
"""Of a frame before it is given up. The standard's 7 may end within one fade; Linux tries four rates several times."""

_WIRED = {"rate": "50Mbps", "delay": "15ms"}
_MARGIN_US = 2
"""`mac.propagation_margin` unless distances ask for more: 600 m."""
_LIGHT_M_US = 299.8


@dataclass(frozen=True)
class Options:
    """What the file does not say."""

    part: Part = field(default_factory=Part)
    gateways: Sequence[str] = ()
    """Nodes, by name or id, that have a way to the Internet besides those that the file names."""
    radio: str | None = None
    """`None`: by the models of the routers and the measured rates, 11g where neither says more."""
    traffic: Traffic = "downloads"
    flows: int = FLOWS
    unmeasured: Unmeasured | None = None
    """`None`: `no-link` where links were measured and places are known, `silent` without places."""
    overrides: Sequence[str] = ()
    """`key=value`, as for `--set`."""
    name: str = "community"
    routes: Sequence[tuple[str, str, str]] = ()
    """Given next hops: node, destination and neighbour by name or id; those of nodes that are left out do not count."""
    mcast_rate: str | None = None
    """Rate of broadcasts, by which shares of frames were measured; 6 Mbit/s if not given."""
    pairs: Sequence[tuple[str, str]] = ()
    """Transfers from node to node, by name or id, in place of traffic with the Internet."""


@dataclass(frozen=True)
class Imported:
    """A scenario made of a network."""

    toml: str
    """As it is written into the file, with what was assumed in comments."""
    scenario: Scenario
    network: Network
    """What of the network is in it, in the order of its nodes."""
    gateways: tuple[str, ...]
    notes: tuple[Note, ...]

    def to_dict(self) -> dict[str, Any]:
        """What became of it, for machines."""
        return {
            "nodes": [node.name for node in self.network.nodes.values()],
            "links": len(self.network.links),
            "gateways": list(self.network.named(self.gateways)),
            "flows": [flow["name"] for flow in self.scenario.resolved["flows"]],
            "notes": [{"kind": note.kind, "text": note.text, "nodes": list(note.nodes)} for note in self.notes],
        }


def to_scenario(network: Network, options: Options | None = None, sources: str = "") -> Imported:
    """The scenario of a network, `sources` being where it came from. Raises `FourhopError`."""
    options = options or Options()
    if options.radio is not None and options.radio not in RADIOS:
        raise FourhopError(f"--radio: found {options.radio!r}, allowed: {', '.join(RADIOS)}")
    if not 1 <= options.flows <= 1000:
        raise FourhopError(f"--flows: found {options.flows}, allowed: a whole number from 1 to 1000")
    network = choose(_on_channels(network), options.part, options.gateways)
    kind, about_radio = _kind(network, options)
    network = replace(network, notes=(*network.notes, *about_radio))
    measured = bool(network.links)
    if not measured:
        network = _linked_by_distance(_with_places(network, sources), options, kind)
    neighbours = network.neighbours()
    network, gateways = (network, []) if options.pairs else _gateways(network, neighbours)
    placeless = all(node.place is None for node in network.nodes.values())
    probe = _probe(options, kind).resolved["radio"]
    entries, more = links.entries(network, links.Budget.of(probe), _top_mbps(probe)) if measured else ([], [])
    farthest_m = max((network.distance_m(link.source, link.target) or 0.0 for link in network.links), default=0.0)
    network = layout.placed(replace(network, notes=(*network.notes, *more)), gateways or list(network.nodes)[:1])
    unmeasured = (options.unmeasured or ("silent" if placeless else "no-link")) if measured else "path-loss"
    document = _document(network, gateways, entries, options, kind, unmeasured, farthest_m)
    fading = [override for override in options.overrides if override.replace(" ", "").startswith("radio.fading=")]
    if entries and fading:
        # Shares that no link has without fading become the nearest that there are, as where `--set` meets a file.
        probe_text = json.dumps({**document, "flows": [{"from": 0, "to": 1, "transport": "cubic"}]})
        document["losses"] = Scenario(probe_text, format="json", overrides=fading).resolved["losses"]
    for override in options.overrides:
        _put(document, override)
    if options.pairs:
        flows, about = _pairs(network, options)
    else:
        flows, about = _flows(network, gateways, _carrying(document, network), options)
    document["flows"] = flows
    # What is said of the air is what the file has after `--set`.
    resolved = Scenario(_toml(document, (), sources), f"{options.name}.toml").resolved
    notes = (*network.notes, *_about_air(resolved, measured), *about)
    text = _toml(document, notes, sources)
    return Imported(text, Scenario(text, f"{options.name}.toml"), network, tuple(gateways), notes)


def _with_places(network: Network, sources: str) -> Network:
    """Without nodes that have no place, where nothing but places says who hears whom."""
    lacking = [id_ for id_, node in network.nodes.items() if node.place is None]
    if len(network.nodes) - len(lacking) < 2:
        where = sources or "what was chosen"
        name = network.nodes[lacking[0]].name
        raise FourhopError(f"{where}: found no links, and no place of {name}, allowed: one of the two for each node")
    if not lacking:
        return network
    note = Note("left out", f"{len(lacking)} nodes without a place: no links were measured", network.named(lacking))
    return network.only(network.nodes.keys() - lacking, note)


def _kind(network: Network, options: Options) -> tuple[Radio, list[Note]]:
    """The kind of radio: as asked for, else what the models of the routers and the measured rates say."""
    known = {id_: router for id_, node in network.nodes.items() if node.model and (router := routers.find(node.model))}
    unknown = [node.model for id_, node in network.nodes.items() if node.model and id_ not in known]
    rates = [value for link in network.links if link.quality == "rate" for value in (link.there, link.back) if value]
    notes = []
    if unknown:
        notes.append(
            Note("missing", f"{len(unknown)} models of routers that are not known", tuple(dict.fromkeys(unknown)))
        )
    name = options.radio
    if name is None:
        modern = len(known) * 2 >= len(network.nodes) or max(rates, default=0.0) > _TOP_LEGACY
        name = ("11n-5ghz" if rates else "11n") if modern else "11g"
    kind = RADIOS[name]
    if "mcs" not in kind.radio:
        return kind, notes
    streams = routers.usual_streams(known.values(), "2.4" if name == "11n" else "5") or kind.radio["streams"]
    keys = {**kind.radio, "streams": streams}
    if rates and name == "11n-5ghz" and sorted(rates)[int(0.95 * (len(rates) - 1))] <= _TOP_HT20 * streams * 1.05:
        keys["width"] = "20MHz"
        notes.append(Note("missing", "the width of channels; 20 MHz, as hardly a link has a rate that needs more"))
    return replace(kind, radio=keys), notes


_TOP_LEGACY = 54.0
_TOP_HT20 = 72.2
"""Highest rates in Mbit/s: of 802.11g, and of a stream of 802.11n in 20 MHz."""


def _top_mbps(radio: dict[str, Any]) -> float:
    """The highest rate of a resolved `[radio]`."""
    return quantity.parse(radio["rate"]).value / 1e6


def _radio(options: Options, kind: Radio) -> tuple[dict[str, Any], dict[str, Any]]:
    long = "64kB" if kind.link else "3kB"
    radio = {**_AIR, **kind.radio} | ({} if options.mcast_rate is None else {"basic_rate": options.mcast_rate})
    return radio, {**kind.mac, "rts_threshold": long, "short_retry_limit": TRIES}


def _probe(
    options: Options, kind: Radio, places: Sequence[Sequence[float]] = ((0.0, 0.0), (0.0, 1e-4)), metres: bool = False
) -> Scenario:
    """A scenario with these nodes alone, by which the simulator says what its radio does."""
    radio, mac = _radio(options, kind)
    shape = "positions" if metres else "coordinates"
    listed = [[f"{a}m", f"{b}m"] if metres else [a, b] for a, b in places]
    document: dict[str, Any] = {
        "profile": "standard",
        "duration": "10s",
        "topology": {"kind": shape, shape: listed},
        "radio": radio,
        "mac": mac,
        "flows": [{"from": 0, "to": 1, "transport": "cubic"}],
    }
    for override in options.overrides:
        if override.startswith(("radio.", "mac.")):
            _put(document, override)
    return Scenario.from_dict(document)


def _linked_by_distance(network: Network, options: Options, kind: Radio) -> Network:
    """The part that hangs together by the links that the simulator finds; they are in it for their hops alone."""
    from fourhop.picture import Network as Survey

    places = [node.place for node in network.nodes.values() if node.place is not None]
    ids = list(network.nodes)
    found = Survey.of(_probe(options, kind, places, network.in_metres).resolved_json)
    linked = _on_channels(replace(network, links=tuple(Link(ids[a], ids[b]) for (a, b) in found.pairs)))
    parts = components(linked.neighbours())
    parts = [part for part in parts if any(network.nodes[id_].uplink for id_ in part)] or parts
    note = Note("assumed", "no links were measured: distance alone decides who hears whom")
    if len(parts[0]) == len(ids) or options.part.component is None:
        return replace(linked, notes=(*linked.notes, note))
    if len(parts[0]) < 2:
        raise FourhopError("what was chosen: found no two nodes in reach of each other, allowed: at least two")
    if options.part.component > len(parts):
        raise FourhopError(
            f"--component: found {options.part.component}, allowed: a whole number from 1 to {len(parts)}"
        )
    part = parts[options.part.component - 1]
    left = Note("left out", f"{len(ids) - len(part)} nodes out of reach of the others")
    return linked.only([id_ for id_ in ids if id_ in set(part)], note, left)


def _gateways(network: Network, neighbours: dict[str, list[str]]) -> tuple[Network, list[str]]:
    """The nodes with a way to the Internet, or the most central one."""
    found = [id_ for id_, node in network.nodes.items() if node.uplink]
    if found:
        return network, found

    def far(id_: str) -> tuple[int, int]:
        hops = hops_from(neighbours, [id_])
        return -len(hops), sum(hops.values())

    centre = min(network.nodes, key=far)
    name = network.nodes[centre].name
    note = Note("missing", "a gateway; the node with the fewest hops to all others is taken for one", (name,))
    return replace(network, notes=(*network.notes, note)), [centre]


def _pairs(network: Network, options: Options) -> tuple[list[dict[str, Any]], list[Note]]:
    """A transfer for each pair that was asked for."""
    names = _names(network)
    ids = {name: number for number, (id_, node) in enumerate(network.nodes.items()) for name in (node.name, id_)}
    made = []
    for ends in options.pairs:
        for end in ends:
            if end not in ids:
                some = ", ".join(sorted(ids)[:8])
                raise FourhopError(
                    f"--pair: found {end!r}, allowed: the name of a node that is simulated, such as {some}"
                )
        listed = list(names.values())
        name = "-to-".join(listed[ids[end]] for end in ends)
        made.append({"name": name, "from": ids[ends[0]], "to": ids[ends[1]], "transport": "cubic"})
    return made, [Note("assumed", f"traffic: an endless transfer of each of {len(made)} pairs")]


def _routes(network: Network, options: Options) -> list[dict[str, Any]]:
    """Given routes between nodes that are there."""
    ids = {name: number for number, (id_, node) in enumerate(network.nodes.items()) for name in (node.name, id_)}
    known = [route for route in options.routes if all(name in ids for name in route)]
    return [{"node": ids[node], "to": ids[to], "via": ids[via]} for node, to, via in known]


def _carrying(document: dict[str, Any], network: Network) -> dict[str, list[str]]:
    """For each node those that it can exchange packets with in the model: some measured links are too weak."""
    from fourhop.picture import Network as Survey

    probe = {**document, "flows": [{"from": 0, "to": 1, "transport": "cubic"}]}
    found = Survey.of(Scenario.from_dict(probe).resolved_json)
    ids = list(network.nodes)
    links = tuple(Link(ids[a], ids[b]) for (a, b), (_, both) in found.pairs.items() if both)
    return replace(network, links=links).neighbours()


def _flows(
    network: Network, gateways: Sequence[str], neighbours: dict[str, list[str]], options: Options
) -> tuple[list[dict[str, Any]], list[Note]]:
    """Traffic of some nodes that a path of links joins to a gateway, spread evenly over all distances."""
    hops = hops_from(neighbours, gateways)
    reached = [id_ for id_ in network.nodes if hops.get(id_, 0) > 0]
    used = [id_ for id_ in reached if network.nodes[id_].clients != 0] or reached
    if not used:
        raise FourhopError(
            "what was chosen: found no node besides gateways whose radio links carry as far as one, allowed: at least "
            "one; another --component or --gateway may have some"
        )
    cut = [id_ for id_ in network.nodes if id_ not in hops]
    ordered = sorted(used, key=lambda id_: hops[id_])
    count = min(options.flows, len(ordered))
    chosen = [ordered[(2 * i + 1) * len(ordered) // (2 * count)] for i in range(count)]
    numbers = {id_: number for number, id_ in enumerate(network.nodes)}
    names = _names(network)
    made = []
    for id_ in chosen:
        ends = (numbers[id_], HOST) if options.traffic == "uploads" else (HOST, numbers[id_])
        flow: dict[str, Any] = {"name": names[id_], "from": ends[0], "to": ends[1], "transport": "cubic"}
        if options.traffic == "web":
            clients = max(1, network.nodes[id_].clients or 1)
            pause = f"{max(1.0, 30.0 / clients):.1f}s"
            flow |= {"app": "files", "mean_size": "500kB", "mean_pause": pause, "connection": "fresh"}
        made.append(flow)
    text = f"traffic: {TRAFFIC[options.traffic]}; {count} of {len(reached)} nodes, spread over all distances"
    notes = [Note("assumed", text)]
    if cut:
        notes.append(Note("left out", f"traffic of {len(cut)} nodes without a path to a gateway", network.named(cut)))
    return made, notes


def _about_air(resolved: dict[str, Any], measured: bool) -> list[Note]:
    radio, mac, link = (resolved[key] for key in ("radio", "mac", "link"))
    band = "2.4" if quantity.parse(radio["frequency"]).value < 3e9 else "5"
    name = _STANDARDS.get(radio["phy"], radio["phy"])
    if "mcs" in radio:
        streams = {1: "one stream", 2: "two streams"}.get(radio["streams"], f"{radio['streams']} streams")
        aggregates = ", aggregates" if resolved["mac"].get("aggregation", True) else ""
        kind = f"{name} at {band} GHz in {radio['width'].removesuffix('MHz')} MHz, {streams}{aggregates}"
    else:
        kind = f"{name} at {band} GHz"
    control = {"minstrel": "by Minstrel-HT", "aarf": "by AARF"}.get(mac["rate_control"], f"by {mac['rate_control']!r}")
    cost = f"; a packet costs their processors {link['packet_cost']}" if link["packet_cost"] != "0s" else ""
    queue = ", hold a queue with FQ-CoDel for each neighbour" if link["queue"] == "fq-codel" else ""
    text = (
        f"all radios are {kind} with {radio['tx_power']}, choose rates {control}{queue} and try a frame "
        f"{mac['short_retry_limit']} times{cost}, unless their model says otherwise"
        if cost
        else f"all radios are {kind} with {radio['tx_power']}, choose rates {control}{queue} and try a frame "
        f"{mac['short_retry_limit']} times"
    )
    how = {
        "path-loss": "distance decides about pairs without a measured link",
        "no-link": "pairs without a measured link disturb each other by their distance, but carry nothing",
        "silent": "pairs without a measured link have nothing of each other",
    }
    if resolved["routing"]["protocol"] == "static":
        metric = {"ett": "of the least expected time", "hops": "with the fewest hops"}.get(
            resolved["routing"]["metric"], f"of the least {resolved['routing']['metric']}"
        )
        routes = f"routes are those {metric} and stand still"
    else:
        routes = f"routes are those of {resolved['routing']['protocol']}"
    said = [Note("assumed", text), Note("assumed", routes)]
    return [*said, *([Note("assumed", how[radio["unmeasured"]])] if measured else [])]


_STANDARDS = {
    "erp-ofdm": "802.11g", "ofdm": "802.11a", "ht-2.4ghz": "802.11n", "ht": "802.11n", "vht": "802.11ac",
    "he": "802.11ax", "he-2.4ghz": "802.11ax",
}  # fmt: skip


def _on_channels(network: Network) -> Network:
    """With a channel for every node where some are known, and the links between nodes that share one."""
    known = [channel for node in network.nodes.values() for channel in node.channels]
    if len(set(known)) < 2:
        return network
    usual = max(dict.fromkeys(known), key=known.count)
    lacking = [id_ for id_, node in network.nodes.items() if not node.channels]
    nodes = {id_: replace(node, channels=node.channels or (usual,)) for id_, node in network.nodes.items()}

    def shared(link: Link) -> bool:
        return link.medium != "radio" or bool(set(nodes[link.source].channels) & set(nodes[link.target].channels))

    links = tuple(link for link in network.links if shared(link))
    notes = list(network.notes)
    if lacking:
        text = f"channels of {len(lacking)} nodes; they have {usual}, as most"
        notes.append(Note("missing", text, network.named(lacking)))
    if len(links) < len(network.links):
        notes.append(Note("left out", f"{len(network.links) - len(links)} links between nodes on different channels"))
    return replace(network, nodes=nodes, links=links, notes=tuple(notes))


def _radios(network: Network) -> list[dict[str, Any]]:
    """The channel plan; none where all nodes share a channel."""
    channels = sorted({channel for node in network.nodes.values() for channel in node.channels})
    if len(channels) < 2:
        return []
    listed = list(network.nodes.values())
    return [
        {"channel": channel, "nodes": [n for n, node in enumerate(listed) if channel in node.channels]}
        for channel in channels
    ]


def _names(network: Network) -> dict[str, str]:
    """Names as a scenario takes them: a line of at most 64 characters without a comma, each once, and not `n3`."""
    taken: set[str] = set()
    names = {}
    for number, (id_, node) in enumerate(network.nodes.items()):
        # Room is left for what is put before and after it.
        visible = (" " if unicodedata.category(it) in ("Cc", "Zl", "Zp") or it == "," else it for it in node.name)
        plain = " ".join("".join(visible).split())[:52].strip() or f"node-{number}"
        plain = f"node-{plain}" if re.fullmatch(r"n\d+|localhost|gateway-\d+", plain) or plain == HOST else plain
        name, again = plain, 2
        while name in taken:
            name, again = f"{plain}-{again}", again + 1
        taken.add(name)
        names[id_] = name
    return names


def _document(
    network: Network,
    gateways: list[str],
    entries: list[dict[str, Any]],
    options: Options,
    kind: Radio,
    unmeasured: str,
    farthest_m: float,
) -> dict[str, Any]:
    radio, mac = _radio(options, kind)
    numbers = {id_: number for number, id_ in enumerate(network.nodes)}
    names = _names(network)
    places = [node.place for node in network.nodes.values() if node.place is not None]
    if network.in_metres:
        topology: dict[str, Any] = {"kind": "positions", "positions": [[f"{a:.1f}m", f"{b:.1f}m"] for a, b in places]}
    else:
        topology = {"kind": "coordinates", "coordinates": [[round(a, 6), round(b, 6)] for a, b in places]}
    margin_us = int(farthest_m / _LIGHT_M_US) + 1
    if margin_us > _MARGIN_US:
        mac["propagation_margin"] = f"{margin_us}us"
    nodes: list[dict[str, Any]] = []
    for id_, node in network.nodes.items():
        gain = {} if node.antenna_dbi is None else {"antenna_gain": f"{node.antenna_dbi:g}dB"}
        router = routers.find(node.model) if node.model and kind.link else None
        cost = {} if router is None else {"packet_cost": f"{router.packet_cost_us}us"}
        ends = {} if node.forwards else {"forwards": False}
        nodes.append({"node": numbers[id_], "name": names[id_], **gain, **cost, **ends})
    wired = {
        "wired": {"gateways": [numbers[id_] for id_ in gateways], "nodes": [HOST], **_WIRED},
        # Radios that have FQ-CoDel themselves fill their aggregates from it.
        "gateway": {"kind": "plain" if kind.link else "fq-codel"},
    }
    return {
        "name": options.name,
        "profile": "standard",
        "duration": "40s",
        "warmup": "10s",
        "topology": topology,
        "radio": radio | ({"unmeasured": unmeasured} if entries and unmeasured != "path-loss" else {}),
        "mac": mac,
        "link": {"arp": False, **kind.link},
        "routing": {"protocol": "static", "metric": "ett", "metric_over_fades": True},
        **({} if options.pairs else wired),
        "nodes": nodes,
        "radios": _radios(network),
        "losses": entries,
        "routes": _routes(network, options),
    }


def _put(document: dict[str, Any], override: str) -> None:
    """Put `section.key=value` into a document; what the value is, the checker of scenarios says."""
    path, mark, written = override.partition("=")
    *sections, key = path.strip().split(".")
    if not mark or not key or len(sections) > 1 or isinstance(document.get(sections[0] if sections else key), list):
        raise FourhopError(f"--set: found {override!r}, allowed: SECTION.KEY=VALUE, as radio.exponent=2.5")
    try:
        value = tomllib.loads(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        value = written.strip()
    (document.setdefault(sections[0], {}) if sections else document)[key] = value
    # What a value makes meaningless goes, as it does where `--set` meets a file.
    if path.strip() == "radio.fading":
        gone = {"rician": (), "rayleigh": ("rician_k",)}.get(str(value), ("rician_k", "doppler"))
        document["radio"] = {key: value for key, value in document["radio"].items() if key not in gone}


def _toml(document: dict[str, Any], notes: Sequence[Note], sources: str) -> str:
    """The document as people would write it, a line an entry of the lists."""
    lines = [
        f"# {line}"
        for line in (f"Made by `fourhop import` from {sources}." if sources else "Made by `fourhop import`.",)
    ]
    lines += [f"# {note}" for note in notes]
    lines += [f"{key} = {_value(value)}" for key, value in document.items() if not isinstance(value, dict | list)]
    for section, keys in document.items():
        if isinstance(keys, dict):
            lines += ["", f"[{section}]"]
            for key, value in keys.items():
                if key in ("coordinates", "positions"):
                    lines += [f"{key} = [", *(f"    {_value(each)}," for each in value), "]"]
                else:
                    lines.append(f"{key} = {_value(value)}")
    for section, listed in document.items():
        if isinstance(listed, list):
            for each in listed:
                lines += ["", f"[[{section}]]", *(f"{key} = {_value(value)}" for key, value in each.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
