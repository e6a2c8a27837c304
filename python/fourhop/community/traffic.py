"""Choose the traffic: gateways, the nodes with traffic or the requested pairs, and given routes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fourhop.community.document import HOST, names_of
from fourhop.community.network import Link, Network, Note, hops_from
from fourhop.community.options import Options
from fourhop.errors import FourhopError
from fourhop.scenario import Scenario
from fourhop.text import count

TRAFFIC: dict[str, str] = {
    "downloads": "an endless download of each chosen node",
    "uploads": "an endless upload of each chosen node",
    "web": "files of 500 kB on average to each chosen node; more clients mean shorter pauses",
}


def gateways_of(network: Network, neighbours: dict[str, list[str]]) -> tuple[Network, list[str]]:
    """The nodes with Internet access, or the most central node."""
    found = [id_ for id_, node in network.nodes.items() if node.uplink]
    if found:
        return network, found

    def far(id_: str) -> tuple[int, int]:
        hops = hops_from(neighbours, [id_])
        return -len(hops), sum(hops.values())

    centre = min(network.nodes, key=far)
    name = network.nodes[centre].name
    note = Note("missing", "a gateway; the node with the fewest hops to all others is used as one", (name,))
    return replace(network, notes=(*network.notes, note)), [centre]


def pairs(network: Network, options: Options) -> tuple[list[dict[str, Any]], list[Note]]:
    """A transfer for each requested pair."""
    names = names_of(network)
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
    return made, [
        Note(
            "assumed",
            f"traffic: an endless transfer of {'the pair' if len(made) == 1 else f'each of {len(made)} pairs'}",
        )
    ]


def routes(network: Network, options: Options) -> list[dict[str, Any]]:
    """Given routes between nodes of the network."""
    ids = {name: number for number, (id_, node) in enumerate(network.nodes.items()) for name in (node.name, id_)}
    known = [route for route in options.routes if all(name in ids for name in route)]
    return [{"node": ids[node], "to": ids[to], "via": ids[via]} for node, to, via in known]


def carrying(document: dict[str, Any], network: Network) -> dict[str, list[str]]:
    """The nodes that each node can exchange packets with in the model: some measured links are too weak."""
    from fourhop.picture import Network as Survey

    # From the wired side, as two gateways may have no path of radio links.
    probe = {**document, "flows": [{"from": HOST, "to": 0, "transport": "cubic"}]}
    found = Survey.of(Scenario.from_dict(probe).resolved_json)
    ids = list(network.nodes)
    links = tuple(Link(ids[a], ids[b]) for (a, b), (_, both) in found.pairs.items() if both)
    return replace(network, links=links).neighbours()


def flows(
    network: Network, gateways: Sequence[str], neighbours: dict[str, list[str]], options: Options
) -> tuple[list[dict[str, Any]], list[Note]]:
    """Traffic of some nodes with a path to a gateway, spread evenly over all distances."""
    hops = hops_from(neighbours, gateways)
    reached = [id_ for id_ in network.nodes if hops.get(id_, 0) > 0]
    used = [id_ for id_ in reached if network.nodes[id_].clients != 0] or reached
    if not used:
        raise FourhopError(
            "selection: found no node with a path of radio links to a gateway, allowed: at least "
            "one; try another --component or --gateway"
        )
    cut = [id_ for id_ in network.nodes if id_ not in hops]
    ordered = sorted(used, key=lambda id_: hops[id_])
    many = min(options.flows, len(ordered))
    chosen = [ordered[(2 * i + 1) * len(ordered) // (2 * many)] for i in range(many)]
    numbers = {id_: number for number, id_ in enumerate(network.nodes)}
    names = names_of(network)
    made = []
    for id_ in chosen:
        ends = (numbers[id_], HOST) if options.traffic == "uploads" else (HOST, numbers[id_])
        flow: dict[str, Any] = {"name": names[id_], "from": ends[0], "to": ends[1], "transport": "cubic"}
        if options.traffic == "web":
            clients = max(1, network.nodes[id_].clients or 1)
            pause = f"{max(1.0, 30.0 / clients):.1f}s"
            flow |= {"app": "files", "mean_size": "500kB", "mean_pause": pause, "connection": "fresh"}
        made.append(flow)
    text = f"traffic: {TRAFFIC[options.traffic]}; {many} of {count(len(reached), 'node')}, spread over all distances"
    notes = [Note("assumed", text)]
    if cut:
        notes.append(
            Note("left out", f"traffic of {count(len(cut), 'node')} without a path to a gateway", network.named(cut))
        )
    return made, notes
