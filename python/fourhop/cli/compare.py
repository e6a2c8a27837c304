"""`fourhop compare`: scenarios side by side, run by run over the same seeds."""

from __future__ import annotations

import json as json_
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Argument, Option

if TYPE_CHECKING:
    from fourhop.scenario import Scenario


def command(
    files: Annotated[
        list[Path],
        Argument(metavar="FILE...", help="Scenarios in TOML, or one folder that `fourhop sweep` wrote."),
    ],
    vary: Annotated[
        list[str] | None,
        Option(
            metavar="KEY=VALUES",
            complete=common.keys,
            help="Vary a key, such as transport=newreno,tcp-ap. With one FILE, compare the values of the first --vary.",
        ),
    ] = None,
    set_: common.Set = None,
    duration: common.Duration = None,
    by: Annotated[str | None, Option(metavar="KEY", help="Key to compare; default: the first.")] = None,
    against: Annotated[
        str | None, Option(metavar="VALUE", help="Baseline of the comparison; default: the first.")
    ] = None,
    runs: Annotated[int | None, Option(metavar="N", help="Pairs of runs; default: 10.")] = None,
    seed: Annotated[int | None, Option(metavar="N", help="Seed of the first pair; default: the scenario's.")] = None,
    json: common.Json = False,
    csv: common.Csv = False,
    out: Annotated[Path | None, common.out("DIR", "Keep the runs in this folder, as `fourhop sweep` does.")] = None,
    jobs: Annotated[int | None, Option(metavar="N", help="Parallel runs; default: one per core.")] = None,
) -> None:
    """Compare scenarios or transports over the same seeds: differences and ratios with 95 % intervals."""
    with common.errors():
        from fourhop import comparison
        from fourhop.cli.display import SweepDisplay
        from fourhop.sweeps.result import SweepResult

        common.one_of(json=json, csv=csv)
        if len(files) == 1 and files[0].is_dir():
            _refuse(files[0], vary=vary, set=set_, duration=duration, runs=runs, seed=seed, out=out, jobs=jobs)
            found = comparison.of(SweepResult.load(files[0]), by, against)
        else:
            scenarios = {name: common.load(file, set_, None, duration) for name, file in _named(files).items()}
            what: Scenario | dict[str, Scenario] = scenarios if len(files) > 1 else next(iter(scenarios.values()))
            with SweepDisplay() as display:
                found = comparison.compare(
                    what,
                    dict(map(_varied, vary or [])),
                    by=by,
                    against=against,
                    runs=comparison.RUNS if runs is None else runs,
                    seed=seed,
                    out=out,
                    jobs=jobs,
                    progress=display.update,
                )
    if json:
        echo(json_.dumps({"by": found.by, "against": found.against, "rows": found.table.to_dicts()}))
    elif csv:
        echo(found.to_csv(), nl=False)
    else:
        echo(str(found))


def _refuse(folder: Path, **options: object) -> None:
    from fourhop.errors import FourhopError

    given = [f"--{name}" for name, value in options.items() if value is not None]
    if given:
        raise FourhopError(
            f"{', '.join(given)}: {folder} already has its runs; leave this out, or name scenarios instead"
        )


def _named(files: list[Path]) -> dict[str, Path]:
    """The files by name, or by full path if two have the same name."""
    from fourhop.errors import FourhopError

    stems = {file.stem for file in files}
    named = {file.stem if len(stems) == len(files) else str(file): file for file in files}
    if len(named) < len(files):
        raise FourhopError("compare: a file is given twice: give each file once")
    return named


def _varied(text: str) -> tuple[str, list[Any]]:
    """A key and its values: separated by commas, or a list or range of TOML as in a sweep file."""
    from fourhop.errors import FourhopError
    from fourhop.sweeps import document

    key, equals, values = text.partition("=")
    if not equals:
        raise FourhopError(f"--vary: found {text!r}, allowed: KEY=VALUES, such as transport=newreno,tcp-ap")
    try:
        if values.lstrip()[:1] in ("[", "{"):
            return key.strip(), document.values(tomllib.loads(f"values = {values}")["values"])
        return key.strip(), [_word(word.strip()) for word in values.split(",")]
    except ValueError as error:
        raise FourhopError(f"--vary: {key.strip()}: {error}") from None


def _word(text: str) -> Any:
    """A number or a boolean; names and quantities need no quotes, as with `--set`."""
    try:
        return json_.loads(text)
    except ValueError:
        return text
