"""The folder of a sweep: its tables as Parquet, and sweep.json that says what they are of.

sweep.json is taken away first and comes back last, so a folder that has one has whole tables of one sweep. Only one
process at a time writes tables into a folder; the last one to finish leaves its own. The runs below `runs` are those of
every sweep that ever used the folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from fourhop import store
from fourhop._core import ScenarioError, version
from fourhop.errors import FourhopError
from fourhop.scenario import Scenario
from fourhop.sweeps import columns, runfile, seriesfile
from fourhop.sweeps.describe import Sweep
from fourhop.sweeps.result import PointRuns, SweepResult
from fourhop.sweeps.runstore import RunStore

MANIFEST = "sweep.json"
LOCK = ".tables.lock"
TABLES = (
    "points",
    "runs",
    "flows",
    "summary",
    "flow_summary",
    "batches",
    "drops",
    "counters",
    "conservation",
    "link_drops",
    "wires",
    "timing",
)


def save(result: SweepResult, folder: Path) -> Path:
    """Write tables and sweep.json into `folder` and return it."""
    store.writable(folder)
    # Made before the lock is taken: other processes need not wait for them.
    frames = {name: getattr(result, name) for name in TABLES}
    try:
        with _locked(folder / LOCK):
            (folder / MANIFEST).unlink(missing_ok=True)
            for name, frame in frames.items():
                store.replace(folder / f"{name}.parquet", _parquet(name, frame, result.sweep))
            text = json.dumps(_content(result, folder)) + "\n"
            store.replace(folder / MANIFEST, lambda path: path.write_text(text, encoding="utf-8"))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise FourhopError(f"output folder {folder}: cannot be written: {error}") from error
    return folder


def load(folder: Path) -> SweepResult:
    """The result a folder holds. Nothing in it was computed now."""
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        sweep = _sweep(content)
    except OSError as error:
        raise FourhopError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ScenarioError as error:
        raise FourhopError(f"{path}: written by another fourhop, whose scenarios this one refuses: {error}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise FourhopError(
            f"{path}: found no sweep ({type(error).__name__}: {error}), allowed: what a sweep wrote"
        ) from None
    kept = RunStore(folder if content["store"] is None else Path(content["store"]))
    per_point = []
    gone = []
    for point in content["points"]:
        runs = []
        for seed, key in point["runs"]:
            found = kept.find(key)
            if found is None:
                gone.append(key)
            else:
                runs.append((int(seed), found))
        per_point.append(PointRuns(tuple(runs), point["precision_met"]))
    if gone:
        raise FourhopError(f"{folder}: {len(gone)} of its runs are gone, such as {gone[0]}; run the sweep again")
    return SweepResult(sweep, kept, tuple(per_point), reused=sum(len(each.runs) for each in per_point))


def _sweep(content: dict[str, Any]) -> Sweep:
    """The sweep of a manifest: the points as they were resolved, whatever they were varied from."""
    described = content["sweep"]
    scenarios = [Scenario(json.dumps(point["scenario"]), format="json") for point in content["points"]]
    return Sweep.of_points(
        [(point["parameters"], scenario) for point, scenario in zip(content["points"], scenarios, strict=True)],
        keys=described["keys"],
        runs=described["runs"],
        seed=described["seed"],
        precision=described["precision"],
        precision_of=described["precision_of"],
        max_runs=described["max_runs"],
        name=described["name"],
    )


def _content(result: SweepResult, folder: Path) -> dict[str, object]:
    sweep = result.sweep
    inside = result.store.folder.resolve() == folder.resolve()
    return {
        "fourhop": version(),
        "engine": runfile.engine(),
        "store": None if inside else str(result.store.folder.resolve()),
        "note": result.note,
        "sweep": {
            "name": sweep.name,
            "keys": list(sweep.keys),
            "runs": sweep.runs,
            "seed": sweep.first_seed,
            "precision": sweep.target,
            "precision_of": sweep.precision_of,
            "max_runs": sweep.max_runs,
        },
        "points": [
            {
                "parameters": dict(point.parameters),
                "runs": [[seed, path.name.split(".")[0]] for seed, path in runs.runs],
                "precision_met": runs.met,
                "scenario": point.scenario.resolved,
            }
            for point, runs in zip(sweep.points, result.per_point, strict=True)
        ],
    }


def _parquet(name: str, frame: pl.DataFrame, sweep: Sweep) -> Any:
    about = {
        "kind": name,
        "fourhop": version(),
        "sweep": sweep.name,
        "columns": json.loads(columns.describe(frame.columns, sweep.keys)),
    }
    return lambda path: frame.write_parquet(path, metadata={seriesfile.METADATA: json.dumps(about)})


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process, however it ends."""
    with path.open("a") as file:
        with contextlib.suppress(OSError):
            # A file system without locks: the tables are whole one by one all the same.
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
