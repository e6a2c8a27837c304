"""`fourhop sweep`: run a scenario over a range of keys, keep every run, and show the results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Argument, Option

if TYPE_CHECKING:
    from fourhop.sweeps.result import SweepResult


def command(
    file: Annotated[
        Path,
        Argument(
            metavar="FILE", help="Sweep in TOML: a scenario and the keys to vary; see docs/sweeps.md. - reads stdin."
        ),
    ],
    out: Annotated[
        Path | None, common.out("DIR", "Keep runs and tables in this folder; default: out/ and the name of FILE.")
    ] = None,
    jobs: Annotated[
        int | None, Option(metavar="N", help="Parallel runs; default: one per core, or all of the cluster's.")
    ] = None,
    dask: Annotated[
        str | None,
        Option(metavar="ADDRESS", help="Run on the workers of this Dask scheduler, such as tcp://host:8786."),
    ] = None,
    set_: common.Set = None,
    seed: common.Seed = None,
    runs: Annotated[
        int | None, Option(metavar="N", help="Runs per point, instead of FILE's runs or precision.")
    ] = None,
    json: common.Json = False,
    csv: common.Csv = False,
    fresh: Annotated[bool, Option("--fresh", help="Compute every run again, even stored ones.")] = False,
) -> None:
    """Run every point of a sweep. Stored runs are reused: repeat the command to continue after an interruption."""
    with common.errors():
        from fourhop.cli.display import SweepDisplay
        from fourhop.sweeps import document
        from fourhop.sweeps.execute import sweep

        common.one_of(json=json, csv=csv)
        text = common.stdin() if file == common.STDIN else None
        described = document.load(file, text, overrides=set_ or (), seed=seed, runs=runs)
        folder = Path("out") / (described.name if text is not None else file.stem) if out is None else out
        with SweepDisplay() as display:
            result = sweep(described, out=folder, jobs=jobs, client=dask, fresh=fresh, progress=display.update)
        _show(result, folder, json=json, csv=csv)


def _show(result: SweepResult, folder: Path, *, json: bool, csv: bool) -> None:
    if json:
        common.print_json(
            {"out": str(folder), "computed": result.computed, "reused": result.reused, **result.to_dict()}
        )
    elif csv:
        echo(result.to_csv(), nl=False)
    else:
        from fourhop.cli import tables

        tables.show_sweep(result)
    runs = "run" if result.computed == 1 else "runs"
    common.say(f"{result.computed} {runs} computed, {result.reused} reused")
    if result.note is not None:
        common.say(f"note: {result.note}")
    for path, problem in result.store.strange.items():
        common.say(f"note: left alone: {path}: {problem}")
    common.say(f"written: {folder}")
