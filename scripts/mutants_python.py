#!/usr/bin/env python3
"""Measure which changes of the Python code the tests notice: `mutants.py` for Python.

    scripts/mutants_python.py [--sample N] [--seed N] [--floor PERCENT] [AREA ...]

A mutant differs in one place: a comparison, an operator, a number, a condition turned round, a result that is `None`.
The tests of its area run on a copy of the package in target/mutants-python. Exits with 1 if an area is below the floor.
Tests that take ten times their processor time have noticed. Run it with the Python of `.venv`.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "target" / "mutants-python"

# Each area: its files below python/fourhop, and its tests.
AREAS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "stats": (("stats.py",), ("tests/test_stats.py",)),
    "estimate": (("study/estimate.py",), ("tests/test_estimate.py", "tests/study/test_cells.py")),
    "claims": (("study/claims.py",), ("tests/test_estimate.py", "tests/study/test_cells.py")),
    "worlds": (("study/worlds.py",), ("tests/study/test_worlds.py",)),
    "sweeps": (("sweeps/describe.py", "sweeps/schedule.py"), ("tests/test_sweep.py",)),
}

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
        case ast.Return(value=ast.expr()):
            yield "return None", ast.Return(ast.Constant(None))
        case _:
            return


def inside(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every place below a node that runs: annotations do not, nor does what only a type checker reads."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns"):
            continue
        for at, each in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(each, ast.AST) and "TYPE_CHECKING" not in ast.unparse(getattr(each, "test", ast.Pass())):
                yield node, field, at
                yield from inside(each)


def mutants(path: Path) -> Iterator[tuple[str, str]]:
    """Every change of a file, and the file with it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    places = list(inside(tree))
    for number, (parent, field, at) in enumerate(places):
        value = getattr(parent, field)
        node = value if at is None else value[at]
        for name, _ in changed(node):
            other = copy.deepcopy(tree)
            its_parent, _, _ = list(inside(other))[number]
            its_value = getattr(its_parent, field)
            (_, put), *_ = changed(its_value if at is None else its_value[at])
            if at is None:
                setattr(its_parent, field, put)
            else:
                its_value[at] = put
            yield f"{path.name}:{node.lineno}: {name}", ast.unparse(ast.fix_missing_locations(other))  # type: ignore[attr-defined]


def passes(tests: tuple[str, ...], seconds: int | None) -> tuple[bool, float]:
    """Whether the tests of an area pass on the copy, and their processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    limit = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))) if seconds else None
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", f"pythonpath={COPY}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=ROOT,
        capture_output=True,
        preexec_fn=limit,
        env={**os.environ, "PYTHONPATH": str(COPY), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return done.returncode == 0, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(area: str, sample: int, seed: int) -> tuple[int, list[str]]:
    """How many mutants of an area's sample ran, and those that survived."""
    files, tests = AREAS[area]
    passed, seconds = passes(tests, None)
    if not passed:
        raise SystemExit(f"{area}: its tests fail without any change")
    every = [(COPY / "fourhop" / file, *each) for file in files for each in mutants(COPY / "fourhop" / file)]
    drawn = random.Random(f"{seed} {area}").sample(every, min(sample, len(every)))
    survivors = []
    for path, name, text in drawn:
        original = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        try:
            if passes(tests, int(10 * seconds) + 10)[0]:
                survivors.append(name)
                print(f"{area}: survived: {name}", flush=True)
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
    given = parser.parse_args()
    if unknown := [area for area in given.areas if area not in AREAS]:
        parser.error(f"areas: found {', '.join(unknown)}, allowed: {', '.join(AREAS)}")
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(ROOT / "python", COPY, ignore=shutil.ignore_patterns("__pycache__"))
    low = []
    for area in given.areas or AREAS:
        ran, survivors = measure(area, given.sample, given.seed)
        share = 100.0 * (ran - len(survivors)) / ran
        print(f"{area}: {ran - len(survivors)} of {ran} killed, {share:.0f} %", flush=True)
        low += [area] if share < given.floor else []
    if low:
        print(f"below {given.floor:g} %: {', '.join(low)}", file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
