"""A study: one figure or table of a paper, from its sweeps to the checks of the paper's statements about it.

A study is a file `papers/<paper>/<figure>.py` with one `Study` in it, named `study`, and functions that it registers:

    study = Study("Goodput over hops", source="the paper, figure 1", assumed=["a start after 1 s"])

    @study.sweep
    def chain(profile: str) -> Sweep:
        base = Scenario.chain(hops=1, profile=profile, **STEADY)
        return Sweep(base, {"topology.hops": range(1, 9), "transport": ["newreno", "vegas"]})

    @study.chart
    def goodput(data: Data) -> Chart:
        return lines(data.chain, x="hops", by="transport")

    @study.check("Vegas is ahead of NewReno at 4 hops", paper="by about 20 %")
    def vegas_ahead(data: Data) -> Claim:
        gain = data.chain.goodput(transport="vegas", hops=4) / data.chain.goodput(transport="newreno", hops=4)
        return about(gain, 1.2).or_partly(above(gain, 1.0))

Everything runs once for each of its `profiles`: the behaviour of ns-2.35, and a correct AODV and radio.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from fourhop.errors import FourhopError
from fourhop.study.cells import Cells
from fourhop.study.chart import Chart
from fourhop.study.claims import Claim

if TYPE_CHECKING:
    from fourhop.scenario import Scenario
    from fourhop.sweeps.describe import Sweep

Profile = Literal["ns2", "standard"]

Why = str | Mapping[Profile, str]
"""Explanation of a difference from the paper, for all profiles or for each."""

Because = str | Sequence[str] | Mapping[Profile, str | Sequence[str]]
"""Names of one or several causes, for all profiles or for each."""

PROFILES: tuple[Profile, ...] = ("ns2", "standard")

STEADY: Mapping[str, Any] = {"packets": 55_000, "batches": 10, "duration": "100000s"}
"""Steady state as measured in the papers: until 55,000 packets are delivered, in eleven batches of 5,000; the first is
dropped. `duration` is far longer than any run that delivers at all."""

QUICK_S = 10.0
"""Longest simulated time of a run in a quick study, unless its flows start or stop later."""

QUICK_RUNS, QUICK_POINTS = 2, 8
"""Maximum replications per point in a quick study; a sweep with more points than `QUICK_POINTS` has one run of each."""

QUICK_PACKETS = 10
"""Packets per batch in a quick study."""

F = TypeVar("F", bound=Callable[..., Any])
V = TypeVar("V")
T = TypeVar("T")


@dataclass(frozen=True)
class Data:
    """Results of a study's sweeps; each sweep is an attribute, `data.chain`, or an item, `data["chain"]`."""

    profile: Profile
    sweeps: Mapping[str, Cells] = field(repr=False)
    used: dict[str, None] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The sweeps read so far, in that order: the sources of a chart."""

    def __getattr__(self, name: str) -> Cells:
        """The cells of a sweep."""
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Cells:
        """The cells of the sweep with this name."""
        if name not in self.sweeps:
            raise FourhopError(f"found no sweep {name!r}, allowed: {', '.join(self.sweeps)}")
        self.used[name] = None
        return self.sweeps[name]


OUR_OWN = "nothing: this is our own question"
"""Stands in for the paper's words if no paper makes the statement."""


@dataclass(frozen=True, eq=False)
class Check:
    """A statement of a paper, and its comparison with the measurements."""

    name: str
    statement: str
    paper: str
    """The paper's statement, with its numbers, if any."""
    assumed: str
    """The assumption of this check where the paper is silent."""
    why: Why
    """Why we think the measurements differ, for all profiles or for each; shown if they do."""
    because: Mapping[Profile, tuple[str, ...]]
    """By profile, causes of the study that may explain a difference; those that hold are shown instead of `why`."""
    main: bool
    """Whether it is one of the paper's main claims, listed in the report's overview."""
    evaluate: Callable[[Data], Claim] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Cause:
    """A reason for a difference from the paper, and the experiment that shows it."""

    name: str
    statement: str
    """The reason, as a statement for the experiment to support or not."""
    evaluate: Callable[[Data], Claim] = field(repr=False)


@dataclass
class Study:
    """A figure or table of a paper. The module's docstring describes it in plain words."""

    title: str
    source: str = field(kw_only=True)
    """Its source: paper and figure."""
    assumed: Sequence[str] = field(default=(), kw_only=True)
    """Assumptions where the paper is silent."""
    profiles: tuple[Profile, ...] = field(default=PROFILES, kw_only=True)
    quick: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    """Scenario keys for `--quick`, in addition to the usual shortening."""
    quickly: bool = field(default=False, init=False)
    """Whether sweeps are made for `--quick`, for those that can shrink further than the usual shortening."""
    sweeps: dict[str, Callable[[Profile], Sweep]] = field(default_factory=dict, init=False)
    draws: dict[str, str] = field(default_factory=dict, init=False)
    """By sweep, the key whose values are draws."""
    charts: dict[str, tuple[str, Callable[[Data], Chart]]] = field(default_factory=dict, init=False)
    checks: dict[str, Check] = field(default_factory=dict, init=False)
    causes: dict[str, Cause] = field(default_factory=dict, init=False)

    def sweep(self, make: F) -> F:
        """Register a sweep: a function of the profile, whose name is that of the sweep in `Data`."""
        _new(self.sweeps, make, "sweep")[make.__name__] = make
        return make

    def sweep_over(self, draws: str) -> Callable[[F], F]:
        """Register a sweep whose points differ only by chance in the key `draws`, such as `topology.seed`.

        A measurement of `Data` is one over all draws, and a study stops drawing when its checks are decided.
        """

        def register(make: F) -> F:
            self.draws[make.__name__] = draws
            return self.sweep(make)

        return register

    def sweep_each(
        self, of: Mapping[str, V], draws: str | None = None
    ) -> Callable[[Callable[[Profile, V], Sweep]], None]:
        """Register several sweeps by name; the function gets the profile and the sweep's value in `of`.

        `draws` is as in `sweep_over`.
        """

        def register(make: Callable[[Profile, V], Sweep]) -> None:
            for name, value in of.items():
                given = _given(make, name, value)
                self.sweep(given) if draws is None else self.sweep_over(draws)(given)

        return register

    def chart(self, draw: F) -> F:
        """Register a chart; the function's docstring is the caption."""
        _new(self.charts, draw, "chart")[draw.__name__] = (" ".join((draw.__doc__ or "").split()), draw)
        return draw

    def chart_each(self, of: Mapping[str, tuple[V, str]]) -> Callable[[Callable[[Data, V], Chart]], None]:
        """Register several charts that differ in one value, passed to the function; `of` has value and caption."""

        def register(draw: Callable[[Data, V], Chart]) -> None:
            for name, (value, caption) in of.items():
                self.chart(_given(draw, name, value, caption))

        return register

    def check(
        self,
        statement: str,
        *,
        paper: str,
        assumed: str = "",
        why: Why = "",
        because: Because = (),
        main: bool = False,
    ) -> Callable[[F], F]:
        """Register a check of `statement`; `paper` is the paper's value, and `main` adds it to the overview.

        `because` names causes, registered with `cause`, that may explain why it is not reproduced.
        """
        each = because if isinstance(because, Mapping) else dict.fromkeys(PROFILES, because)
        causes = {profile: (names,) if isinstance(names, str) else tuple(names) for profile, names in each.items()}

        def register(evaluate: F) -> F:
            name = evaluate.__name__
            check = Check(name, statement, paper, assumed, why, causes, main, evaluate)
            _new(self.checks, evaluate, "check")[name] = check
            return evaluate

        return register

    def cause(self, statement: str) -> Callable[[F], F]:
        """Register the experiment that shows a cause: a function that compares `statement` with the measurements."""

        def register(evaluate: F) -> F:
            name = evaluate.__name__
            _new(self.causes, evaluate, "cause")[name] = Cause(name, statement, evaluate)
            return evaluate

        return register

    def check_each(
        self,
        labels: Mapping[str, str],
        statement: str,
        *,
        why: Why = "",
        why_of: Mapping[str, Why] | None = None,
        because: Because = (),
        main: bool = False,
        **said: str,
    ) -> Callable[[Callable[[Data, str], Claim]], None]:
        """Register a check for each of several variants, named in `labels` by short name, which the function gets.

        `{}` in the statement becomes the label. `why_of` has our guesses for single variants instead of `why`. `main`
        applies only to the first variant.
        """

        def register(evaluate: Callable[[Data, str], Claim]) -> None:
            for place, (name, label) in enumerate(labels.items()):
                check = _given(evaluate, f"{evaluate.__name__}_{name.replace('-', '_')}", name)
                thought = (why_of or {}).get(name, why)
                self.check(statement.format(label), why=thought, because=because, main=main and place == 0, **said)(
                    check
                )

        return register

    def made(self, profile: Profile, *, quick: bool = False) -> dict[str, Sweep]:
        """The sweeps for a profile, in full or shortened for a smoke test."""
        for check in self.checks.values():
            for name in dict.fromkeys(name for names in check.because.values() for name in names):
                if name not in self.causes:
                    known = ", ".join(self.causes) or "none"
                    raise FourhopError(f"check {check.name}: because: found no cause {name!r}, allowed: {known}")
        self.quickly = quick
        made = {name: make(profile) for name, make in self.sweeps.items()}
        return {name: _quickened(sweep, self.quick) for name, sweep in made.items()} if quick else made


def _given(function: Callable[[T, V], Any], name: str, value: V, doc: str = "") -> Callable[[T], Any]:
    """Bind the second argument of a function, and set its name and docstring."""

    def given(first: T) -> Any:
        return function(first, value)

    given.__name__, given.__doc__ = name, doc
    return given


def _new(table: dict[str, Any], function: Callable[..., Any], what: str) -> dict[str, Any]:
    if function.__name__ in table:
        raise FourhopError(f"found two {what}s named {function.__name__!r}, allowed: each name once")
    return table


def _quickened(sweep: Sweep, keys: Mapping[str, Any]) -> Sweep:
    """The sweep with few, short runs."""
    runs = min(sweep.replications, QUICK_RUNS if len(sweep.points) <= QUICK_POINTS else 1)
    if sweep.variants is not None:
        variants = {name: _short(scenario, keys) for name, scenario in sweep.variants.items()}
        return replace(sweep, variants=variants, runs=runs, precision=None)
    return replace(sweep, base=None if sweep.base is None else _short(sweep.base, keys), runs=runs, precision=None)


def _short(scenario: Scenario, keys: Mapping[str, Any]) -> Scenario:
    resolved = scenario.resolved
    traffic = [*([resolved["traffic"]] if "traffic" in resolved else []), *resolved.get("flows", [])]
    # Flows that start or stop at a given time are the point of such a scenario, so keep these times inside the run.
    latest = max((_seconds(flow[key]) for flow in traffic for key in ("start", "stop") if key in flow), default=0.0)
    duration = min(scenario.duration_s, max(QUICK_S, 1.25 * latest))
    changes: dict[str, Any] = {"duration": f"{duration:g}s"}
    if scenario.packets is not None:
        changes["packets"] = QUICK_PACKETS * (resolved["batches"] + 1)
    elif _seconds(resolved["warmup"]) >= duration / 2.0:
        changes["warmup"] = f"{duration / 10.0:g}s"
    return scenario.with_(**{**changes, **keys})


def _seconds(quantity: str) -> float:
    from fourhop.quantity import seconds

    return 0.0 if quantity == "none" else seconds(quantity)
