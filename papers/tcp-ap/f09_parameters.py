"""Two TCP-AP flows on a cross: the effect of the weight alpha and the history N on goodput and fairness.

Large values smooth more and respond later; the paper chooses alpha = 0.7 and N = 50.
"""

from collections.abc import Sequence

from fourhop import Sweep, quantity
from fourhop.study import STEADY, Cells, Chart, Claim, Data, Estimate, Profile, Sample, Study, combine, lines, trough
from fourhop.study.claims import above, every, fair, falls, most, rises

from ._common import ASSUMED, ASSUMED_SHORTER, BOTH, PAPER, PARALLEL_HOPS, SHORTER, STILL, compared, cross, parallel

HISTORIES = (10, 50, 100, 200)
ALPHAS = ("0%", "30%", "50%", "70%", "90%")
AP, CODE = "ap", "ap-code"
FEW_HISTORIES, FEW_ALPHAS = (10, 50, 200), ("0%", "70%", "90%")
"""For the parallel chains, whose curve the paper leaves out."""

NO_SMOOTHING = (
    "few routes break by mistake in this profile, so that there are few outliers to smooth: under ns2 over routes that "
    "never break (a chart) smoothing gains as little, and a short memory lets the flow speed up sooner"
)

study = Study(
    "Alpha and N",
    source=f"{PAPER}, figure 9 and section 4.5",
    assumed=[
        *ASSUMED,
        "The second flow starts 0.1 s after the first.",
        ASSUMED_SHORTER,
        f"Parallel chains have {PARALLEL_HOPS} hops.",
    ],
)


@study.sweep
def grid(profile: Profile) -> Sweep:
    base = cross(profile, **STEADY)
    return Sweep(variants=compared(base, AP, CODE), over={"tcp_ap.history": HISTORIES, "tcp_ap.alpha": list(ALPHAS)})


@study.sweep
def still(profile: Profile) -> Sweep:
    base = compared(cross(profile, **SHORTER), AP)[AP].with_(**STILL)
    return Sweep(base, {"tcp_ap.history": HISTORIES, "tcp_ap.alpha": list(ALPHAS)})


@study.sweep
def beside(profile: Profile) -> Sweep:
    over = {"tcp_ap.history": FEW_HISTORIES, "tcp_ap.alpha": list(FEW_ALPHAS)}
    return Sweep(variants=compared(parallel(profile, **SHORTER), AP, CODE), over=over)


def _over_alpha(cells: Cells, y: str, y_min: float | None = 0.0) -> Chart:
    labels = {n: f"N = {n}" for n in cells.values("history")}
    return lines(cells, x="alpha", y=y, by="history", labels=labels, y_min=y_min)


@study.chart
def goodput(data: Data) -> Chart:
    """TCP-AP as in the paper: total goodput of both flows. Whiskers: 95 % intervals over ten batches."""
    return _over_alpha(data.grid.where(variant=AP), "goodput", None)


@study.chart
def goodput_of_code(data: Data) -> Chart:
    """The same with the authors' code."""
    return _over_alpha(data.grid.where(variant=CODE), "goodput", None)


@study.chart
def fairness(data: Data) -> Chart:
    """TCP-AP as in the paper: Jain's index of the two flows over the whole run."""
    return _over_alpha(data.grid.where(variant=AP), "fairness", None)


@study.chart_each(
    {
        "still": ("goodput", "Total goodput over routes that never break, TCP-AP as in the paper."),
        "still_fairness": ("fairness", "Jain's index over routes that never break, TCP-AP as in the paper."),
    }
)
def over_still_routes(data: Data, what: str) -> Chart:
    return _over_alpha(data.still, what, None)


@study.chart_each(
    {
        "parallel_chains": (AP, "Two parallel chains, whose curve the paper leaves out: TCP-AP as in the paper."),
        "parallel_chains_of_code": (CODE, "The same with the authors' code."),
    }
)
def on_parallel_chains(data: Data, name: str) -> Chart:
    return _over_alpha(data.beside.where(variant=name), "goodput", None)


def value(alpha: str) -> float:
    """The value as a number."""
    return quantity.parse(alpha).value / 100.0


def over_alpha(data: Data, name: str, history: int) -> list[tuple[float, Sample]]:
    return [(value(a), data.grid.goodput(variant=name, history=history, alpha=a)) for a in ALPHAS]


def mean_difference(
    data: Data, name: str, large: Sequence[tuple[int, str]], small: Sequence[tuple[int, str]]
) -> Estimate:
    def goodput(n: int, a: str) -> Sample:
        return data.grid.goodput(variant=name, history=n, alpha=a)

    terms = [(1.0 / len(large), goodput(n, a)) for n, a in large]
    return combine(terms + [(-1.0 / len(small), goodput(n, a)) for n, a in small])


@study.check_each(
    BOTH,
    "{}: the goodput of both flows is highest for large alpha and N",
    paper="highest for large values of both",
    assumed="alpha = 0.7, 0.9 with N = 100, 200, compared with the mean of all others; partly: with N = 10",
    why={"standard": NO_SMOOTHING},
)
def large_is_best(data: Data, name: str) -> Claim:
    large = [(n, a) for n in (100, 200) for a in ("70%", "90%")]
    others = [(n, a) for n in HISTORIES for a in ALPHAS if (n, a) not in large]
    small = [(10, a) for a in ALPHAS]
    weaker = above(mean_difference(data, name, large, small), 0.0)
    return above(mean_difference(data, name, large, others), 0.0).or_partly(weaker)


@study.check_each(
    BOTH,
    "{}: for N of 50 and more the goodput grows slightly with alpha",
    paper="increases slightly",
    assumed="the slope of a line, for each N; partly: for one of the three",
    why={"standard": NO_SMOOTHING},
    because="outliers_blur",
)
def grows(data: Data, name: str) -> Claim:
    claims = {f"N = {n}": rises(over_alpha(data, name, n)) for n in (50, 100, 200)}
    return every(claims).or_partly(most(claims, 0.3))


@study.check_each(
    BOTH,
    "{}: for N = 10 the goodput falls with alpha",
    paper="decreases",
    assumed="the slope of a line",
    because="outliers_blur",
)
def falls_for_10(data: Data, name: str) -> Claim:
    return falls(over_alpha(data, name, 10))


@study.check_each(
    BOTH,
    "{} is fair for all alpha and N",
    paper="an index above 0.99 for every set",
    assumed="over the whole run; partly: for three quarters of the sets",
    because="unfair_by_broken_routes",
)
def is_fair(data: Data, name: str) -> Claim:
    index = {
        f"N = {n}, alpha = {value(a):g}": data.grid.fairness(variant=name, history=n, alpha=a)
        for n in HISTORIES
        for a in ALPHAS
    }
    return every(fair(index, 0.99)).or_partly(most(fair(index, 0.99)))


@study.check_each(
    BOTH,
    "{}: the default, N = 50 and alpha = 0.7, has nearly the best goodput",
    paper="adequate goodput",
    assumed="above 95 % of any other set; partly: above 90 %",
    why={"standard": NO_SMOOTHING},
    because="best_hides_outliers",
)
def default_is_good(data: Data, name: str) -> Claim:
    return _nearly_best(data.grid.where(variant=name), HISTORIES, ALPHAS)


@study.check_each(
    BOTH,
    "{}: on parallel chains the default has nearly the best goodput, too",
    paper="a superior compromise there, too",
    assumed=f"chains of {PARALLEL_HOPS} hops; bounds as above",
    because="best_hides_outliers",
)
def default_is_good_beside(data: Data, name: str) -> Claim:
    return _nearly_best(data.beside.where(variant=name), FEW_HISTORIES, FEW_ALPHAS)


@study.cause(
    "a segment that waited for a route slows one flow for a long time: over routes that never break all sets are fair"
)
def unfair_by_broken_routes(data: Data) -> Claim:
    return every(
        fair(
            {f"N = {n}, alpha = {a}": data.still.fairness(history=n, alpha=a) for n in HISTORIES for a in ALPHAS}, 0.99
        )
    )


@study.cause(
    "the longest memory hides the outliers of broken routes best: over routes that never break the default suffices"
)
def best_hides_outliers(data: Data) -> Claim:
    return _nearly_best(data.still, HISTORIES, ALPHAS)


@study.cause("outliers blur the slopes: the authors' code, which drops delays of half a second, shows them")
def outliers_blur(data: Data) -> Claim:
    slopes = {f"N = {n}": rises(over_alpha(data, CODE, n)) for n in (50, 100, 200)}
    return every({**slopes, "N = 10": falls(over_alpha(data, CODE, 10))})


def _nearly_best(cells: Cells, histories: Sequence[int], alphas: Sequence[str]) -> Claim:
    mine = cells.goodput(history=50, alpha="70%")
    worst = trough([mine / cells.goodput(history=n, alpha=a) for n in histories for a in alphas])
    return above(worst, 0.95).or_partly(above(worst, 0.9))
