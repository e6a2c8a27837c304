"""Worlds: a profile, and keys that replace those of every scenario of a study.

The two profiles of a study are worlds without keys. The others (`WORLDS`) set other plausible values, under `ns2`, for
settings that the papers leave out, one by one and in pairs. A key that a study varies itself stays varied.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourhop.errors import FourhopError

if TYPE_CHECKING:
    from fourhop.scenario import Scenario
    from fourhop.study.study import Profile
    from fourhop.sweeps.describe import Sweep

FOLDER = "worlds"
"""Folder of the records, beside the figures."""

KEPT = "worlds.json"
"""The file beside the studies with a part of the records, by figure."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """A plausible value of a setting that a paper leaves out."""

    name: str
    label: str
    keys: Mapping[str, Any] = field(hash=False)
    useless: Callable[[Sequence[Mapping[str, Any]]], str] | None = field(default=None, compare=False)
    """Returns why it changes nothing, or has no meaning, in these resolved scenarios, or ""; `None`: never useless."""


@dataclass(frozen=True)
class World:
    """A profile with further keys."""

    profile: Profile
    parts: tuple[Part, ...] = ()

    @property
    def name(self) -> str:
        """Names of its parts, or its profile if it has none."""
        return "+".join(part.name for part in self.parts) or self.profile

    @property
    def label(self) -> str:
        """Description of its parts."""
        return " and ".join(part.label for part in self.parts)

    @property
    def keys(self) -> dict[str, Any]:
        """The keys that it replaces."""
        return {key: value for part in self.parts for key, value in part.keys.items()}

    def of(self, sweep: Sweep) -> Sweep:
        """The sweep in this world."""
        if not self.parts:
            return sweep
        if sweep.variants is not None:
            return replace(sweep, variants={name: each.with_(**self.keys) for name, each in sweep.variants.items()})
        return replace(sweep, base=None if sweep.base is None else sweep.base.with_(**self.keys))

    def within(self, sweeps: Iterable[Sweep]) -> tuple[World, dict[str, str]]:
        """The part of this world that applies to these sweeps, and by name why the other parts do not."""
        scenarios: list[Scenario] = [point.scenario for sweep in sweeps for point in sweep.points]
        resolved = [each.resolved for each in scenarios]
        useless = {part.name: why for part in self.parts if part.useless and (why := part.useless(resolved))}
        return World(self.profile, tuple(part for part in self.parts if part.name not in useless)), useless


def _moving(scenarios: Sequence[Mapping[str, Any]]) -> str:
    return "nodes move" if any(each["mobility"]["model"] != "fixed" for each in scenarios) else ""


def _unpaced(scenarios: Sequence[Mapping[str, Any]]) -> str:
    def paces(each: Mapping[str, Any]) -> bool:
        flows = [*each.get("flows", []), *([each["traffic"]] if "traffic" in each else [])]
        gateway = each.get("gateway", {}).get("kind")
        return gateway == "gap" or any(flow["transport"].startswith("tcp-ap") for flow in flows)

    return "" if any(map(paces, scenarios)) else "no flow or gateway uses this arithmetic"


STATIC_ROUTES = Part("static-routes", "static routes", {"routing.protocol": "static"}, _moving)
TIMERS_2003 = Part("timers-2003", "timers before October 2004", {"tcp.profile": "ns2-2003"})
AUTHORS_CODE = Part(
    "authors-code",
    "the arithmetic of the authors' code",
    {"tcp_ap.profile": "authors-code", "tcp.max_timeouts": "none"},
    _unpaced,
)
HELLO = Part(
    "hello",
    "HELLO messages without link-layer detection",
    {"routing.hello": True, "routing.link_layer_detection": False},
)
PARTS = (STATIC_ROUTES, TIMERS_2003, AUTHORS_CODE, HELLO)

WORLDS = (
    World("ns2"),
    *(World("ns2", (part,)) for part in PARTS),
    # Static routes have no HELLO messages.
    *(World("ns2", pair) for pair in itertools.combinations(PARTS, 2) if set(pair) != {STATIC_ROUTES, HELLO}),
)
"""Unmodified ns-2.35, then with each part, then with each pair of parts."""

ALL = "all"


def chosen(names: Sequence[str]) -> tuple[World, ...]:
    """The worlds with these names, in the order of `WORLDS`, after unmodified ns-2.35, with which others are compared.

    Raises `FourhopError` for an unknown name.
    """
    known = {world.name: world for world in WORLDS}
    for name in names:
        if name != ALL and name not in known:
            raise FourhopError(f"--world: found {name!r}, allowed: {ALL}, {', '.join(known)}")
    return tuple(world for name, world in known.items() if name in (*names, "ns2") or ALL in names)


def summary(records: Sequence[Record]) -> dict[str, Any]:
    """For each paper, the number of statements, their verdicts in each world, and the worlds in which most hold.

    If a world applies to a figure only in part, that part is used, or else unmodified ns-2.35, so every world covers
    the same statements. `tried` counts the worlds that apply to at least one figure. Figures that were not judged in
    all worlds of the paper are left out.
    """
    papers: dict[str, list[Record]] = {}
    for record in records:
        papers.setdefault(record["paper"], []).append(record)
    return {paper: _summary(of) for paper, of in papers.items()}


def _summary(records: Sequence[Record]) -> dict[str, Any]:
    from fourhop.study.study import OUR_OWN

    names = list(dict.fromkeys(name for record in records for name in record["worlds"]))
    whole = [record for record in records if set(record["worlds"]) == set(names)]
    worlds = {}
    for name in names:
        here = [record["worlds"][name] for record in whole]
        checks = [it for each in here for it in each["checks"].values() if it["paper"] != OUR_OWN]
        found = Counter(it["verdict"] for it in checks)
        worlds[name] = {
            "label": next((record["worlds"][name]["label"] for record in records), ""),
            # Figures for which this world was run, not those for which another listed world is the same.
            "figures": sum(each["same_as"] not in names or each["same_as"] == name for each in here),
            "statements": len(checks),
            **{verdict: found[verdict] for verdict in ("reproduced", "partly", "not reproduced", "not judged")},
        }
    tried = {name: each for name, each in worlds.items() if each["figures"]}
    most = max((each["reproduced"] for each in tried.values()), default=0)
    return {
        "figures": [record["figure"] for record in whole],
        "left_out": [record["figure"] for record in records if record not in whole],
        "tried": len(tried),
        "most": [name for name, each in tried.items() if each["reproduced"] == most and most],
        "worlds": worlds,
    }


def load(out: Path) -> list[Record]:
    """The records in a folder of results. Raises `FourhopError` if one cannot be read."""
    records = []
    for path in sorted((out / FOLDER).glob("*/*.json")):
        try:
            records.append(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise FourhopError(
                f"{path}: found no record of worlds ({error}), allowed: one that `fourhop reproduce --world` wrote"
            ) from None
    return records


def extract(out: Path) -> dict[str, Record]:
    """The part to keep of the records in a folder of results, by figure."""
    return {f"{each['paper']}/{each['figure']}": _extract(each) for each in load(out) if not each["quick"]}


def _extract(record: Record) -> Record:
    return {
        **{key: record[key] for key in ("paper", "figure", "commit")},
        "worlds": {
            name: {
                **{key: world[key] for key in ("label", "same_as")},
                "checks": {
                    check: {key: it[key] for key in ("statement", "paper", "verdict", "measured")}
                    for check, it in world["checks"].items()
                },
            }
            for name, world in record["worlds"].items()
        },
    }


def keep(found: Mapping[str, Record], judged: Mapping[str, Record]) -> dict[str, Record]:
    """Merge new records into those that are kept; a record that has not changed keeps its pin."""
    same = {name for name, record in found.items() if {**judged.get(name, {}), "quick": ""} == {**record, "quick": ""}}
    return {**judged, **{name: record for name, record in found.items() if name not in same}}


def pin(judged: Mapping[str, Record], measured: Mapping[str, Any]) -> None:
    """Give records without a pin that of their figures: what its quick runs give."""
    for figure, record in judged.items():
        if pinned := measured.get(figure, {}).get("quick"):
            record.setdefault("quick", pinned)


def outdated(judged: Mapping[str, Record], measured: Mapping[str, Any]) -> list[str]:
    """The figures whose quick runs have changed since they were judged in worlds."""
    return [figure for figure, record in judged.items() if record.get("quick") != measured.get(figure, {}).get("quick")]


def elsewhere(records: Sequence[Record]) -> Iterable[tuple[str, Record, list[tuple[str, Record]]]]:
    """The statements of a paper that another world reproduces but the first does not.

    Yields the figure, the outcome in the first world, and label and outcome for each world that reproduces it; a pair
    only if neither of its parts does alone.
    """
    from fourhop.study.study import OUR_OWN

    for record in records:
        # Skip worlds that are the same as another one for this figure.
        (_, first), *others = ((name, each) for name, each in record["worlds"].items() if each["same_as"] == name)
        for check, it in first["checks"].items():
            if it["paper"] == OUR_OWN or it["verdict"] == "reproduced":
                continue
            holds = {name: each for name, each in others if each["checks"][check]["verdict"] == "reproduced"}
            least = [each for name, each in holds.items() if "+" not in name or not set(name.split("+")) & set(holds)]
            if least:
                yield record["figure"], it, [(each["label"], each["checks"][check]) for each in least]
