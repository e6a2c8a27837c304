"""Runs kept in a folder and never computed twice.

`<folder>/runs/<first two letters of the key>/<key>.parquet` is one run; `runfile` describes its content and its key.
Time series, if any, are beside it (`seriesfile`) and are put in place before it. A file is written to a temporary file,
flushed and renamed, so it is complete or missing: writers may be killed at any moment, and any number of them may work
in one folder, as they would write the same content under the same name.

A file that is not what its name says is left alone and reported, and the run of that name gets a second name,
`<key>.2.parquet`.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from fourhop import store
from fourhop.errors import FourhopError
from fourhop.recorded import SWEEP_STAGING, TABLES, Table
from fourhop.rundata import RunData
from fourhop.sweeps import runfile, seriesfile

_NAMES = 9
"""Names to try for a run before giving up: so many unusable files are not an accident."""
_LEFT = "a temporary file of a killed or running writer"


@dataclass
class RunStore:
    """The runs of a folder. Several processes may find and write runs at once."""

    folder: Path
    """The folder that contains `runs`."""
    strange: dict[Path, str] = field(default_factory=dict)
    """Files that are not runs, each with the reason."""

    @property
    def runs(self) -> Path:
        """The folder of the files."""
        return self.folder / "runs"

    def prepare(self) -> None:
        """Create the folder. Raises `FourhopError` if it cannot be written."""
        store.writable(self.folder)
        store.writable(self.runs)

    def find(self, key: str) -> Path | None:
        """The file of a run, or `None`."""
        for path in self._names(key):
            try:
                problem = runfile.check(path, key)
            except FileNotFoundError:
                return None
            if problem is None:
                return path
            self.strange[path] = problem
        return None

    def write(self, key: str, scenario: str, run: RunData, series: Mapping[Table, Path] | None = None) -> Path:
        """Keep a run, with the `series` that the simulator wrote, replacing an existing one.

        Raises `FourhopError` if it cannot be written.
        """
        frame = runfile.to_frame(key, runfile.engine(), scenario, run)
        for path in self._names(key):
            if not self._ours(path, key, series is not None):
                continue
            try:
                path.parent.mkdir(exist_ok=True)
            except OSError as error:
                raise store.unwritable(self.runs, error) from error
            if series is not None:
                seriesfile.write(path, key, series)
            store.replace(path, lambda temporary: runfile.write(temporary, frame, series is not None))
            return path
        raise FourhopError(f"{self._at(key)}: found {_NAMES} damaged files of this name; delete them")

    def survey(self) -> Iterator[Path]:
        """Yield every run in the folder, ordered by name; other files are added to `strange`."""
        for path in sorted(self.folder.glob(f"{SWEEP_STAGING}*")):
            self.strange[path] = _LEFT
        if not self.runs.is_dir():
            return
        for shard in sorted(self.runs.iterdir()):
            if not shard.is_dir():
                self.strange[shard] = "not a run of fourhop"
                continue
            for path in sorted(shard.iterdir()):
                run = seriesfile.run_of(path)
                if path.name.startswith(".") or (run is not None and not run.exists()):
                    self.strange[path] = _LEFT
                elif run is not None:
                    continue  # Looked at with the run.
                elif (problem := runfile.check(path)) is None:
                    yield path
                else:
                    self.strange[path] = problem

    def _ours(self, path: Path, key: str, series: bool) -> bool:
        """Whether a run may be written to `path`: not if there is anything but this run."""
        beside = [seriesfile.beside(path, table) for table in TABLES] if series else []
        for at, check in ((path, runfile.check), *((at, seriesfile.check) for at in beside)):
            try:
                if (problem := check(at, key)) is not None:
                    self.strange[at] = problem
                    return False
            except FileNotFoundError:
                pass
        return True

    def _at(self, key: str) -> Path:
        return self.runs / key[:2] / f"{key}.parquet"

    def _names(self, key: str) -> Iterator[Path]:
        first = self._at(key)
        yield first
        for number in range(2, _NAMES + 1):
            yield first.with_name(f"{key}.{number}.parquet")


class Temporary:
    """A folder that is removed with this object, or at the latest with the process."""

    def __init__(self) -> None:
        """Create the folder."""
        self.path = Path(tempfile.mkdtemp(prefix="fourhop-sweep-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def unreadable(paths: list[Path]) -> list[Path]:
    """Those of `paths` whose content cannot be read although they look complete."""
    bad = []
    for path in paths:
        try:
            pl.read_parquet(path)
        except (pl.exceptions.PolarsError, OSError):
            bad.append(path)
    return bad
