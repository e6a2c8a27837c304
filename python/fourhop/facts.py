"""Facts about a scenario that sweeps and results need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fourhop.quantity import seconds


class Facts(NamedTuple):
    """Values that a sweep reads from each scenario again and again; the scenario is parsed only once for them."""

    name: str
    seed: int
    duration_s: float
    packets: int | None
    records_series: bool
    flow_count: int

    @classmethod
    def of(cls, resolved: Mapping[str, Any]) -> Facts:
        """The facts of a resolved scenario."""
        packets = resolved.get("packets", "none")
        return cls(
            name=str(resolved["name"]),
            seed=int(resolved["seed"]),
            duration_s=seconds(str(resolved["duration"])),
            packets=None if packets == "none" else int(packets),
            records_series=resolved["sample_every"] != "none",
            flow_count=int(resolved.get("traffic", {}).get("pairs", 0)) + len(resolved.get("flows", [])),
        )
