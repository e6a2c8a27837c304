"""`fourhop results`: the content of a folder of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Argument, Option

if TYPE_CHECKING:
    from fourhop.sweeps.runstore import RunStore


def command(
    folder: Annotated[Path, Argument(metavar="DIR", help="Folder that `fourhop sweep` wrote.")],
    json: common.Json = False,
    csv: Annotated[bool, Option("--csv", help="Print only a table of the last sweep, as CSV, on stdout.")] = False,
    table: Annotated[
        str | None, Option(metavar="NAME", help="Table for --csv, such as flows; default: summary.")
    ] = None,
) -> None:
    """List a folder of runs: its last sweep, all runs by scenario, and other files."""
    with common.errors():
        from fourhop.cli import tables
        from fourhop.errors import FourhopError
        from fourhop.sweeps import inventory, manifest
        from fourhop.sweeps.result import SweepResult, Table
        from fourhop.sweeps.runstore import RunStore

        common.one_of(json=json, csv=csv)
        if table is not None and not csv:
            raise FourhopError("--table: needs --csv")
        if csv:
            echo(SweepResult.load(folder).to_csv(table=cast(Table, table or "summary")), nl=False)
            return
        store = RunStore(folder)
        if not store.runs.is_dir() and not (folder / manifest.MANIFEST).exists():
            raise FourhopError(f"{folder}: found no sweep; name a folder that `fourhop sweep` wrote")
        if json:
            _print_json(folder, store)
            return
        out = tables.console()
        if (folder / manifest.MANIFEST).exists():
            try:
                tables.show_sweep(SweepResult.load(folder))
                out.print()
            except FourhopError as error:
                common.say(f"note: {error}")
        kept = inventory.take(store)
        tables.show_runs(kept)
        for path, problem in store.strange.items():
            common.say(f"note: left alone: {path}: {problem}")


def _print_json(folder: Path, store: RunStore) -> None:
    from dataclasses import asdict

    from fourhop.errors import FourhopError
    from fourhop.sweeps import inventory, manifest
    from fourhop.sweeps.result import SweepResult

    swept: dict[str, object] | None = None
    note = None
    if (folder / manifest.MANIFEST).exists():
        try:
            swept = SweepResult.load(folder).to_dict()
        except FourhopError as error:
            note = str(error)
    kept = [asdict(each) for each in inventory.take(store)]
    strange = {str(path): str(problem) for path, problem in store.strange.items()}
    common.print_json({"out": str(folder), "sweep": swept, "note": note, "runs": kept, "left_alone": strange})
