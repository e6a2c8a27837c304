"""`fourhop reproduce`: measures the figures of the papers again, and checks the papers' statements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Argument, Option
from fourhop.text import count

if TYPE_CHECKING:
    from fourhop.study.find import Found
    from fourhop.study.worlds import World

NOT_REPRODUCED = 1
"""Exit code with `--strict` if a check was not reproduced."""


def command(
    wanted: Annotated[
        str | None, Argument(metavar="[PAPER[/FIGURE]]", help="A paper, or one of its figures; default: all.")
    ] = None,
    out: Annotated[
        Path | None,
        common.out("DIR", "Write report, data and runs here; default: `report`, or `report-quick` with --quick."),
    ] = None,
    quick: Annotated[
        bool, Option("--quick", help="Short runs that only check that everything works; no verdicts, no PDFs.")
    ] = False,
    full: Annotated[
        bool, Option("--full", help="All runs of every point, even where half of them decide every check.")
    ] = False,
    list_: Annotated[bool, Option("--list", help="List the figures and exit.")] = False,
    json: common.Json = False,
    jobs: Annotated[int | None, Option(metavar="N", help="Parallel runs; default: one per core.")] = None,
    strict: Annotated[
        bool, Option("--strict", help="Exit with 1 if a check in the profile ns2 is not reproduced.")
    ] = False,
    world: Annotated[
        list[str] | None,
        Option(
            "--world",
            metavar="NAME",
            help="Judge every statement in this world and in that of ns-2.35; all: in every world. May be repeated.",
        ),
    ] = None,
    dask: Annotated[
        str | None, Option(metavar="ADDRESS", help="Run on a Dask cluster, such as tcp://host:8786.")
    ] = None,
    papers: Annotated[
        Path | None, Option(metavar="DIR", help="Folder of the papers; default: the nearest `papers`.")
    ] = None,
) -> None:
    """Reproduce figures of the papers: run, draw, check, and write a report.

    Points get no more runs than their checks need; all looks at the runs share the 5 % error of
    a 95 % interval. Runs are kept in DIR/store: repeat the command to continue after an interruption.
    The report is DIR/index.html. The exit code is 0 once everything ran, whatever the checks say; see --strict.
    With --world, see DIR/worlds.html for the verdicts under other values of settings that papers leave out.
    """
    with common.errors():
        from fourhop import store
        from fourhop.errors import SweepInterrupted
        from fourhop.study import find, worlds

        asked = worlds.chosen(world) if world else None
        folder = find.folder(papers)
        names = find.chosen(folder, wanted)
        found = find.load_all(folder, names)
        if list_:
            _list(found, json=json)
            return
        out = out or Path("report-quick" if quick else "report")
        store.writable(out)
        try:
            records, failed = _reproduce(found, out, quick=quick, full=full, jobs=jobs, dask=dask, worlds=asked)
        except SweepInterrupted:
            common.say(f"interrupted: finished runs are kept in {out}; run the same command to continue")
            raise common.Exit(common.INTERRUPTED) from None
        if records:
            from fourhop import report

            page = report.build(out) if asked is None else report.build_worlds(out)
            if asked is not None:
                summary = worlds.summary(records)
                if json:
                    common.print_json({"report": str(page), "papers": summary, "failed": failed})
                else:
                    _show_worlds(summary)
                    echo(f"\nreport: {page}")
            elif json:
                common.print_json(
                    {"report": str(page), "figures": [_record(each) for each in records], "failed": failed}
                )
            else:
                _show(records)
                echo(f"\nreport: {page}")
        if failed:
            common.say(f"failed: {', '.join(failed)}")
            raise common.Exit(common.BAD_INPUT)
        lost = [record for record in records if asked is None and _lost(record)]
        if strict and lost:
            common.say(f"not reproduced: {', '.join(_name(record) for record in lost)}")
            raise common.Exit(NOT_REPRODUCED)


def _reproduce(
    found: list[Found],
    out: Path,
    *,
    quick: bool,
    full: bool,
    jobs: int | None,
    dask: str | None,
    worlds: Sequence[World] | None,
) -> tuple[list[dict[str, Any]], list[str]]:
    """The records of the studies that ran, and the names of those that failed, which does not stop the others."""
    from fourhop.cli.study_display import StudyDisplay
    from fourhop.errors import FourhopError
    from fourhop.study import execute, measured
    from fourhop.study.course import Course
    from fourhop.study.execute import Job, Outcomes
    from fourhop.study.study import Data
    from fourhop.sweeps.result import SweepResult

    possible = [None if worlds is None else execute.possible(each, worlds) for each in found]
    planned = [
        execute.jobs(
            each,
            quick=quick,
            worlds=None if tried is None else list(dict.fromkeys(here for here, _ in tried.values())),
        )
        for each, tried in zip(found, possible, strict=True)
    ]
    # Quick runs have no known costs, and each is short.
    known = {} if quick else measured.costs(found, full=full)
    cost = measured.Cost(known, [job for work in planned for job in work])
    total = sum(job.runs for each in planned for job in each)
    common.say(f"{count(len(found), 'figure')}, {count(total, 'run')}{', quick' if quick else ''}")
    records = []
    failed = []
    with StudyDisplay(total, cost.total_s) as display:

        def run(job: Job, runs: Sequence[int] | None = None) -> SweepResult:
            share = 1.0 if runs is None else sum(runs) / (len(runs) * job.most)
            display.begin(job.title, round(share * job.runs), share * cost.of(job))
            result = execute.run(job, out, runs, runs_at_a_time=jobs, client=dask, progress=display.update)
            display.end()
            return result

        for each, work, tried in zip(found, planned, possible, strict=True):
            try:
                results: dict[tuple[str, str], SweepResult] = {}
                decided: dict[str, Outcomes] = {}
                for world in dict.fromkeys(job.world for job in work):
                    mine = [job for job in work if job.world == world]
                    if quick or full:
                        ran = {job.name: run(job) for job in mine}
                    else:
                        course = Course(each.study, world.profile, mine, run, causes=tried is None)
                        ran, decided[world.name] = course.finish(), course.outcomes
                    results |= {(world.name, name): result for name, result in ran.items()}
                    if tried is not None and (quick or full):
                        data = Data(world.profile, {job.name: job.cells(ran[job.name]) for job in mine})
                        decided[world.name] = execute.outcomes(each.study.checks.values(), data, quick=quick)
                for job in work:
                    display.finish(job.title, job.runs, cost.of(job))
                if tried is None:
                    records.append(execute.record(each, results, out, quick=quick, decided=decided))
                elif tried:
                    records.append(execute.record_worlds(each, tried, decided, out, quick=quick))
            except FourhopError as error:
                failed.append(each.name)
                common.say(f"error: {each.name}: {error}")
    return records, failed


def _record(record: dict[str, Any]) -> dict[str, Any]:
    """A figure with its checks, by profile."""
    keys = ("measured", "verdict")
    checks = [
        {
            "statement": check["statement"],
            "paper": check["paper"],
            "profiles": {
                profile: {key: each[number][key] for key in keys} for profile, each in _outcomes(record).items()
            },
        }
        for number, check in enumerate(_checks(record))
    ]
    return {"figure": _name(record), "checks": checks}


def _list(found: list[Found], *, json: bool) -> None:
    if json:
        figures = [
            {
                "figure": each.name,
                "title": each.study.title,
                "profiles": list(each.study.profiles),
                "checks": len(each.study.checks),
            }
            for each in found
        ]
        common.print_json({"figures": figures})
        return
    from fourhop.cli import tables

    rows = [
        (each.name, str(len(each.study.checks)), ", ".join(each.study.profiles), each.study.title) for each in found
    ]
    tables.console().print(tables.table(("figure", ">checks", "profiles", "title"), rows, wrapped=(3,)))


def _show(records: list[dict[str, Any]]) -> None:
    from fourhop.cli import tables
    from fourhop.study.study import PROFILES

    # Some studies have only one profile.
    profiles = [each for each in PROFILES if any(each in record["profiles"] for record in records)]
    rows = []
    for record in records:
        outcomes = _outcomes(record)
        first = next(iter(outcomes))
        for number, check in enumerate(_checks(record)):
            verdicts = [outcomes[each][number]["verdict"] if each in outcomes else "-" for each in profiles]
            measured = f"{first}: {outcomes[first][number]['measured']}"
            rows.append((_name(record), check["statement"], check["paper"], measured, *verdicts))
    out = tables.console()
    columns = ("figure", "check", "the paper", "measured", *profiles)
    # Sentences are wrapped; the verdicts never are.
    out.print(tables.table(columns, rows, wrapped=(1, 2, 3)))


def _show_worlds(papers: dict[str, Any]) -> None:
    from fourhop.cli import tables

    verdicts = ("reproduced", "partly", "not reproduced", "not judged")
    rows = [
        (paper, name, each["label"], str(each["figures"]), *(str(each[verdict]) for verdict in verdicts))
        for paper, of in papers.items()
        for name, each in of["worlds"].items()
        if each["figures"]
    ]
    columns = ("paper", "world", "what", ">figures", *(f">{verdict}" for verdict in verdicts))
    tables.console().print(tables.table(columns, rows, wrapped=(2,)))
    for paper, of in papers.items():
        if of["most"]:
            echo(f"{paper}: most statements hold in {' and '.join(of['most'])}; {count(of['tried'], 'world')} tried")


def _outcomes(record: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    return {profile: each["outcomes"] for profile, each in record["profiles"].items()}


def _checks(record: dict[str, Any]) -> list[dict[str, Any]]:
    return next(iter(_outcomes(record).values()), [])


def _lost(record: dict[str, Any]) -> bool:
    """Whether a check failed under the first profile, the behaviour of ns-2."""
    return any(each["verdict"] == "not reproduced" for each in _checks(record))


def _name(record: dict[str, Any]) -> str:
    return f"{record['paper']}/{record['figure']}"
