"""Folders whose files belong together: a result, a sweep.

Such a folder has a manifest, a JSON file that describes the others. All files are first written under temporary names
that begin with a dot, so the folder keeps its old content until they are complete. Then they are put in place: the old
manifest is removed, the files are renamed, and their own manifest is renamed last. Therefore

- a folder with a manifest is complete, and files read while the manifest does not change belong together;
- a process killed while writing leaves the folder as it was; one killed while renaming leaves the complete temporary
  files, and the next process puts them in place;
- if several processes write into one folder, they put their files in place one after the other.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fourhop.errors import FourhopError

if TYPE_CHECKING:
    import polars as pl

Write = Callable[[Path], object]
"""A function that writes a file at a path."""

_WRITING = ".writing-"
# Written to find the cause of a polars error: more than a full file system has left.
_PROBE = bytes(1 << 20)


def writable(folder: Path) -> None:
    """Create `folder` and check that it is writable, before hours are spent on its content.

    Raises `FourhopError` if it cannot be created or written.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise FourhopError(
                f"output folder {folder}: found a file, allowed: a folder; it is created if it does not exist"
            )
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise unwritable(folder, error) from error


def prepare(folder: Path, manifest: str, own: str) -> None:
    """Do the same as `writable`, and check that files may be published there.

    Also raises `FourhopError` if the folder has a file `own` but no manifest: the file belongs to somebody else and is
    not overwritten.
    """
    writable(folder)
    with _locked(folder):
        try:
            _recover(folder, manifest)
        except OSError as error:
            raise unwritable(folder, error) from error
        if (folder / own).exists() and not (folder / manifest).exists():
            raise FourhopError(
                f"output folder {folder}: contains a {own} that is not part of a result; choose another folder"
            )


def publish(folder: Path, manifest: str, files: Mapping[str, Write | None]) -> None:
    """Put `files`, the manifest among them, into `folder`; `None` stands for a file to remove if present.

    Raises `FourhopError` if they cannot be written; the folder then keeps its old content.
    """
    writable(folder)
    try:
        temporary = Scratch(folder, _WRITING)
        try:
            for name, write in files.items():
                path = temporary.path / name
                if write is None:
                    # An empty folder stands for a file to remove.
                    path.mkdir()
                else:
                    write(path)
                    with path.open("rb") as written:
                        os.fsync(written.fileno())
            with _locked(folder):
                _recover(folder, manifest)
                temporary.path.rename(_complete(folder, manifest))
                _recover(folder, manifest)
        finally:
            temporary.remove()
    except OSError as error:
        raise unwritable(folder, error) from error


def recover(folder: Path, manifest: str) -> None:
    """Wait for a process that is putting files in place, and finish the work of a killed one."""
    # Nothing can be done about a read-only folder.
    with contextlib.suppress(OSError), _locked(folder):
        _recover(folder, manifest)


def _complete(folder: Path, manifest: str) -> Path:
    """The folder of complete files that wait to be put in place."""
    return folder / f".{manifest}.complete"


def _recover(folder: Path, manifest: str) -> None:
    complete = _complete(folder, manifest)
    if not complete.is_dir():
        return
    if (complete / manifest).exists():
        (folder / manifest).unlink(missing_ok=True)
    for path in sorted(complete.iterdir(), key=lambda path: path.name == manifest):
        if path.is_dir():
            (folder / path.name).unlink(missing_ok=True)
            path.rmdir()
        else:
            path.replace(folder / path.name)
    complete.rmdir()


def unwritable(path: Path, error: OSError) -> FourhopError:
    """The error for an output folder, or a file in one, that cannot be written; a full disk's free space is given."""
    folder = path if path.is_dir() else path.parent
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        with contextlib.suppress(OSError):
            disk = shutil.disk_usage(folder)
            reason += f" ({disk.free / 1e6:.1f} of {disk.total / 1e6:.1f} MB are free there)"
    kind = "output folder " if path is folder else ""
    return FourhopError(f"{kind}{path}: cannot be written: {reason}")


def replace(path: Path, write: Write) -> None:
    """Write a temporary file in the same folder, flush and rename it: `path` is complete or missing, even after a kill.

    A killed writer leaves a temporary file that begins with a dot. Raises `FourhopError` if `path` cannot be written.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            os.close(descriptor)
            write(temporary)
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            # mkstemp makes files private; a result gets the default permissions.
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error


def parquet(table: pl.DataFrame, **options: object) -> Write:
    """Writes a table. It is encoded in memory first, so that the system's errors about the disk are reported."""

    def write(path: Path) -> None:
        import io

        made = io.BytesIO()
        table.write_parquet(made, **options)  # type: ignore[arg-type]
        path.write_bytes(made.getbuffer())

    return write


def streamed(rows: pl.LazyFrame, **options: object) -> Write:
    """Writes a table while reading it, without ever loading it whole."""

    def write(path: Path) -> None:
        import polars as pl

        try:
            rows.sink_parquet(path, **options)  # type: ignore[call-overload]
        except pl.exceptions.PolarsError:
            # Polars does not report the system's error. A full disk stays full while the file exists.
            with tempfile.TemporaryFile(dir=path.parent) as probe:
                probe.write(_PROBE)
            raise

    return write


def text(content: str) -> Write:
    """Writes text."""
    return lambda path: path.write_text(content, encoding="utf-8")


class Scratch:
    """A folder for unfinished files inside another folder. It is removed with this object, or when the program ends.

    A folder left by a killed process is removed by the next process that creates one with the same prefix there.
    """

    def __init__(self, parent: Path, prefix: str) -> None:
        """`prefix`: start of its name. Raises `OSError` if it cannot be created."""
        with _locked(parent):
            for left in parent.glob(f"{prefix}*"):
                # A living process holds a lock on its folder.
                with contextlib.suppress(OSError), _opened(left) as descriptor:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(left, ignore_errors=True)
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            # mkdtemp makes folders private; this one may become part of the result.
            self.path.chmod(0o777 & ~_umask())
            lock = contextlib.ExitStack()
            lock.enter_context(_locked(self.path))
        self.remove = weakref.finalize(self, _gone, self.path, lock)
        """Remove it with all its contents."""


def _gone(path: Path, lock: contextlib.ExitStack) -> None:
    shutil.rmtree(path, ignore_errors=True)
    lock.close()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder; the lock ends with the process, however it ends."""
    with _opened(folder) as descriptor:
        # On a file system without locks, each single file is still complete.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
