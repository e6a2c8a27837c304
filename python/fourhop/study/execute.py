"""Run a study: its sweeps, its charts and its checks, and record the outcome.

The outcome is one plain record, `figures/<paper>/<figure>.json` beside the runs; the report is made from these.
"""

from __future__ import annotations

import json
import math
import subprocess
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourhop._core import version
from fourhop.errors import FourhopError
from fourhop.study.cells import Cells
from fourhop.study.chart import Chart
from fourhop.study.claims import Claim, Verdict, judge, reason
from fourhop.study.draws import Draws
from fourhop.study.find import Found
from fourhop.study.study import Cause, Check, Data, Profile, Study
from fourhop.study.worlds import FOLDER, World

if TYPE_CHECKING:
    import distributed

    from fourhop.sweeps.describe import Sweep
    from fourhop.sweeps.execute import SweepProgress
    from fourhop.sweeps.result import SweepResult

STORE = "store"
"""Folder of the runs, common to all studies, as figures share runs."""

FIGURES = "figures"
"""Folder of the records."""

DATA = "data"
"""Folder of the tables behind the figures."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One sweep of one study in one world."""

    found: Found
    world: World
    name: str
    sweep: Sweep

    @property
    def profile(self) -> Profile:
        """The profile of its world."""
        return self.world.profile

    @property
    def most(self) -> int:
        """Maximum number of runs of a point."""
        return self.sweep.wanted

    @cached_property
    def draws(self) -> Draws | None:
        """Its draws, if it is a sweep over draws."""
        return draws_of(self.found.study, self.name, self.sweep)

    def cells(self, result: SweepResult) -> Cells:
        """Its results for a study."""
        return cells_of(self.found.study, self.name, result)

    @property
    def runs(self) -> int:
        """Number of runs; with a precision target, the minimum."""
        return len(self.sweep.points) * (self.sweep.replications if self.sweep.target is None else 3)

    @property
    def title(self) -> str:
        """Title for progress output."""
        sweep = "" if len(self.found.study.sweeps) == 1 else f", {self.name}"
        return f"{self.found.name}, {self.world.name}{sweep}"


def draws_of(study: Study, name: str, sweep: Sweep) -> Draws | None:
    """The draws of one of a study's sweeps, if it is over draws."""
    return Draws(sweep, study.draws[name]) if name in study.draws else None


def cells_of(study: Study, name: str, result: SweepResult) -> Cells:
    """The results of one of a study's sweeps."""
    return Cells.of(result, name, draws_of(study, name, result.sweep))


def jobs(found: Found, *, quick: bool, worlds: Sequence[World] | None = None) -> list[Job]:
    """Every sweep of a study, for every profile or in these worlds.

    Raises `FourhopError`, naming the file, if a sweep cannot be made.
    """
    made = []
    for world in [World(profile) for profile in found.study.profiles] if worlds is None else worlds:
        try:
            sweeps = {name: world.of(sweep) for name, sweep in found.study.made(world.profile, quick=quick).items()}
        except Exception as error:
            kind = "world" if world.parts else "profile"
            raise FourhopError(f"{found.path}: {kind} {world.name}: {_line(error)}") from error
        made += [Job(found, world, name, sweep) for name, sweep in sweeps.items()]
    return made


def possible(found: Found, worlds: Sequence[World]) -> dict[World, tuple[World, dict[str, str]]]:
    """The part of each world that applies to a study, and why the rest does not; only worlds of its own profiles."""
    asked = [world for world in worlds if world.profile in found.study.profiles]
    sweeps = {
        profile: [job.sweep for job in jobs(found, quick=False, worlds=[World(profile)])]
        for profile in dict.fromkeys(world.profile for world in asked)
    }
    return {world: world.within(sweeps[world.profile]) for world in asked}


def run(
    job: Job,
    out: Path,
    runs: Sequence[int] | None = None,
    *,
    runs_at_a_time: int | None = None,
    client: distributed.Client | str | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
) -> SweepResult:
    """Run one sweep, or only the first `runs` of each point, reusing stored runs."""
    from fourhop.sweeps.execute import carry_out, warn

    result = carry_out(job.sweep, runs, out=out / STORE, jobs=runs_at_a_time, client=client, progress=progress)
    if result.computed:
        warn(result.flows_without_path())
    return result


Outcomes = Mapping[Check | Cause, Record]
"""The verdicts on checks and causes."""


def record(
    found: Found,
    results: Mapping[tuple[str, str], SweepResult],
    out: Path,
    *,
    quick: bool,
    decided: Mapping[str, Outcomes] | None = None,
) -> Record:
    """Draw and check a study whose sweeps have run, write tables and record, and return the record.

    If checks were `decided` at looks, they keep their outcomes, and causes that nobody asked for have none; otherwise
    all are compared with all runs. Charts show all runs, each point with the 95 % interval of its own runs. Those of
    `quick` studies have no PDFs.
    """
    study = found.study
    profiles: dict[str, Any] = {}
    for profile in study.profiles:
        mine = {name: result for (which, name), result in results.items() if which == profile}
        data = Data(profile, {name: cells_of(study, name, result) for name, result in mine.items()})
        of = (decided or {}).get(profile) or outcomes(
            [*study.causes.values(), *study.checks.values()], data, quick=quick
        )
        causes = {name: of[cause] for name, cause in study.causes.items() if cause in of}
        checks = [judged(check, of[check], profile, causes) for check in study.checks.values()]
        charts = [_chart(name, draw, caption, data, mine, found) for name, (caption, draw) in study.charts.items()]
        place = out / DATA / found.paper / found.figure
        sweeps = [_sweep(name, result, place, f"{profile}-{name}") for name, result in mine.items()]
        for chart in charts:
            _write_chart(chart, place / f"{profile}-{chart.name}.csv")
            if chart.kind != "table" and not quick:
                write(place / f"{profile}-{chart.name}.pdf", _pdf(chart))
        profiles[profile] = {
            "verdict": overall([each["verdict"] for each in checks]),
            "outcomes": checks,
            "causes": list(causes.values()),
            "charts": [chart.to_dict() for chart in charts],
            "sweeps": sweeps,
        }
    made: Record = {**_about(found, quick=quick), "profiles": profiles}
    _keep(out / FIGURES / found.paper / f"{found.figure}.json", made)
    return made


def record_worlds(
    found: Found,
    worlds: Mapping[World, tuple[World, dict[str, str]]],
    decided: Mapping[str, Outcomes],
    out: Path,
    *,
    quick: bool,
) -> Record:
    """Write and return the record of a study's checks in several worlds, as returned by `possible`."""
    kept = ("statement", "paper", "verdict", "measured")
    of_worlds: dict[str, Any] = {}
    for world, (here, lacking) in worlds.items():
        outcomes = decided[here.name]
        of_worlds[world.name] = {
            "label": world.label,
            "keys": here.keys,
            "same_as": here.name,
            "lacks": lacking,
            "checks": {
                name: {key: each[key] for key in kept if key in each}
                for name, check in found.study.checks.items()
                for each in [{"paper": check.paper, **outcomes[check]}]
            },
        }
    made: Record = {**_about(found, quick=quick), "worlds": of_worlds}
    _keep(out / FOLDER / found.paper / f"{found.figure}.json", made)
    return made


def _about(found: Found, *, quick: bool) -> Record:
    study = found.study
    return {
        "paper": found.paper,
        "figure": found.figure,
        "title": study.title,
        "source": study.source,
        "text": found.text,
        "assumed": list(study.assumed),
        "quick": quick,
        "fourhop": version(),
        "commit": commit(found.path),
    }


def _keep(path: Path, made: Record) -> None:
    write(
        path,
        lambda temporary: temporary.write_text(json.dumps(made, indent=1, allow_nan=False) + "\n", encoding="utf-8"),
    )


def judged(check: Check, found: Record, profile: Profile, causes: Mapping[str, Record]) -> Record:
    """The outcome of a check, with its measured causes, or our guess, if it is not reproduced."""
    explain = needs_cause(found)
    shown = [name for name in check.because.get(profile, ()) if explain and causes[name]["verdict"] == "reproduced"]
    return {
        **found,
        **{name: getattr(check, name) for name in ("paper", "assumed", "main")},
        "because": shown,
        "why": _thought(check, profile) if explain and not shown else "",
    }


def needs_cause(outcome: Record) -> bool:
    """Whether a check differs from the paper, so that its causes are of interest."""
    return outcome["verdict"] in ("partly", "not reproduced")


def is_unexplained(outcome: Record) -> bool:
    """Whether a check differs from the paper, although enough runs say so, and no experiment shows why."""
    only_undecided = outcome["verdict"] == "partly" and outcome.get("undecided")
    return needs_cause(outcome) and not outcome.get("because") and not only_undecided


def asked(check: Check | Cause, data: Data, *, few: bool = False) -> Claim | str:
    """The claim of a check or a cause about the measurements; with `few` runs, perhaps only the reason why not."""
    try:
        claim = check.evaluate(data)
        if not isinstance(claim, Claim):
            raise FourhopError(f"found a {type(claim).__name__}; return a claim, such as above(...)")
    except Exception as error:
        # With few runs, a flow may well have delivered nothing; a complete study must give an answer. A mistake in the
        # check is an error in either case.
        if not few or isinstance(error, TypeError | AttributeError | NameError):
            what = type(check).__name__.lower()
            raise FourhopError(f"{what} {check.name}, profile {data.profile}: {_line(error)}") from error
        return _line(error)
    return claim


def outcome(check: Check | Cause, data: Data, *, quick: bool = False) -> Record:
    """Compare one check, or one cause, with the measurements."""
    return as_record(check, asked(check, data, few=quick), quick=quick)


def outcomes(questions: Iterable[Check | Cause], data: Data, *, quick: bool = False) -> Outcomes:
    """The outcomes of checks and causes, compared with all runs."""
    return {each: outcome(each, data, quick=quick) for each in questions}


def as_record(check: Check | Cause, claim: Claim | str, *, quick: bool = False) -> Record:
    """The record of a check from its claim, or from the reason why there is no claim."""
    base = {"name": check.name, "statement": check.statement}
    if isinstance(claim, str):
        unknown = {"measured": f"unknown: {claim}", "brief": "unknown", "criterion": "", "reason": ""}
        return {**base, "verdict": "not judged", **unknown}
    verdict: Verdict = "not judged" if quick else judge(claim)
    return {
        **base,
        "verdict": verdict,
        "criterion": claim.criterion,
        "weaker": [weaker.criterion for weaker in claim.weaker],
        "undecided": claim.holds is None or None,
        "measured": claim.measured,
        "brief": claim.brief or claim.measured,
        "value": _finite(claim.value),
        "low": _finite(claim.low),
        "high": _finite(claim.high),
        "unit": claim.unit,
        "method": claim.method,
        "reason": None if quick else reason(claim),
    }


def _thought(check: Check, profile: Profile) -> str:
    return check.why if isinstance(check.why, str) else check.why.get(profile, "")


def overall(verdicts: list[Verdict]) -> Verdict | None:
    """The verdict on a figure: that of its checks if they agree, `partly` if they do not; `None` without checks."""
    if not verdicts:
        return None
    return verdicts[0] if len(set(verdicts)) == 1 else "partly"


def commit(path: Path) -> str:
    """The commit that a file is checked out from, with `+` if there are changes; `unknown` outside a repository."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(path.parent), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def _chart(
    name: str,
    draw: Callable[[Data], Chart],
    caption: str,
    data: Data,
    results: Mapping[str, SweepResult],
    found: Found,
) -> Chart:
    mine = replace(data)
    try:
        drawn = draw(mine)
        whole = [caption, *dict.fromkeys(ran(results[sweep]) for sweep in mine.used)]
        return replace(drawn, name=name, caption=" ".join(filter(None, whole)))
    except Exception as error:
        where = f"{found.path}: chart {name}, profile {data.profile}"
        raise FourhopError(f"{where}: {_line(error)}") from error


def ran(result: SweepResult) -> str:
    """The runs of a sweep as a sentence for captions: their number, seeds and length."""
    times = result.runs["point"].value_counts()["count"]
    seeds = result.runs["seed"].unique()
    if not len(seeds):
        return "No runs."
    runs, seed = _span(times.min(), times.max()), _span(seeds.min(), seeds.max())
    scenarios = [point.scenario for point in result.sweep.points]
    packets = [scenario.packets for scenario in scenarios if scenario.packets is not None]
    lengths = [f"until {_span(min(packets), max(packets))} packets arrived"] if packets else []
    if timed := [scenario.duration_s for scenario in scenarios if scenario.packets is None]:
        lengths.append(f"of {_span(min(timed), max(timed))} s")
    several = ("" if runs == "1" else "s", "" if len(seeds) == 1 else "s")
    return f"Each point: {runs} run{several[0]} {' or '.join(lengths)}, seed{several[1]} {seed}."


def _span(least: object, most: object) -> str:
    shown = [f"{each:,g}" if isinstance(each, float) else f"{each:,}" for each in (least, most)]
    return "–".join(dict.fromkeys(shown))


def _sweep(name: str, result: SweepResult, place: Path, stem: str) -> dict[str, Any]:
    """Write the tables of a sweep, and return its data for the report."""
    tables = {"flows": result.flows, "runs": result.runs}
    files = []
    for table, frame in tables.items():
        for suffix, content in (("parquet", frame.write_parquet), ("csv", frame.write_csv)):
            path = place / f"{stem}-{table}.{suffix}"
            write(path, content)
            files.append(path.name)
    sweep = result.sweep
    scenarios = dict(sweep.variants or {}) if sweep.base is None else {"": sweep.base}
    seeds = sorted(result.runs["seed"].unique().to_list())
    return {
        "name": name,
        "points": len(sweep.points),
        "runs": result.runs.height,
        # With a precision target, expect as many runs as it took: the limit is seldom reached.
        "most": result.runs.height if sweep.target is not None else len(sweep.points) * sweep.wanted,
        "reused": result.reused,
        "seeds": [seeds[0], seeds[-1]] if seeds else [],
        "wall_s": float(result.timing["wall_s"].sum()),
        "simulated_s": float(result.runs["simulated_s"].sum()),
        "cut_short": _cut_short(result),
        "varied": {key: [str(value) for value in values] for key, values in {**sweep.over, **sweep.zipped}.items()},
        "scenarios": {label: scenario.to_toml() for label, scenario in scenarios.items()},
        "files": files,
    }


def _cut_short(result: SweepResult) -> int:
    """Number of runs that should have ended after a number of packets but reached `duration`."""
    import polars as pl

    by_packets = [point.index for point in result.sweep.points if point.scenario.packets is not None]
    ended = pl.col("ended_by") == "duration"
    return result.runs.filter(pl.col("point").is_in(by_packets) & ended).height


def _write_chart(chart: Chart, path: Path) -> None:
    """Write the drawn numbers as CSV."""
    import polars as pl

    if chart.kind == "table":
        frame = pl.DataFrame(list(chart.rows), schema=list(chart.columns), orient="row")
    else:
        rows = [
            (line.label, str(x), y, low, high)
            for line in chart.lines
            for x, y, low, high in zip(line.x, line.y, line.low, line.high, strict=True)
        ]
        schema = {
            "line": pl.String(), chart.x_label or "x": pl.String(),
            chart.y_label or "y": pl.Float64(), "low": pl.Float64(), "high": pl.Float64(),
        }  # fmt: skip
        frame = pl.DataFrame(rows, schema=schema, orient="row")
    write(path, frame.write_csv)


def _pdf(chart: Chart) -> Callable[[Path], object]:
    """Writes the figure for a paper, without a date, so that the same data give the same file."""
    from fourhop.study import draw

    return lambda path: draw.figure(chart).savefig(path, format="pdf", metadata={"CreationDate": None})


def write(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file completely or not at all."""
    from fourhop.store import replace, unwritable

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error
    replace(path, write)


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def _line(error: Exception) -> str:
    """The error and its location on one line."""
    if isinstance(error, FourhopError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    at = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{at}"
