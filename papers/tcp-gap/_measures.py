"""What the studies with short files share, and what gateways count."""

from __future__ import annotations

from fourhop.study.flows import Of

FILES = {"app": "files", "mean_size": "30kB", "shape": 1.5}
"""Section 5.3: Pareto sizes, exponential pauses."""

ASSUMED_FILES = (
    "All files of a flow go over one connection, whose window outlives the pauses, as those of ns-2's agents do; one "
    "chart shows a connection for each file."
)


def gateway(name: str) -> Of:
    """What the gateways counted under that name; 0 if there is none that counts."""
    return lambda run: float(run.counters.get("gateway", {}).get(name, 0))
