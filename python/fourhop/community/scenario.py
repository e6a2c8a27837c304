"""A network as a scenario: positions, measured links, gateways, a radio, and the traffic of a busy hour."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fourhop.community import layout, links
from fourhop.community.channels import on_channels
from fourhop.community.choose import choose
from fourhop.community.document import document_of, put, toml
from fourhop.community.network import Link, Network, Note, components
from fourhop.community.options import Options, Unmeasured
from fourhop.community.radio import RADIOS, Radio, about_air, kind_of, radio_keys, top_mbps
from fourhop.community.traffic import carrying, flows, gateways_of, pairs, routes
from fourhop.errors import FourhopError
from fourhop.scenario import Scenario
from fourhop.text import count


@dataclass(frozen=True)
class Imported:
    """A scenario made from a network."""

    toml: str
    """The content of the file, with assumptions in comments."""
    scenario: Scenario
    network: Network
    """The simulated part of the network, in the order of its nodes."""
    gateways: tuple[str, ...]
    notes: tuple[Note, ...]

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, for programs."""
        return {
            "nodes": [node.name for node in self.network.nodes.values()],
            "links": len(self.network.links),
            "gateways": list(self.network.named(self.gateways)),
            "flows": [flow["name"] for flow in self.scenario.resolved["flows"]],
            "notes": [{"kind": note.kind, "text": note.text, "nodes": list(note.nodes)} for note in self.notes],
        }


def to_scenario(network: Network, options: Options | None = None, sources: str = "") -> Imported:
    """The scenario of a network; `sources` names its files. Raises `FourhopError`."""
    options = options or Options()
    if options.radio is not None and options.radio not in RADIOS:
        raise FourhopError(f"--radio: found {options.radio!r}, allowed: {', '.join(RADIOS)}")
    if not 1 <= options.flows <= 1000:
        raise FourhopError(f"--flows: found {options.flows}, allowed: a whole number from 1 to 1000")
    network = choose(on_channels(network), options.part, options.gateways)
    kind, about_radio = kind_of(network, options)
    network = replace(network, notes=(*network.notes, *about_radio))
    measured = bool(network.links)
    if not measured:
        network = _linked_by_distance(_with_places(network, sources), options, kind)
    neighbours = network.neighbours()
    network, gateways = (network, []) if options.pairs else gateways_of(network, neighbours)
    placeless = all(node.place is None for node in network.nodes.values())
    probe = _probe(options, kind).resolved["radio"]
    entries: list[dict[str, Any]] = []
    more: list[Note] = []
    if measured:
        entries, more = links.entries(network, links.Budget.of(probe), top_mbps(probe), options.carried)
    farthest_m = max((network.distance_m(link.source, link.target) or 0.0 for link in network.links), default=0.0)
    network = layout.placed(replace(network, notes=(*network.notes, *more)), gateways or list(network.nodes)[:1])
    # If routing lists rates, an unlisted link is no better than the path around it, but may be received well.
    usual: Unmeasured = "heard" if any(link.quality == "rate" for link in network.links) else "no-link"
    unmeasured = (options.unmeasured or ("silent" if placeless else usual)) if measured else "path-loss"
    document = document_of(network, gateways, entries, options, kind, unmeasured, farthest_m, routes(network, options))
    fading = [override for override in options.overrides if override.replace(" ", "").startswith("radio.fading=")]
    if entries and fading:
        # Shares that no link can have without fading become the nearest possible, as with `--set` on a file.
        probe_text = json.dumps({**document, "flows": [{"from": 0, "to": 1, "transport": "cubic"}]})
        document["losses"] = Scenario(probe_text, format="json", overrides=fading).resolved["losses"]
    for override in options.overrides:
        put(document, override)
    if options.pairs:
        document["flows"], about = pairs(network, options)
    else:
        document["flows"], about = flows(network, gateways, carrying(document, network), options)
    # Notes on the radio describe the file after `--set`.
    resolved = Scenario(toml(document, (), sources), f"{options.name}.toml").resolved
    notes = (*network.notes, *about_air(resolved, measured), *about)
    text = toml(document, notes, sources)
    return Imported(text, Scenario(text, f"{options.name}.toml"), network, tuple(gateways), notes)


def _with_places(network: Network, sources: str) -> Network:
    """Remove nodes without a position if only positions determine who hears whom."""
    lacking = [id_ for id_, node in network.nodes.items() if node.place is None]
    if len(network.nodes) - len(lacking) < 2:
        where = sources or "selection"
        name = network.nodes[lacking[0]].name
        raise FourhopError(f"{where}: found neither links nor a position for {name}; give every node one of them")
    if not lacking:
        return network
    note = Note(
        "left out", f"{count(len(lacking), 'node')} without a position: no links were measured", network.named(lacking)
    )
    return network.only(network.nodes.keys() - lacking, note)


def _probe(
    options: Options, kind: Radio, places: Sequence[Sequence[float]] = ((0.0, 0.0), (0.0, 1e-4)), metres: bool = False
) -> Scenario:
    """A scenario with only these nodes, to query the simulator about its radio."""
    radio, mac = radio_keys(options, kind)
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
        # Without measured links, `unmeasured` has no meaning.
        if override.startswith(("radio.", "mac.")) and not override.startswith("radio.unmeasured"):
            put(document, override)
    return Scenario.from_dict(document)


def _linked_by_distance(network: Network, options: Options, kind: Radio) -> Network:
    """The part connected by the links that the simulator finds, which are used only for their hops."""
    from fourhop.picture import Network as Survey

    places = [node.place for node in network.nodes.values() if node.place is not None]
    ids = list(network.nodes)
    found = Survey.of(_probe(options, kind, places, network.in_metres).resolved_json)
    linked = on_channels(replace(network, links=tuple(Link(ids[a], ids[b]) for (a, b) in found.pairs)))
    parts = components(linked.neighbours())
    parts = [part for part in parts if any(network.nodes[id_].uplink for id_ in part)] or parts
    note = Note("assumed", "no links were measured: distance alone decides who hears whom")
    if len(parts[0]) == len(ids) or options.part.component is None:
        return replace(linked, notes=(*linked.notes, note))
    if len(parts[0]) < 2:
        raise FourhopError("selection: found no two nodes in range of each other, allowed: at least two")
    if options.part.component > len(parts):
        raise FourhopError(
            f"--component: found {options.part.component}, allowed: a whole number from 1 to {len(parts)}"
        )
    part = parts[options.part.component - 1]
    left = Note("left out", f"{count(len(ids) - len(part), 'node')} out of reach of the others")
    return linked.only([id_ for id_ in ids if id_ in set(part)], note, left)
