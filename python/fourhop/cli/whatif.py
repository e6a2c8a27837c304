"""`fourhop whatif`: whether a change would help a mesh."""

from __future__ import annotations

import json as json_
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Option

if TYPE_CHECKING:
    from fourhop.whatif import Answer


def command(
    file: common.File,
    runs: Annotated[
        int | None, Option(metavar="N", help="Runs per change; default: as many as fit into --seconds.")
    ] = None,
    seconds: Annotated[int, Option(metavar="N", help="Approximate time limit; a first answer comes earlier.")] = 60,
    places: Annotated[int, Option(metavar="N", help="Number of gateway locations to try.")] = 3,
    seed: Annotated[int | None, Option(metavar="N", help="Seed of the first run; default: the scenario's.")] = None,
    out: Annotated[
        Path | None, common.out("DIR", "Folder for page and runs; default: `whatif-` and the scenario's name.")
    ] = None,
    set_: common.Set = None,
    transport: common.Transport = None,
    duration: common.Duration = None,
    jobs: Annotated[int | None, Option(metavar="N", help="Parallel runs; default: one per core.")] = None,
    json: common.Json = False,
) -> None:
    """Try other TCPs, a pacing gateway and other gateway locations on a mesh: who gains, who loses, and how much.

    Runs are kept in DIR: repeat the command to continue after an interruption. The page is DIR/index.html.
    """
    with common.errors():
        from fourhop.cli.display import Bar
        from fourhop.study import execute
        from fourhop.whatif import ask, page, to_dict
        from fourhop.whatif.ask import MANY_NODES, SHORT

        scenario = common.load(file, set_, transport, duration)
        places_ = [scenario.resolved["topology"].get(key, ()) for key in ("coordinates", "positions")]
        if runs is None and duration is None and max(map(len, places_)) > MANY_NODES:
            scenario = scenario.with_(**SHORT)
        folder = out or Path(f"whatif-{scenario.name if file == common.STDIN else file.stem}")
        notes = _notes(file)
        with Bar("run 1 of each change") as bar:
            answer = ask(
                scenario, runs=runs, seconds=seconds, places=places, seed=seed, out=folder / execute.STORE, jobs=jobs,
                notes=notes, progress=bar.show, first=None if json else _first,
            )  # fmt: skip
        written = page.write(answer, folder, notes)
    if json:
        echo(json_.dumps({"page": str(written), **to_dict(answer)}))
        return
    echo("\n".join([*report(answer, notes), "", f"page: {written}"]))


def _first(answer: Answer) -> None:
    """Print the result of the first few runs, while more are running."""
    from fourhop.whatif import words

    echo(f"so far, after {len(answer.results)} runs: {words.headline(answer)}", err=True)


def report(answer: Answer, notes: Sequence[str] = ()) -> list[str]:
    """The answer as lines for a terminal."""
    from fourhop.whatif import words

    lines: list[str] = []

    def say(text: str, indent: str = "") -> None:
        lines.extend(textwrap.wrap(text, 88, initial_indent=indent, subsequent_indent=indent))

    say("What this model does not cover:")
    for sentence in words.unknown(answer, notes):
        say(sentence, "  ")
    lines.append("")
    say(words.headline(answer))
    lines.append("")
    say(f"{answer.tried.today.label}: {answer.tried.today.what}")
    for sentence in words.today(answer):
        say(sentence, "  ")
    for change in answer.ranked:
        lines += ["", f"{change.label}: {words.VERDICTS[words.verdict(answer.effects[change.name])]}"]
        for sentence in words.sentences(answer, change):
            say(sentence, "  ")
    lines.append("")
    for sentence in words.otherwise(answer):
        say(sentence)
    for label, why in answer.tried.left_out:
        say(f"not tried: {label}: {why}")
    return lines


def _notes(file: Path) -> list[str]:
    """The comment at the start of a scenario file: the assumptions of `fourhop import`."""
    if file == common.STDIN:
        return []
    notes = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        notes.append(line.lstrip("# ").strip())
    return notes
