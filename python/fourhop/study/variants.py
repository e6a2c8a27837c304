"""Variants of a scenario: the same network with another transport and the keys it needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fourhop.scenario import Scenario

_NOT_TCP = ("udp", "ping")


class Variants(dict[str, tuple[str, str, Mapping[str, Any]]]):
    """The variants compared by a study: label, transport and keys by short name."""

    @property
    def labels(self) -> dict[str, str]:
        """The labels by short name."""
        return {name: label for name, (label, _, _) in self.items()}

    def of(self, scenario: Scenario, name: str, *flows: int) -> Scenario:
        """The scenario with one variant: for every TCP flow, or only for those numbered `flows` among its `[[flows]]`.

        The keys apply to the whole scenario: receivers behave alike for all of its flows.
        """
        _, transport, keys = self[name]
        resolved = scenario.resolved
        listed = resolved.get("flows", [])
        chosen = flows or [i for i, flow in enumerate(listed) if flow["transport"] not in _NOT_TCP]
        places = [f"flows[{i}]" for i in chosen] + (["traffic"] if "traffic" in resolved and not flows else [])
        return scenario.with_(**{f"{place}.transport": transport for place in places}, **keys)

    def compared(self, scenario: Scenario, *names: str) -> dict[str, Scenario]:
        """The scenario with each of the named variants, or with all of them, for `Sweep(variants=...)`."""
        return {name: self.of(scenario, name) for name in names or self}
