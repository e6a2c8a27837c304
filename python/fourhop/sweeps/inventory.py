"""The content of a folder of runs, by scenario."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fourhop.recorded import TABLES
from fourhop.sweeps import runfile, seriesfile
from fourhop.sweeps.runstore import RunStore

_AT_ONCE = 1000


@dataclass(frozen=True)
class Kept:
    """Runs of one scenario by one engine."""

    shape: str
    """Topology and traffic in a few words."""
    duration: str
    """Simulated time, as written in the scenario."""
    seeds: tuple[int, ...]
    """Seeds in order."""
    engine: str
    """Version and fingerprint of the simulator."""
    current: bool
    """Whether that engine is in use, so that a sweep would reuse these runs."""
    goodput_bps: float
    """Mean goodput of all flows together."""
    bytes: int
    """Size of the files."""


def take(store: RunStore) -> list[Kept]:
    """All runs in the folder, those of the engine in use first; other files are added to `store.strange`."""
    paths = list(store.survey())
    if not paths:
        return []
    runs = _read(paths)
    sizes = pl.DataFrame({"path": [str(path) for path in paths], "bytes": [_bytes(path) for path in paths]})
    runs = runs.join(sizes, on="path", maintain_order="left")
    ours = runfile.engine()
    kept = [
        Kept(
            shape=_shape(scenario := json.loads(group["scenario"][0])),
            duration=scenario["duration"],
            seeds=tuple(group["seed"].sort().to_list()),
            engine=group["engine"][0],
            current=group["engine"][0] == ours,
            goodput_bps=float(group["aggregate_goodput_bps"].to_numpy().mean()),
            bytes=int(group["bytes"].sum()),
        )
        for group in runs.partition_by("engine", "scenario", maintain_order=True)
    ]
    return sorted(kept, key=lambda each: (not each.current, each.engine, each.shape, each.duration, each.seeds))


def _read(paths: list[Path]) -> pl.DataFrame:
    # Files of other engines may have other columns, but every layout has these.
    columns = {name: runfile.SCHEMA[name] for name in ("engine", "scenario", "seed", "aggregate_goodput_bps")}
    return pl.concat(
        pl.scan_parquet(
            paths[at : at + _AT_ONCE], schema=columns, extra_columns="ignore", include_file_paths="path", glob=False
        ).collect()
        for at in range(0, len(paths), _AT_ONCE)
    )


def _bytes(path: Path) -> int:
    """Size of a run with its time series."""
    files = [path, *(seriesfile.beside(path, table) for table in TABLES)]
    return sum(file.stat().st_size for file in files if file.exists())


def _shape(scenario: dict[str, object]) -> str:
    topology = scenario["topology"]
    assert isinstance(topology, dict)
    sizes = [f"{key} {topology[key]}" for key in ("chains", "hops", "columns", "rows", "nodes") if key in topology]
    traffic = scenario.get("traffic")
    flows = scenario.get("flows")
    named = [*([traffic] if isinstance(traffic, dict) else []), *(flows if isinstance(flows, list) else [])]
    transports = dict.fromkeys(str(each["transport"]) for each in named)
    return f"{', '.join([topology['kind'], *sizes])}; {', '.join(transports)}"
