"""Shared by the studies with short files, and counters of gateways."""

from __future__ import annotations

from fourhop.study.flows import Of

FILES = {"app": "files", "mean_size": "30kB", "shape": 1.5}
"""Section 5.3: Pareto sizes, exponential pauses."""

ASSUMED_FILES = (
    "All files of a flow use one connection, whose window survives the pauses, as with ns-2's agents; one chart shows "
    "one connection per file."
)


def gateway(name: str) -> Of:
    """Counter of the gateways with that name; 0 if no gateway has it."""
    return lambda run: float(run.counters.get("gateway", {}).get(name, 0))
