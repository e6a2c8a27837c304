"""Assumptions about data missing in the file of a network, and options that replace them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from fourhop.community.choose import Part
from fourhop.community.links import CARRIED

Traffic = Literal["downloads", "uploads", "web"]
Unmeasured = Literal["path-loss", "heard", "no-link", "silent"]

FLOWS = 12
"""Default number of nodes with traffic at the same time."""


@dataclass(frozen=True)
class Options:
    """Data that is missing in the file."""

    part: Part = field(default_factory=Part)
    gateways: Sequence[str] = ()
    """Nodes, by name or id, with Internet access in addition to those in the file."""
    radio: str | None = None
    """`None`: chosen by the models of the routers and the measured rates, or 11g if neither is known."""
    traffic: Traffic = "downloads"
    flows: int = FLOWS
    unmeasured: Unmeasured | None = None
    """`None`: `heard` if rates were measured, `no-link` if shares were; `silent` without positions."""
    overrides: Sequence[str] = ()
    """`key=value`, as for `--set`."""
    name: str = "community"
    routes: Sequence[tuple[str, str, str]] = ()
    """Given next hops: node, destination and neighbour by name or id; those of nodes that are left out are ignored."""
    mcast_rate: str | None = None
    """Rate of the broadcasts that measured shares of frames; 6 Mbit/s if not given."""
    pairs: Sequence[tuple[str, str]] = ()
    """Transfers from node to node, by name or id, instead of traffic with the Internet."""
    carried: float = CARRIED
    """Share of a reported bit rate that a link carries before overhead."""
