"""The folder of a sweep: its tables as Parquet, and sweep.json, which describes them.

They are published together (`fourhop.store`), so a folder with a sweep.json has complete tables of one sweep, that of
the last process to finish. The folder `runs` has the runs of every sweep that ever used the folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from fourhop import store
from fourhop._core import version
from fourhop.errors import FourhopError, ScenarioError
from fourhop.scenario import Scenario
from fourhop.sweeps import columns, runfile, seriesfile
from fourhop.sweeps.describe import Sweep
from fourhop.sweeps.runstore import RunStore

MANIFEST = "sweep.json"


@dataclass(frozen=True)
class PointRuns:
    """The runs that count at one point."""

    runs: tuple[tuple[int, Path], ...]
    """(seed, file) of each, in seed order."""
    met: bool | None
    """Whether the requested precision was reached; `None` if none was requested."""
    precision: float | None = None
    """Half-width over mean so far, if a precision was requested and there are enough runs to tell; not stored."""


@dataclass(frozen=True)
class Content:
    """The content of a manifest."""

    sweep: Sweep
    store: RunStore
    per_point: tuple[PointRuns, ...]


def save(content: Content, note: str | None, tables: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write tables and sweep.json into `folder`."""
    files: dict[str, store.Write | None] = {
        f"{name}.parquet": _parquet(name, frame, content.sweep) for name, frame in tables.items()
    }
    files[MANIFEST] = store.text(json.dumps(_document(content, note, folder)) + "\n")
    store.publish(folder, MANIFEST, files)


def load(folder: Path) -> Content:
    """The content of a folder's manifest."""
    path = folder / MANIFEST
    store.recover(folder, MANIFEST)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        sweep = _sweep(document)
    except OSError as error:
        raise FourhopError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ScenarioError as error:
        raise FourhopError(
            f"{path}: written by another version of fourhop, and this one refuses its scenario: {error}"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise FourhopError(
            f"{path}: found no sweep ({type(error).__name__}: {error}); name a folder that `fourhop sweep` wrote"
        ) from None
    kept = RunStore(folder if document["store"] is None else Path(document["store"]))
    per_point = []
    gone = []
    for point in document["points"]:
        runs = []
        for seed, key in point["runs"]:
            found = kept.find(key)
            if found is None:
                gone.append(key)
            else:
                runs.append((int(seed), found))
        per_point.append(PointRuns(tuple(runs), point["precision_met"]))
    if gone:
        raise FourhopError(
            f"{folder}: {len(gone)} of its runs are missing or damaged, such as {gone[0]}; run the sweep again"
        )
    return Content(sweep, kept, tuple(per_point))


def _sweep(content: dict[str, Any]) -> Sweep:
    """The sweep of a manifest, from its resolved points, without the scenario that they vary."""
    described = content["sweep"]
    scenarios = [Scenario(json.dumps(point["scenario"]), format="json") for point in content["points"]]
    return Sweep.of_points(
        [(point["parameters"], scenario) for point, scenario in zip(content["points"], scenarios, strict=True)],
        keys=described["keys"],
        runs=described["runs"] if described["precision"] is None else None,
        seed=described["seed"],
        precision=described["precision"],
        precision_of=described["precision_of"],
        max_runs=described["max_runs"],
        name=described["name"],
    )


def _document(content: Content, note: str | None, folder: Path) -> dict[str, object]:
    sweep = content.sweep
    inside = content.store.folder.resolve() == folder.resolve()
    return {
        "fourhop": version(),
        "engine": runfile.engine(),
        "store": None if inside else str(content.store.folder.resolve()),
        "note": note,
        "sweep": {
            "name": sweep.name,
            "keys": list(sweep.keys),
            "runs": None if sweep.target is not None else sweep.replications,
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
            for point, runs in zip(sweep.points, content.per_point, strict=True)
        ],
    }


def _parquet(name: str, frame: pl.DataFrame, sweep: Sweep) -> store.Write:
    about = {
        "kind": name,
        "fourhop": version(),
        "sweep": sweep.name,
        "columns": json.loads(columns.describe(frame.columns, sweep.keys)),
    }
    return store.parquet(frame, metadata={seriesfile.METADATA: json.dumps(about)})
