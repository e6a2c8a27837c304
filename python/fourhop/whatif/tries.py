"""Trials on a network: its present state, and one change at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fourhop.community.network import hops_from
from fourhop.errors import FourhopError, ScenarioError
from fourhop.picture import Network
from fourhop.scenario import Scenario, catalog

TODAY = "today"

PLACES = 3
"""Number of gateway locations tried: those with the fewest hops to all nodes."""

SHORT_QUEUE = "50ms"
"""Target waiting time of packets at the pacing gateway, see docs/tcp-gap.md."""


@dataclass(frozen=True)
class Try:
    """One possible change."""

    name: str
    label: str
    """Its heading."""
    what: str
    """The change in words."""
    scenario: Scenario = field(repr=False)


@dataclass(frozen=True)
class Tries:
    """All trials on a network, and the omitted ones with the reasons."""

    today: Try
    changes: tuple[Try, ...]
    left_out: tuple[tuple[str, str], ...]
    network: Network

    @property
    def all(self) -> tuple[Try, ...]:
        """All trials, beginning with today."""
        return (self.today, *self.changes)


def tries(given: Scenario, places: int = PLACES) -> Tries:
    """The changes to try on the network of a scenario. Raises `FourhopError` if it has no TCP flows."""
    resolved = given.resolved
    traffic = [*filter(None, [resolved.get("traffic")]), *resolved.get("flows", [])]
    if all(each["transport"] in ("udp", "ping", "atp") for each in traffic):
        raise FourhopError("whatif: found no TCP flow; add one, because whatif compares speeds of TCP")
    wired = "wired" in resolved
    base = given.with_(transport="cubic")
    network = Network.of(base.resolved_json)
    if not wired:
        today = Try(TODAY, "today's setup", "CUBIC, as Linux and Android have it", base)
        changes, left_out = _transports(base, network, wired)
        return Tries(today, tuple(changes), tuple(left_out), network)
    in_radios = resolved["link"]["queue"] == "fq-codel"
    base = base.with_(**{"gateway.kind": "plain" if in_radios else "fq-codel"})
    where = "for each neighbour of every radio" if in_radios else "at the gateway"
    today = Try(TODAY, "today's setup", f"CUBIC at all senders, FQ-CoDel {where}, as OpenWrt has it", base)
    without = (
        Try("plain", "radios without FQ-CoDel", "Each radio has one queue of 50 packets, as before 2017",
            base.with_(**{"link.queue": "drop-tail"}))
        if in_radios
        else Try("plain", "gateway without FQ-CoDel", "The gateway has no queue management, as before 2014",
                 base.with_(**{"gateway.kind": "plain"}))
    )  # fmt: skip
    changes = [
        Try(
            "paced", "pacing gateway",
            f"The gateway paces traffic into the mesh (TCP-GAP) and keeps its queue at {SHORT_QUEUE}; nothing "
            "else changes (docs/gateway.md)",
            base.with_(**{"gateway.kind": "gap", "gateway.sojourn": SHORT_QUEUE}),
        ),
        Try(
            "paced-long", "pacing gateway, long queue",
            "The same with the paper's queue, as large as the receivers' windows",
            base.with_(**{"gateway.kind": "gap"}),
        ),
        without,
    ]  # fmt: skip
    transports, left_out = _transports(base, network, wired)
    moved, more = _places(base, network, resolved, places)
    return Tries(today, (*changes, *transports, *moved), (*left_out, *more), network)


def _transports(base: Scenario, network: Network, wired: bool) -> tuple[list[Try], list[tuple[str, str]]]:
    known = catalog()["transports"]
    made = [Try("reno", "Reno", "All senders use Reno instead of CUBIC", base.with_(transport="reno"))]
    left_out = []
    if "bbr" in known:
        made.append(Try("bbr", "BBR", "All senders use BBR instead of CUBIC", base.with_(transport="bbr")))
    else:
        left_out.append(("BBR", "this version has no BBR"))
    inside = [flow["from"] is not None for flow in network.flows]
    if all(inside) or not wired:
        keys: dict[str, Any] = {"gateway.kind": "gap"} if wired else {}
        what = "All senders pace themselves (TCP-AP)" + (", the gateway the others (TCP-GAP)" if wired else "")
        made.append(Try("tcp-ap", "TCP-AP", what, base.with_(transport="tcp-ap", **keys)))
    else:
        left_out.append(
            ("TCP-AP", "some senders are on the Internet, where TCP-AP does not know the mesh; see the pacing gateway")
        )
    if all(flow["from"] is not None and flow["to"] is not None for flow in network.flows):
        try:
            c3 = base.with_(**{"transport": "newreno", "c3tcp.enabled": True})
            made.append(Try("c3tcp", "C3TCP", "Every node measures what its links carry and tells TCP", c3))
        except ScenarioError as error:
            # Such as aggregates or several radios.
            left_out.append(("C3TCP", f"the scenario does not allow it ({error})"))
    else:
        left_out.append(("C3TCP", "some ends of flows are on the Internet, and all have to run it"))
    return made, left_out


def _places(
    base: Scenario, network: Network, resolved: dict[str, Any], most: int
) -> tuple[list[Try], list[tuple[str, str]]]:
    """Gateways elsewhere: instead of the only one, and in addition to existing ones."""
    ends = {end for flow in network.flows for end in (flow["from"], flow["to"]) if end is not None}
    neighbours: dict[str, list[str]] = {str(n): [] for n in range(len(network.places))}
    for (a, b), (_, both) in network.pairs.items():
        if both:
            neighbours[str(a)].append(str(b))
            neighbours[str(b)].append(str(a))

    def far(gateways: Sequence[int]) -> tuple[int, int]:
        """Number of unreachable ends, and total number of hops of all others."""
        hops = hops_from(neighbours, list(map(str, gateways)))
        reached = [hops[str(end)] for end in ends if str(end) in hops]
        return len(ends) - len(reached), sum(reached)

    here = network.gateways
    free = [n for n in range(len(network.places)) if n not in ends and n not in here and neighbours[str(n)]]
    names = {
        each["node"]: each["name"]
        for each in resolved.get("nodes", [])
        if "name" in each and isinstance(each["node"], int)
    }
    made: list[Try] = []
    left_out = []
    if not free:
        return [], [("other places for a gateway", "all nodes have their own traffic or are gateways")]
    kinds = [("further gateway", here, "has an Internet connection, too")]
    if len(here) == 1:
        kinds.insert(0, ("gateway", [], "has the Internet connection instead of the present gateway"))
    for kind, kept, what in kinds:
        distances = {n: far([*kept, n]) for n in free}
        better = sorted((n for n in free if distances[n] < far(here)), key=lambda n: distances[n])[:most]
        if not better:
            left_out.append((f"{kind} elsewhere", "no node without traffic has fewer hops to the others"))
        for n in better:
            name = names.get(n, f"node {n}")
            try:
                moved = base.with_(**{"wired.gateways": [*kept, n]})
            except FourhopError:
                left_out.append((f"{kind} at {name}", "the file has its own [[wires]]"))
                continue
            made.append(Try(f"{kind.replace(' ', '-')}-{n}", f"{kind} at {name}", f"{name} {what}", moved))
    return made, left_out
