"""Results of the last full reproduction, kept beside the studies in `papers/measured.json`.

For each figure and profile it has the verdict on every check and cause. `runs` is the number of runs used, `most` the
number allowed (or used, with a precision target). By sweep, `cost_s` is the processor time in s of `most` runs, and
`needed_s` that of the runs that a reproduction without `--full` needed. The documents quote numbers from it
(`scripts/measured.py`), and `reproduce` uses it to estimate the time of a sweep.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fourhop.errors import FourhopError
from fourhop.study.execute import DATA, FIGURES, Job, Record
from fourhop.study.find import Found

FILE = "measured.json"

_KEPT = ("verdict", "statement", "paper", "measured", "value", "low", "high", "unit", "because", "undecided")


def load(papers: Path, name: str = FILE) -> dict[str, Any]:
    """The contents of a file in a folder of papers, by figure. Raises `FourhopError` if the file is damaged."""
    path = papers / name
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise FourhopError(f"{path}: cannot be read ({error}); write it again with scripts/measured.py") from None
    assert isinstance(kept, dict)
    return kept


def extract(out: Path) -> dict[str, Any]:
    """The part of a report's records that is kept, by figure. Raises `FourhopError` if runs of one stopped early."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((out / FIGURES).glob("*/*.json"))]
    made = {f"{each['paper']}/{each['figure']}": each for each in records if not each["quick"]}
    for name, record in made.items():
        if any("look" in it for each in record["profiles"].values() for it in each["outcomes"]):
            raise FourhopError(
                f"{out}: found runs of {name} that stopped early; run `fourhop reproduce {name} --full --out {out}`"
            )
    return {name: _extract(record) for name, record in made.items()}


def _extract(record: Record) -> dict[str, Any]:
    def brief(outcome: Record) -> Record:
        return {key: outcome[key] for key in _KEPT if outcome.get(key) not in (None, "", [])}

    return {
        "commit": record["commit"],
        "profiles": {
            profile: {
                "checks": {it["name"]: brief(it) for it in each["outcomes"]},
                "causes": {it["name"]: brief(it) for it in each["causes"]},
                "runs": sum(sweep["runs"] for sweep in each["sweeps"]),
                "most": sum(sweep["most"] for sweep in each["sweeps"]),
                "cost_s": {sweep["name"]: round(_whole_s(sweep), 1) for sweep in each["sweeps"]},
            }
            for profile, each in record["profiles"].items()
        },
    }


def take_costs(out: Path, kept: dict[str, Any], processor_s: float) -> None:
    """Replace the kept costs by those of the same sweeps in a report of a reproduction without `--full`.

    It took `processor_s` in all. The files of the runs have their durations, which are longer if other programs ran.
    """
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((out / FIGURES).glob("*/*.json"))]
    sweeps = [
        (f"{record['paper']}/{record['figure']}", profile, sweep)
        for record in records
        if not record["quick"]
        for profile, of in record["profiles"].items()
        for sweep in of["sweeps"]
    ]
    scale = processor_s / math.fsum(sweep["wall_s"] for *_, sweep in sweeps)
    for figure, profile, sweep in sweeps:
        of = kept.get(figure, {"profiles": {}})["profiles"].get(profile, {"cost_s": {}})
        if sweep["name"] in of["cost_s"]:
            of["cost_s"][sweep["name"]] = round(scale * _whole_s(sweep), 1)
            of.setdefault("needed_s", {})[sweep["name"]] = round(scale * sweep["wall_s"], 1)


def _whole_s(sweep: Record) -> float:
    """Duration of all allowed runs of a sweep, extrapolated from those that ran."""
    return float(sweep["wall_s"] * sweep["most"] / max(1, sweep["runs"]))


_COUNTED = {
    "flows": ("delivered_bytes", "sent_packets", "retransmitted_packets", "timeouts"),
    "runs": ("frames", "receptions", "dropped_packets"),
}
"""Integer columns that describe the events of a run, by table; none counts the work of the simulator."""


def fingerprints(out: Path) -> dict[str, str]:
    """A digest of the quick runs of each figure in a report; it does not depend on the machine.

    Raises `FourhopError` if there are none, or tables are missing.
    """
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((out / FIGURES).glob("*/*.json"))]
    found = {
        f"{each['paper']}/{each['figure']}": fingerprint(out / DATA / each["paper"] / each["figure"])
        for each in records
        if each["quick"]
    }
    if not found:
        raise FourhopError(f"{out}: found no quick runs; run `fourhop reproduce --quick --out {out}` first")
    return found


def fingerprint(folder: Path) -> str:
    """A digest of the runs whose tables are in a folder. Raises `FourhopError` if there are no tables."""
    import polars as pl

    digest = hashlib.sha256()
    for table, columns in _COUNTED.items():
        paths = sorted(folder.glob(f"*-{table}.parquet"))
        if not paths:
            raise FourhopError(f"{folder}: found no tables of {table}; run `fourhop reproduce --quick` again")
        for path in paths:
            rows = pl.read_parquet(path, columns=["point", "seed", *columns])
            digest.update(f"{path.name}\n{rows.write_csv()}".encode())
    return digest.hexdigest()[:16]


Costs = Mapping[tuple[str, str, str], float]
"""Processor time in s by figure, profile and sweep."""


def costs(found: Sequence[Found], *, full: bool) -> Costs:
    """The last measured cost of some studies' sweeps, of all runs or of those needed; unmeasured ones are missing."""
    kept = {papers: load(papers) for papers in {each.path.parent.parent for each in found}}
    return {
        (each.name, profile, sweep): cost
        for each in found
        for profile, of in kept[each.path.parent.parent].get(each.name, {"profiles": {}})["profiles"].items()
        for sweep, cost in (of["cost_s"] | ({} if full else of.get("needed_s", {}))).items()
    }


class Cost:
    """Expected processor time of sweeps in s; unmeasured ones are estimated by their runs."""

    def __init__(self, known: Costs, jobs: Sequence[Job]) -> None:
        self._known = known
        measured = [job for job in jobs if self._key(job) in known]
        runs = sum(job.runs for job in measured)
        self._per_run = sum(known[self._key(job)] for job in measured) / runs if runs else 1.0
        self.total_s = sum(map(self.of, jobs))

    def of(self, job: Job) -> float:
        """Expected processor time of one sweep."""
        return self._known.get(self._key(job), job.runs * self._per_run)

    @staticmethod
    def _key(job: Job) -> tuple[str, str, str]:
        return job.found.name, job.profile, job.name
