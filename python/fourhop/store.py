"""Folders whose files belong together: a result, a sweep.

Such a folder has a manifest, a JSON file that describes the others. All files are first written
under temporary names that begin with a dot, so until they are complete the folder keeps its old content. Then they are
put in place: the old manifest goes, the files are renamed, their own manifest comes last. So

- a folder with a manifest is complete, and files read between two looks at the same manifest belong together;
- a process that is killed while it writes leaves the folder as it was; one that is killed while it renames leaves the
  complete temporary files, and the next process puts them in place;
- of several processes that write into one folder, one after the other puts its files in place.
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
"""Writes a file at a path."""

_WRITING = ".writing-"
# Written to see what an error of polars comes from: more than a full file system has left.
_PROBE = bytes(1 << 20)


def writable(folder: Path) -> None:
    """Make `folder` and prove that it can be written, before hours are spent on what goes there.

    Raises `FourhopError` if it cannot be made or written.
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
    """As `writable`, and see that files may be published there.

    Raises `FourhopError` also if the folder holds a file `own` but no manifest: it is somebody's own and is not
    overwritten.
    """
    writable(folder)
    with _locked(folder):
        try:
            _recover(folder, manifest)
        except OSError as error:
            raise unwritable(folder, error) from error
        if (folder / own).exists() and not (folder / manifest).exists():
            raise FourhopError(
                f"output folder {folder}: holds a {own} that is not part of a result; choose another folder"
            )


def publish(folder: Path, manifest: str, files: Mapping[str, Write | None]) -> None:
    """Put `files` into `folder`, the manifest among them; `None` stands for a file that goes if it is there.

    Raises `FourhopError` if they cannot be written; the folder then keeps its old content.
    """
    writable(folder)
    try:
        temporary = Scratch(folder, _WRITING)
        try:
            for name, write in files.items():
                path = temporary.path / name
                if write is None:
                    # An empty folder stands for a file that goes.
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
    """Wait for a process that is putting files in place, and do what one that was killed left to do."""
    # A folder that can only be read holds what it holds.
    with contextlib.suppress(OSError), _locked(folder):
        _recover(folder, manifest)


def _complete(folder: Path, manifest: str) -> Path:
    """Where files wait that are complete."""
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
    """The reason why `path`, an output folder or a file in one, cannot be written, with the space on a full disk."""
    folder = path if path.is_dir() else path.parent
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        with contextlib.suppress(OSError):
            disk = shutil.disk_usage(folder)
            reason += f" ({disk.free / 1e6:.1f} of {disk.total / 1e6:.1f} MB are free there)"
    kind = "output folder " if path is folder else ""
    return FourhopError(f"{kind}{path}: cannot be written: {reason}")


def replace(path: Path, write: Write) -> None:
    """Write a temporary file in the same folder, flush it, rename it: `path` is complete or missing, even after a kill.

    Temporary files of a killed writer begin with a dot. Raises `FourhopError` if it cannot be written.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            os.close(descriptor)
            write(temporary)
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            # mkstemp makes files private; a result is as readable as any file its owner writes.
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error


def parquet(table: pl.DataFrame, **options: object) -> Write:
    """Writes a table. It is made in memory, so that what the system says of the disk comes through."""

    def write(path: Path) -> None:
        import io

        made = io.BytesIO()
        table.write_parquet(made, **options)  # type: ignore[arg-type]
        path.write_bytes(made.getbuffer())

    return write


def streamed(rows: pl.LazyFrame, **options: object) -> Write:
    """Writes a table as it is read, never whole in memory."""

    def write(path: Path) -> None:
        import polars as pl

        try:
            rows.sink_parquet(path, **options)  # type: ignore[call-overload]
        except pl.exceptions.PolarsError:
            # Polars does not report the system's error. A full disk still is full while the file exists.
            with tempfile.TemporaryFile(dir=path.parent) as probe:
                probe.write(_PROBE)
            raise

    return write


def text(content: str) -> Write:
    """Writes a text."""
    return lambda path: path.write_text(content, encoding="utf-8")


class Scratch:
    """A folder in another one for files in the making. It goes with this object, or with the program.

    One that a killed process left is removed by the next that makes one of the same name there.
    """

    def __init__(self, parent: Path, prefix: str) -> None:
        """`prefix`: how its name begins. Raises `OSError` if it cannot be made."""
        with _locked(parent):
            for left in parent.glob(f"{prefix}*"):
                # Its process holds a lock on it for as long as it lives.
                with contextlib.suppress(OSError), _opened(left) as descriptor:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(left, ignore_errors=True)
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            # mkdtemp makes folders private; this one may become a part of the result.
            self.path.chmod(0o777 & ~_umask())
            lock = contextlib.ExitStack()
            lock.enter_context(_locked(self.path))
        self.remove = weakref.finalize(self, _gone, self.path, lock)
        """Remove it with all that is in it."""


def _gone(path: Path, lock: contextlib.ExitStack) -> None:
    shutil.rmtree(path, ignore_errors=True)
    lock.close()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder that ends with the process, however it ends."""
    with _opened(folder) as descriptor:
        # A file system without locks: each file is complete anyway.
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
