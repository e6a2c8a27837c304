"""Assumptions about data that the file of a network lacks, and options that replace them."""

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
    """Data that the file lacks."""

    part: Part = field(default_factory=Part)
    gateways: Sequence[str] = ()
    """Nodes, by name or id, that have a way to the Internet besides those that the file names."""
    radio: str | None = None
    """`None`: by the models of the routers and the measured rates, 11g where neither says more."""
    traffic: Traffic = "downloads"
    flows: int = FLOWS
    unmeasured: Unmeasured | None = None
    """`None`: `heard` where rates were measured, `no-link` where shares were; `silent` without places."""
    overrides: Sequence[str] = ()
    """`key=value`, as for `--set`."""
    name: str = "community"
    routes: Sequence[tuple[str, str, str]] = ()
    """Given next hops: node, destination and neighbour by name or id; those of nodes that are left out do not count."""
    mcast_rate: str | None = None
    """Rate of broadcasts, by which shares of frames were measured; 6 Mbit/s if not given."""
    pairs: Sequence[tuple[str, str]] = ()
    """Transfers from node to node, by name or id, in place of traffic with the Internet."""
    carried: float = CARRIED
    """Share of a reported bit rate that a link carries before overhead."""
