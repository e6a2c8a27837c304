"""The course of a study: look after look at its runs, until all checks and causes are decided.

At each look (`looks`), the open checks and causes are compared with the runs so far. A claim about several quantities
keeps the parts that were decided. A point gets further runs while an open part needs it: the points behind its
measurement, and those that its check reads besides, say to choose the best. If a check turns to a point that was
stopped, the missing runs are made up first: all points of an open part have as many runs as the look requires, with the
same seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fourhop.errors import FourhopError
from fourhop.study.cells import Cells
from fourhop.study.claims import Claim, is_decided, keep_decided, measured_points, undecided
from fourhop.study.execute import Job, Record, as_record, asked
from fourhop.study.looks import LOOKS, looks
from fourhop.study.study import Cause, Check, Data, Profile, Study

if TYPE_CHECKING:
    from fourhop.sweeps.result import SweepResult

Run = Callable[[Job, Sequence[int]], "SweepResult"]
"""Runs a sweep, with the given number of runs per point, from the first seed on."""

Point = tuple[str, int]
"""A sweep and the number of a point."""


class Course:
    """One study in one profile."""

    def __init__(self, study: Study, profile: Profile, jobs: Sequence[Job], run: Run) -> None:
        self.results: dict[str, SweepResult] = {}
        """The runs of each sweep by name."""
        self.outcomes: dict[Check | Cause, Record] = {}
        """The verdict on each check and cause, with the number of the deciding look, from 1 on."""
        self._profile = profile
        self._questions = study.questions
        self._jobs = {job.name: job for job in jobs}
        self._looks = {job.name: looks(job.most) for job in jobs}
        self._runs = {job.name: [0] * len(job.sweep.points) for job in jobs}
        self._cells: dict[str, Cells] = {}
        self._computed = dict.fromkeys(self._jobs, 0)
        self._needed: dict[Check | Cause, set[Point]] = {}
        self._claims: dict[Check | Cause, Claim | str] = {}
        self._run = run

    def finish(self) -> dict[str, SweepResult]:
        """Run until everything is decided or has all its runs; returns `results`."""
        self._extend({(name, point) for name, runs in self._runs.items() for point in range(len(runs))}, 0)
        open_ = list(self._questions)
        for look in range(len(LOOKS)):
            last = look + 1 == len(LOOKS)
            if not open_ or (not last and all(each[look] == each[look + 1] for each in self._looks.values())):
                continue
            self._extend(set().union(*(self._needed.get(each, set()) for each in open_)), look)
            self._claims = self._asked(open_, look)
            for question in [each for each in open_ if last or _is_decided(self._claims[each])]:
                self.outcomes[question] = {**as_record(question, self._claims[question]), "look": look + 1}
                open_.remove(question)
        return self.results

    def _asked(self, questions: Sequence[Check | Cause], look: int) -> dict[Check | Cause, Claim | str]:
        """The claims at a look, each about the look's number of runs."""
        few = look + 1 < len(LOOKS)
        while True:
            cells = {name: each.at(self._looks[name][look]) for name, each in self._cells.items()}
            data = Data(self._profile, cells)
            claims = {each: self._ask(each, data) for each in questions}
            if not self._extend(set().union(*(self._needed[each] for each in questions)), look):
                # With all its runs, a study must give an answer.
                return {
                    each: asked(each, data) if isinstance(claim, str) and not few else claim
                    for each, claim in claims.items()
                }

    def _ask(self, question: Check | Cause, data: Data) -> Claim | str:
        for cells in data.sweeps.values():
            cells.used.clear()
        claim: Claim | str
        try:
            claim = asked(question, data, few=True)
        except FourhopError as error:
            # With so few runs there may be no interval; a mistake shows again at the last look.
            claim = str(error)
        used = {(name, point) for name, cells in data.sweeps.items() for point in cells.used}
        earlier = self._claims.get(question)
        if isinstance(claim, Claim) and isinstance(earlier, Claim):
            claim = keep_decided(earlier, claim)
        self._needed[question] = used if isinstance(claim, str) else _needed(claim, used)
        return claim

    def _extend(self, points: set[Point], look: int) -> bool:
        """Give points the runs of a look. Returns whether any lacked runs."""
        lacking = {(name, point) for name, point in points if self._runs[name][point] < self._looks[name][look].runs}
        for name in [each for each in self._jobs if any(each == where for where, _ in lacking)]:
            for _, point in filter(lambda each: each[0] == name, lacking):
                self._runs[name][point] = self._looks[name][look].runs
            result = self._run(self._jobs[name], tuple(self._runs[name]))
            self._computed[name] += result.computed
            runs = sum(len(each.runs) for each in result.per_point)
            # Runs of an earlier look do not count as reused.
            self.results[name] = replace(
                result, reused=max(0, runs - self._computed[name]), computed=self._computed[name]
            )
            self._cells[name] = Cells.of(result, name)
        return bool(lacking)


def _needed(claim: Claim, used: set[Point]) -> set[Point]:
    """The points, of those that a check `used`, whose runs its open parts need."""
    behind = measured_points(claim)
    if behind is None:
        return used
    return (used - behind).union(*(part.points or used for part in undecided(claim)))


def _is_decided(claim: Claim | str) -> bool:
    return not isinstance(claim, str) and is_decided(claim)
