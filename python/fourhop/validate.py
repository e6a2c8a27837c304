"""Comparison with results of ns-2.35, entry by entry, by the rule in VALIDATION.md.

A reference is a folder with `results.json`, a list of entries, and `scenarios/NAME.txt`, one file for each scenario
named in an entry:

| key of an entry | meaning |
|---|---|
| `scenario`, `transport` | what ran |
| `duration_s` | simulated time of a run |
| `warmup_s` | TCP is counted from here on; 10 % of the duration if not given |
| `goodput_kbps_per_run` | for each run, the goodput of each flow |
| `received_kbps` | the same for UDP, which ns-2 counts with a 20-byte header per packet, from the start of the flows |

Transports have the same names as here, except those in `RENAMED`. Other keys are ignored: means, intervals and Jain's
index are computed from the runs, in the same way on both sides.
"""

from __future__ import annotations

import fnmatch
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal, cast

from fourhop import stats
from fourhop.errors import FourhopError
from fourhop.stats import Interval

Verdict = Literal["agree", "differ", "not built", "error"]
"""`not built`: fourhop has no such transport; `error`: the entry names a scenario that cannot be run."""

ONE_FLOW = 0.05
"""Largest allowed deviation of the mean of a single flow, as a share of ns-2's."""
LONG_CHAIN = 0.10
"""The same beyond `LONG_CHAIN_HOPS` hops, where seeds scatter."""
LONG_CHAIN_HOPS = 8
UNCONTENDED = 0.01
"""The same for UDP below capacity and TCP with a window of one segment, where nothing is left to chance."""
BELOW_CAPACITY = 0.995
"""UDP is below capacity if ns-2 delivered at least this share of the offered load."""
AGGREGATE = 0.10
"""Largest allowed deviation of the total goodput of several flows."""
JAIN = 0.05
"""Largest allowed deviation of Jain's index."""

RENAMED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "tcp-ap-author": ("tcp-ap", ("tcp_ap.profile=authors-code", "tcp_ap.link_rate=none")),
}
"""Transports with another name in a reference: our name and the keys it needs.

`tcp-ap-author` is the ns-2 agent of TCP-AP's authors. Its link rate is a setting that defaults to 2 Mbit/s; we assume
that the reference set it to the rate of the scenario.
"""

UDP_HEADER_BYTES = 20
"""Bytes that ns-2 counts per UDP packet besides the payload."""

# Rounding must not decide the verdict if a difference is exactly the largest allowed.
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of results.json."""

    scenario: str
    transport: str
    duration_s: float
    warmup_s: float | None
    runs: tuple[tuple[float, ...], ...]
    """Goodput in kbit/s for each run and flow."""
    path: Path
    """The scenario file."""

    @property
    def name(self) -> str:
        """`scenario/transport`, which patterns are matched against."""
        return f"{self.scenario}/{self.transport}"


@dataclass(frozen=True, slots=True)
class Side:
    """The results of one of the two simulators, in kbit/s."""

    goodput: Interval
    """Total of all flows."""
    jain: Interval | None
    """Jain's index; `None` with one flow, or if nothing was delivered."""
    runs: tuple[tuple[float, ...], ...]
    """For each run, the goodput of each flow."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether two sides agree, and why."""

    agree: bool
    allowed: float
    """Largest allowed difference of the means, as a share."""
    reason: str
    """The reason of the verdict."""


@dataclass(frozen=True, slots=True)
class Row:
    """An entry with its outcome."""

    entry: Entry
    ns2: Side
    verdict: Verdict
    reason: str
    ours: Side | None = None
    hops: int | None = None
    """Hops of the flow, if there is only one."""
    allowed: float | None = None

    @property
    def ratio(self) -> float | None:
        """Our mean over that of ns-2."""
        if self.ours is None or self.ns2.goodput.mean == 0.0:
            return None
        return self.ours.goodput.mean / self.ns2.goodput.mean

    def to_dict(self) -> dict[str, object]:
        """The row as plain values, as `fourhop validate ns2 --json` prints it."""
        return {
            "scenario": self.entry.scenario,
            "transport": self.entry.transport,
            "hops": self.hops,
            "duration_s": self.entry.duration_s,
            "ns2": _side(self.ns2),
            "fourhop": None if self.ours is None else _side(self.ours),
            "ratio": self.ratio,
            "allowed": self.allowed,
            "verdict": self.verdict,
            "reason": self.reason,
        }


def side(runs: Sequence[Sequence[float]]) -> Side:
    """Means and Student intervals over runs of one or several flows.

    >>> side([[100.0, 100.0], [90.0, 110.0]]).goodput.mean
    200.0
    """
    fixed = tuple(tuple(run) for run in runs)
    return Side(
        goodput=stats.student_interval([math.fsum(run) for run in fixed]),
        jain=stats.over_known([stats.jain(run) for run in fixed if len(run) > 1]),
        runs=fixed,
    )


def tolerance(hops: int | None, *, uncontended: bool) -> float:
    """Share by which the means of one flow may differ if the intervals do not overlap.

    >>> tolerance(8, uncontended=False), tolerance(9, uncontended=False), tolerance(12, uncontended=True)
    (0.05, 0.1, 0.01)
    """
    if uncontended:
        return UNCONTENDED
    return LONG_CHAIN if hops is not None and hops > LONG_CHAIN_HOPS else ONE_FLOW


def below_capacity(received_kbps: float, offered_kbps: float) -> bool:
    """Whether nearly all of the offered UDP load was received, both counted alike.

    >>> below_capacity(301.8, 304.1), below_capacity(304.1, 304.1)
    (False, True)
    """
    return received_kbps >= BELOW_CAPACITY * offered_kbps


def judge(ns2: Side, ours: Side, *, hops: int | None = None, uncontended: bool = False) -> Judgement:
    """Whether the two simulators agree.

    One flow: the intervals overlap, or the means differ by at most `tolerance`. Several flows: the same for their
    total, with `AGGREGATE`, and Jain's indices differ by at most `JAIN` or their intervals overlap.

    >>> judge(side([[100.0], [100.0]]), side([[104.9], [104.9]]), hops=4).agree
    True
    """
    if len(ns2.runs[0]) == 1:
        allowed = tolerance(hops, uncontended=uncontended)
        agree, reason = _close(ns2.goodput, ours.goodput, allowed)
        return Judgement(agree, allowed, reason)
    agree, reason = _close(ns2.goodput, ours.goodput, AGGREGATE)
    fair, why = _fairness(ns2.jain, ours.jain)
    return Judgement(agree and fair, AGGREGATE, f"{reason}; {why}")


def _close(ns2: Interval, ours: Interval, allowed: float) -> tuple[bool, str]:
    if ns2.overlaps(ours):
        return True, "intervals overlap"
    if ns2.mean == 0.0:
        return False, "ns-2 delivered nothing"
    off = ours.mean / ns2.mean - 1.0
    if abs(off) <= allowed + _SLACK:
        return True, f"{off:+.1%}, allowed {allowed:.0%}"
    return False, f"{off:+.1%}, allowed {allowed:.0%}, and the intervals do not overlap"


def _fairness(ns2: Interval | None, ours: Interval | None) -> tuple[bool, str]:
    if ns2 is None or ours is None:
        return ns2 is ours, "no Jain's index: nothing was delivered"
    if ns2.overlaps(ours):
        return True, "Jain's intervals overlap"
    off = ours.mean - ns2.mean
    if abs(off) <= JAIN + _SLACK:
        return True, f"Jain's index {off:+.3f}, allowed {JAIN}"
    return False, f"Jain's index {off:+.3f}, allowed {JAIN}, and the intervals do not overlap"


def read_reference(folder: str | Path | None = None) -> list[Entry]:
    """Read the entries of a reference folder, or of the small one that comes with the package.

    Raises `FourhopError` for a folder, a file, a key or a value that cannot be used, with what was found and what is
    allowed. Scenario files are read later: a missing or invalid one affects only its own entries.
    """
    # The package is always in a folder, as its extension module could not be loaded otherwise.
    base = Path(str(resources.files("fourhop"))) / "data" / "ns2" if folder is None else Path(folder)
    path = base / "results.json"
    if not base.is_dir():
        raise FourhopError(
            f"{base}: {'found a file' if base.exists() else 'missing'}, "
            "allowed: a folder with results.json and scenarios/"
        )
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FourhopError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise FourhopError(f"{path}: not UTF-8 text at byte {error.start}; convert it to UTF-8") from None
    except json.JSONDecodeError as error:
        raise FourhopError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    if not isinstance(document, list) or not document:
        found = "an empty list" if document == [] else _kind(document)
        raise FourhopError(f"{path}: found {found}, allowed: a list of entries")
    problems: list[str] = []
    entries = [_entry(base, f"{path}: [{index}]", each, problems) for index, each in enumerate(document)]
    if problems:
        raise FourhopError("\n".join(problems))
    return [entry for entry in entries if entry is not None]


def select(entries: Sequence[Entry], patterns: Sequence[str]) -> list[Entry]:
    """Entries whose `scenario/transport` matches one of the shell patterns, or contains one without wildcards.

    Raises `FourhopError` if there are none.
    """
    if not patterns:
        return list(entries)

    def matches(name: str, pattern: str) -> bool:
        return fnmatch.fnmatchcase(name, pattern) if any(mark in pattern for mark in "*?[") else pattern in name

    chosen = [entry for entry in entries if any(matches(entry.name, pattern) for pattern in patterns)]
    if not chosen:
        raise FourhopError(
            f"--only: found {', '.join(patterns)}, allowed: part of a scenario/transport of the reference, or a "
            f"pattern such as 'chain*/newreno'; none of {len(entries)} entries matches"
        )
    return chosen


def _entry(base: Path, where: str, found: object, problems: list[str]) -> Entry | None:
    """Parse one entry, or add its problems to `problems` and return `None`."""
    before = len(problems)
    if not isinstance(found, dict):
        problems.append(f"{where}: found {_kind(found)}, allowed: an object with scenario, transport and runs")
        return None

    def take(key: str, allowed: str, usable: bool) -> None:
        if not usable:
            what = f"found {json.dumps(found[key])[:60]}" if key in found else "missing"
            problems.append(f"{where}.{key}: {what}, allowed: {allowed}")

    scenario, transport = found.get("scenario"), found.get("transport")
    duration, warmup = found.get("duration_s"), found.get("warmup_s")
    take("scenario", "the name of a file in scenarios/, without .txt", _name(scenario))
    take("transport", "the name of a transport", isinstance(transport, str) and bool(transport))
    take("duration_s", "simulated seconds above 0", _number(duration) and cast(float, duration) > 0.0)
    if warmup is not None:
        within = _number(warmup) and _number(duration) and 0.0 <= cast(float, warmup) < cast(float, duration)
        take("warmup_s", "seconds, from 0 to below duration_s", within)
    key = "goodput_kbps_per_run" if "goodput_kbps_per_run" in found else "received_kbps"
    if key not in found:
        problems.append(f"{where}: found neither goodput_kbps_per_run nor received_kbps; give one of them")
    runs = _runs(found.get(key))
    if key in found:
        take(key, "for each run the kbit/s of each flow, 0 or more, such as [[95.3], [97.1]]", runs is not None)
    if len(problems) > before or runs is None:
        return None
    return Entry(
        str(scenario),
        str(transport),
        cast(float, duration),
        cast(float | None, warmup),
        runs,
        base / "scenarios" / f"{scenario}.txt",
    )


def _runs(found: object) -> tuple[tuple[float, ...], ...] | None:
    """Goodput by run and flow; a run of one flow may be written as a plain number."""
    if not isinstance(found, list) or not found:
        return None
    runs = [run if isinstance(run, list) else [run] for run in found]
    if len({len(run) for run in runs}) != 1 or not runs[0]:
        return None
    if not all(_number(rate) and rate >= 0.0 for run in runs for rate in run):
        return None
    return tuple(tuple(float(rate) for rate in run) for run in runs)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _name(value: object) -> bool:
    return isinstance(value, str) and value not in ("", ".", "..") and "/" not in value and "\0" not in value


def _kind(value: object) -> str:
    names: Mapping[type, str] = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return "null" if value is None else names.get(type(value), "a number")


def _side(found: Side) -> dict[str, object]:
    def spread(interval: Interval | None) -> dict[str, object] | None:
        return None if interval is None else {"mean": interval.mean, "half_width": interval.half_width}

    return {
        "goodput_kbps": spread(found.goodput),
        "jain": spread(found.jain),
        "runs": [list(run) for run in found.runs],
    }
