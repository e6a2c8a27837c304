"""The course of a study: look after look at its runs, until all checks are decided, and then the causes they need.

At each look (`looks`), the open checks are compared with the runs so far. A claim about several quantities keeps the
parts that were decided. A point gets further runs while an open part needs it: the points behind its measurement, and
those that its check reads besides, say to choose the best. If a check turns to a point that was stopped, the missing
runs are made up first: all points of an open part have as many runs as the look requires, with the same seeds.

A cause is of interest only if a check that names it differs from the paper. The others get no more runs than the first
look gives to all points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fourhop.errors import FourhopError
from fourhop.study.claims import Claim, is_decided, keep_decided, measured_points, undecided
from fourhop.study.execute import Job, Record, as_record, asked, needs_cause
from fourhop.study.looks import LOOKS, looks
from fourhop.study.study import Cause, Check, Data, Profile, Study

if TYPE_CHECKING:
    from fourhop.study.cells import Cells
    from fourhop.sweeps.result import SweepResult

Run = Callable[[Job, Sequence[int]], "SweepResult"]
"""Runs a sweep, with the given number of runs per point, from the first seed on."""

Point = tuple[str, int]
"""A sweep and the number of a point; of several draws, the first stands for all."""


class Course:
    """One study in one profile."""

    def __init__(self, study: Study, profile: Profile, jobs: Sequence[Job], run: Run, *, causes: bool = True) -> None:
        """Without `causes`, only checks are decided."""
        self.outcomes: dict[Check | Cause, Record] = {}
        """The verdict on each check, and on each cause that one needs, with the number of the deciding look, from 1 on.
        """
        self._study = study
        self._profile = profile
        self._causes = causes
        self._runs = {job.name: _Runs(job, run) for job in jobs}
        self._needed: dict[Check | Cause, set[Point]] = {}
        self._claims: dict[Check | Cause, Claim | str] = {}

    def finish(self) -> dict[str, SweepResult]:
        """Run until everything is decided or has all its runs; returns the runs of each sweep by name."""
        self._extend({(name, point) for name, runs in self._runs.items() for point in runs.firsts}, 0)
        self._decide(self._study.checks.values())
        if self._causes:
            named = [
                name
                for check in self._study.checks.values()
                if needs_cause(self.outcomes[check])
                for name in check.because.get(self._profile, ())
            ]
            self._decide(self._study.causes[name] for name in dict.fromkeys(named))
        return {name: runs.result for name, runs in self._runs.items()}

    def _decide(self, questions: Iterable[Check | Cause]) -> None:
        open_ = list(questions)
        for look in range(LOOKS):
            last = look + 1 == LOOKS
            if not open_ or (not last and all(each.is_same(look) for each in self._runs.values())):
                continue
            self._extend(set().union(*(self._needed.get(each, set()) for each in open_)), look)
            self._claims = self._asked(open_, look)
            for question in [each for each in open_ if last or _is_decided(self._claims[each])]:
                self.outcomes[question] = {**as_record(question, self._claims[question]), "look": look + 1}
                open_.remove(question)

    def _asked(self, questions: Sequence[Check | Cause], look: int) -> dict[Check | Cause, Claim | str]:
        """The claims at a look, each about the look's number of runs."""
        few = look + 1 < LOOKS
        while True:
            data = Data(self._profile, {name: each.at(look) for name, each in self._runs.items()})
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
        lacked = [runs.extend({point for name, point in points if name == of}, look) for of, runs in self._runs.items()]
        return any(lacked)


class _Runs:
    """The runs of one sweep so far."""

    result: SweepResult

    def __init__(self, job: Job, run: Run) -> None:
        self._job = job
        self._run = run
        draws = job.draws
        self._looks = looks(job.most if draws is None else draws.count)
        self.firsts = sorted(set(range(len(job.sweep.points)) if draws is None else draws.first))
        """The points, or the first of the draws with the same settings."""
        self._counts = dict.fromkeys(self.firsts, 0)
        self._computed = 0

    def is_same(self, look: int) -> bool:
        """Whether the next look has no more runs than this one."""
        return self._looks[look] == self._looks[look + 1]

    def at(self, look: int) -> Cells:
        """The runs that count at a look."""
        return self._cells.at(self._looks[look])

    def extend(self, points: set[int], look: int) -> bool:
        """Give points the runs of a look. Returns whether any lacked runs."""
        count = self._looks[look].runs
        lacking = [point for point in points if self._counts[point] < count]
        if not lacking:
            return False
        self._counts |= dict.fromkeys(lacking, count)
        draws = self._job.draws
        counts = (
            [self._counts[point] for point in self.firsts]
            if draws is None
            else [int(place < self._counts[first]) for first, place in zip(draws.first, draws.place, strict=True)]
        )
        result = self._run(self._job, counts)
        self._computed += result.computed
        runs = sum(len(each.runs) for each in result.per_point)
        # Runs of an earlier look do not count as reused.
        self.result = replace(result, reused=max(0, runs - self._computed), computed=self._computed)
        self._cells: Cells = self._job.cells(self.result)
        return True


def _needed(claim: Claim, used: set[Point]) -> set[Point]:
    """The points, of those that a check `used`, whose runs its open parts need."""
    behind = measured_points(claim)
    if behind is None:
        return used
    return (used - behind).union(*(part.points or used for part in undecided(claim)))


def _is_decided(claim: Claim | str) -> bool:
    return not isinstance(claim, str) and is_decided(claim)
