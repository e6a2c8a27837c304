"""Finds studies: every `papers/<paper>/<figure>.py`, except names that begin with `_`.

Studies of a paper may import common code from a module beside them: `from ._common import cross`.
"""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import sys
import types
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fourhop.errors import FourhopError
from fourhop.study.study import Study

FOLDER = "papers"

_PACKAGE = "fourhop_papers"


@dataclass(frozen=True)
class Found:
    """A study and its location."""

    paper: str
    figure: str
    path: Path
    study: Study
    text: str
    """Description of the study, from its file."""

    @property
    def name(self) -> str:
        """`paper/figure`."""
        return f"{self.paper}/{self.figure}"


def folder(given: Path | None = None) -> Path:
    """The folder of the papers: `given`, or the nearest one called `papers` here, above, or in the checkout.

    Raises `FourhopError` if there is none.
    """
    if given is not None:
        if not given.is_dir():
            raise FourhopError(f"--papers: found {given}, allowed: a folder with one folder per paper")
        return given.resolve()
    here = Path.cwd()
    # For a package built in place, the checkout is three folders up from here.
    for place in (here, *here.parents, Path(__file__).resolve().parents[3]):
        if (place / FOLDER).is_dir() and names(place / FOLDER):
            return (place / FOLDER).resolve()
    raise FourhopError(f"studies: found no folder {FOLDER!r} here or above; name it with --papers DIR")


def names(papers: Path) -> list[str]:
    """`paper/figure` of every study there, in alphabetical order; nothing is imported."""
    each = (path for path in papers.glob("*/*.py") if not path.name.startswith("_"))
    return sorted(f"{path.parent.name}/{path.stem}" for path in each if not path.parent.name.startswith(("_", ".")))


def chosen(papers: Path, wanted: str | None) -> list[str]:
    """The studies named by `PAPER` or `PAPER/FIGURE`; all without it.

    Raises `FourhopError` for an unknown name. A name that begins with `_`, like that of the template, must be given in
    full.
    """
    known = names(papers)
    if wanted is None:
        if not known:
            raise FourhopError(f"studies: found none in {papers}; put one at {papers}/<paper>/<figure>.py")
        return known
    wanted = wanted.strip("/").removesuffix(".py")
    hits = [name for name in known if wanted in (name, name.split("/")[0])]
    if not hits and "/" in wanted and (papers / f"{wanted}.py").is_file():
        hits = [wanted]
    if not hits:
        papers_known = sorted({name.split("/")[0] for name in known})
        paper = wanted.split("/")[0]
        if paper in papers_known:
            allowed = candidates = [name for name in known if name.startswith(f"{paper}/")]
        else:
            allowed, candidates = papers_known, [*papers_known, *known]
        near = difflib.get_close_matches(wanted, candidates, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise FourhopError(f"study: found {wanted!r}, allowed: {', '.join(allowed)}{hint}")
    return hits


def load(papers: Path, name: str) -> Found:
    """Import one study.

    Raises `FourhopError`, naming the file, if it cannot be imported or contains no study.
    """
    paper, figure = name.split("/")
    path = papers / paper / f"{figure}.py"
    module = _import(path, paper, figure)
    study = getattr(module, "study", None)
    if not isinstance(study, Study):
        raise FourhopError(f"{path}: found no study; define study = Study(...) at the top level")
    if not study.sweeps:
        raise FourhopError(f"{path}: found a study without a sweep; add a function under @study.sweep")
    return Found(paper, figure, path, study, inspect.cleandoc(module.__doc__ or ""))


def load_all(papers: Path, wanted: Sequence[str]) -> list[Found]:
    """Import several studies; raises `FourhopError` with the problems of all."""
    found: list[Found] = []
    problems: list[str] = []
    for name in wanted:
        try:
            found.append(load(papers, name))
        except FourhopError as error:
            problems.append(str(error))
    if problems:
        raise FourhopError("\n".join(problems))
    return found


def _import(path: Path, paper: str, figure: str) -> types.ModuleType:
    # One package per paper, so that its studies can share a module; Python names cannot contain dashes.
    package = f"{_PACKAGE}.{paper.replace('-', '_')}"
    for name, place in ((_PACKAGE, path.parents[1]), (package, path.parent)):
        if getattr(sys.modules.get(name), "__path__", None) != [str(place)]:
            for old in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
                del sys.modules[old]
            made = types.ModuleType(name)
            made.__path__ = [str(place)]
            sys.modules[name] = made
    full = f"{package}.{figure}"
    spec = importlib.util.spec_from_file_location(full, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[full]
        raise FourhopError(f"{path}: cannot be imported: {_where(error, path)}") from error
    return module


def _where(error: Exception, path: Path) -> str:
    """The error and its line in the study."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    at = "" if line is None else f"line {line}: "
    return f"{at}{type(error).__name__}: {error}"
