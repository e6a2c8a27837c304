#!/usr/bin/env python3
"""Measure which changes of the Python code the tests notice: `mutants.py` for Python.

    scripts/mutants_python.py [--sample N] [--seed N] [--floor PERCENT] [--again] [AREA ...]

A mutant differs in one place: a comparison, an operator, a number, an inverted condition, a result of `None`. The tests
of its area run on a copy of the package in target/mutants-python. Exits with 1 if an area is below the floor. Tests
that take three times their processor time, or wait for ever, count as having noticed. Run it with the Python of
`.venv`.

As importing libraries would take most of the time, they are imported once: each mutant runs in a fork of this process.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import itertools
import json
import os
import random
import resource
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "target" / "mutants-python"
SURVIVED = ROOT / "target" / "mutants-python.json"

# Each area: its files below python/fourhop, and its tests.
AREAS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "stats": (("stats.py",), ("tests/test_stats.py",)),
    "estimate": (("study/estimate.py",), ("tests/test_estimate.py", "tests/study/test_cells.py")),
    "claims": (
        ("study/claims.py",),
        ("tests/study/test_decided.py", "tests/test_estimate.py", "tests/study/test_cells.py"),
    ),
    "worlds": (("study/worlds.py",), ("tests/study/test_worlds.py",)),
    "sweeps": (
        ("sweeps/describe.py", "sweeps/schedule.py"),
        ("tests/test_schedule.py", "tests/test_result.py", "tests/test_sweep.py"),
    ),
    "study": (
        ("study/cells.py", "study/looks.py", "study/course.py", "study/measures.py", "study/flows.py"),
        # The slowest last, as the first failure ends the tests.
        (
            "tests/study/test_decided.py",
            "tests/study/test_measures.py",
            "tests/study/test_cells.py",
            "tests/study/test_study.py",
            "tests/study/test_looks.py",
        ),
    ),
    "execute": (
        (
            "study/study.py",
            "study/execute.py",
            "study/find.py",
            "study/variants.py",
            "study/recent.py",
            "study/measured.py",
        ),
        (
            "tests/study/test_study.py",
            "tests/study/test_recent.py",
            "tests/test_measured.py",
            "tests/study/test_worlds.py",
            "tests/study/test_reproduce.py",
        ),
    ),
    "charts": (
        ("study/chart.py", "study/draw.py", "study/drawing.py", "study/sweepchart.py"),
        ("tests/study/test_charts.py", "tests/test_plots.py", "tests/test_report.py"),
    ),
    "community": (
        ("community/",),
        (
            "tests/test_community.py",
            "tests/test_community_any.py",
            "tests/test_community_rates.py",
            "tests/test_community_read.py",
            "tests/test_community_values.py",
        ),
    ),
    "whatif": (
        ("whatif/",),
        ("tests/test_whatif.py", "tests/test_whatif_words.py", "tests/test_whatif_worlds.py"),
    ),
}
# Each mutant imports these itself. Programs in scripts/ are among them because they import the package.
OURS = ("fourhop", "tests", "conftest", *(path.stem for path in sorted((ROOT / "scripts").glob("*.py"))))

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


def changed(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Replacements of a node, each with a name."""
    match node:
        case ast.Compare(ops=[first, *_]) if type(first) in COMPARED:
            other = COMPARED[type(first)]
            yield (
                f"{type(first).__name__} -> {other.__name__}",
                ast.Compare(node.left, [other(), *node.ops[1:]], node.comparators),
            )
        case ast.BinOp() if type(node.op) in COMPUTED:
            operator = COMPUTED[type(node.op)]
            yield f"{type(node.op).__name__} -> {operator.__name__}", ast.BinOp(node.left, operator(), node.right)
        case ast.BoolOp(op=ast.And()):
            yield "and -> or", ast.BoolOp(ast.Or(), node.values)
        case ast.BoolOp():
            yield "or -> and", ast.BoolOp(ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield "no sign", node.operand
        case ast.Constant(value=bool(value)):
            yield f"{value} -> {not value}", ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield f"{value} -> {value + 1}", ast.Constant(value + 1)
        case ast.IfExp():
            yield "other branch", ast.IfExp(node.test, node.orelse, node.body)
        case ast.If():
            yield "if not", ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        case ast.Return(value=ast.expr()) if not isinstance(getattr(node.value, "value", ...), NoneType):
            yield "return None", ast.Return(ast.Constant(None))
        case _:
            return


def inside(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every executed place below a node, without annotations and code that only type checkers read."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns"):
            continue
        for at, each in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(each, ast.AST) and "TYPE_CHECKING" not in ast.unparse(getattr(each, "test", ast.Pass())):
                yield node, field, at
                yield from inside(each)


def mutants(path: Path) -> list[tuple[str, int]]:
    """Every change of a file: its name, and the number of its place."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes: list[Any] = [node_at(*place) for place in inside(tree)]
    return [
        (f"{path.name}:{node.lineno}: {name}", number) for number, node in enumerate(nodes) for name, _ in changed(node)
    ]


def mutated(path: Path, number: int) -> str:
    """The file with the change at this place."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parent, field, index = next(itertools.islice(inside(tree), number, None))
    (_, put), *_ = changed(node_at(parent, field, index))
    if index is None:
        setattr(parent, field, put)
    else:
        getattr(parent, field)[index] = put
    return ast.unparse(ast.fix_missing_locations(tree))


def node_at(parent: ast.AST, field: str, index: int | None) -> ast.AST:
    """The node at a place."""
    value = getattr(parent, field)
    node: ast.AST = value if index is None else value[index]
    return node


def passes(tests: tuple[str, ...], seconds: int | None) -> tuple[bool, float]:
    """Whether the tests of an area pass on the copy, and their processor time."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            code = run(tests, seconds, None if seconds else writer)
            os._exit(code)
        finally:
            os._exit(2)
    os.close(writer)
    with os.fdopen(reader) as answer:
        names = answer.read().split()
    _, status, usage = os.wait4(child, 0)
    for name in names:
        # Parts of a library that only a test program may load are not needed here.
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    return status == 0, usage.ru_utime


def run(tests: tuple[str, ...], seconds: int | None, writer: int | None) -> int:
    """Run tests in a separate process; reports the third-party modules that they used to `writer`."""
    if seconds:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        # Tests that wait for ever use no processor time; others may be slow on a busy machine.
        signal.alarm(60 + 20 * seconds)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    os.chdir(ROOT)
    os.environ["PYTHONPATH"] = str(COPY)
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", f"pythonpath={COPY}"]
    # Plugins are imported before pytest looks for them.
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    code = pytest.main([*options, *tests])
    if writer is not None:
        os.write(writer, "\n".join(name for name in sys.modules if name.split(".")[0] not in OURS).encode())
    return int(code)


def sources(files: tuple[str, ...]) -> Iterator[Path]:
    """The files of an area, those of a folder in order."""
    for file in files:
        path = COPY / "fourhop" / file
        yield from sorted(path.glob("*.py")) if path.is_dir() else [path]


def measure(area: str, sample: int, seed: int, last: list[str] | None) -> tuple[int, list[str]]:
    """Number of mutants in an area's sample, and the survivors; `last`: the only ones that may survive."""
    files, tests = AREAS[area]
    # Their doctests count as tests, too.
    tests = (*(str(COPY / "fourhop" / file) for file in files), *tests)
    passes(tests, None)
    if "fourhop" in sys.modules:
        raise SystemExit(f"{area}: the package was imported before its mutants; add to OURS the module that imports it")
    # Again with the libraries imported, as with a mutant.
    passed, seconds = passes(tests, None)
    if not passed:
        raise SystemExit(f"{area}: its tests fail without any change")
    every = [(path, *each) for path in sources(files) for each in mutants(path)]
    drawn = random.Random(f"{seed} {area}").sample(every, min(sample, len(every)))
    survivors = []
    for path, name, number in drawn:
        if last is not None and f"{name} ({number})" not in last:
            continue
        original = path.read_text(encoding="utf-8")
        path.write_text(mutated(path, number), encoding="utf-8")
        try:
            if passes(tests, int(3 * seconds) + 3)[0]:
                survivors.append(f"{name} ({number})")
                print(f"{area}: survived: {name} ({number})", flush=True)
        finally:
            path.write_text(original, encoding="utf-8")
    return len(drawn), survivors


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"of {', '.join(AREAS)}; default: all")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--floor", type=float, default=90.0)
    parser.add_argument("--again", action="store_true", help="only those that survived last time")
    given = parser.parse_args()
    if unknown := [area for area in given.areas if area not in AREAS]:
        parser.error(f"areas: found {', '.join(unknown)}, allowed: {', '.join(AREAS)}")
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(ROOT / "python", COPY, ignore=shutil.ignore_patterns("__pycache__"))
    sys.dont_write_bytecode = True
    low = []
    survived: dict[str, list[str]] = json.loads(SURVIVED.read_text()) if SURVIVED.exists() else {}
    for area in given.areas or AREAS:
        ran, survivors = measure(area, given.sample, given.seed, survived.get(area) if given.again else None)
        survived[area] = survivors
        SURVIVED.write_text(json.dumps(survived, indent=1))
        share = 100.0 * (ran - len(survivors)) / ran
        print(f"{area}: {ran - len(survivors)} of {ran} killed, {share:.0f} %", flush=True)
        low += [area] if share < given.floor else []
    if low:
        print(f"below {given.floor:g} %: {', '.join(low)}", file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
