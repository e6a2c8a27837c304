"""Order, progress and stop rule of a sweep's runs."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any, cast

import pytest

import fourhop
from fourhop.rundata import RunData
from fourhop.sweeps import schedule
from fourhop.sweeps.schedule import HOPELESS, Plan, Rule, Task


def chain(hops: int = 2, duration: str = "10s", **keys: Any) -> fourhop.Scenario:
    return fourhop.Scenario.chain(hops=hops, duration=duration, **keys)


def run(goodput: float = 100.0, *flows: float) -> RunData:
    return cast(RunData, {"aggregate_goodput_bps": goodput, "flows": [{"goodput_bps": flow} for flow in flows]})


def fixed(runs: int) -> Rule:
    return Rule(runs, runs)


def taken(plan: Plan, count: int) -> list[Task]:
    tasks = [plan.needed() for _ in range(count)]
    assert None not in tasks
    return cast(list[Task], tasks)


@pytest.mark.parametrize(
    ("topology", "nodes"),
    [
        ('kind = "chain"\nhops = 3', 4),
        ('kind = "parallel-chains"\nhops = [2, 4]', 8),
        ('kind = "parallel-chains"\nhops = 3\nchains = 2', 8),
        ('kind = "grid"\ncolumns = 3\nrows = 4', 12),
        ('kind = "positions"\npositions = [["0m", "0m"], ["100m", "0m"], ["200m", "0m"]]', 3),
        ('kind = "coordinates"\ncoordinates = [[52.51, 13.37], [52.51, 13.372], [52.51, 13.374]]', 3),
        ('kind = "random"\nnodes = 30\nwidth = "1km"\nheight = "1km"', 30),
    ],
)
def test_a_run_costs_its_simulated_time_by_its_nodes(topology: str, nodes: int) -> None:
    text = f'profile = "ns2"\nduration = "7s"\n[topology]\n{topology}\n'
    text += '[[flows]]\nfrom = 0\nto = 1\ntransport = "newreno"\n'
    assert schedule.cost(fourhop.Scenario(text)) == 7.0 * nodes


def test_the_longest_runs_come_first_and_then_points_in_order() -> None:
    plan = Plan([(chain(2), fixed(2)), (chain(4), fixed(1)), (chain(2), fixed(1))], 5)
    assert [(task.point, task.seed) for task in taken(plan, 4)] == [(1, 5), (0, 5), (0, 6), (2, 5)]
    assert plan.needed() is None
    assert (plan.done, plan.points_done, plan.open, plan.is_finished()) == (0, 0, [0, 1, 2], False)
    assert (plan.further(), plan.judges(0), plan.met(0), plan.precision(0)) == (None, False, None, None)


def test_progress_is_the_mean_of_the_points_and_what_is_left_costs_what_was_measured() -> None:
    plan = Plan([(chain(1), fixed(4)), (chain(3), fixed(2))], 1)
    tasks = taken(plan, 6)
    assert (plan.fraction, plan.left_s) == (0.0, None)
    # The two runs of the second point have twice the nodes of one of the first.
    first = [task for task in tasks if task.point == 0]
    plan.finish(first[0], run(), 3.0)
    assert (plan.done, plan.fraction) == (1, (0.25 + 0.0) / 2)
    assert plan.left_s == pytest.approx(3 * 3.0 + 2 * 6.0)
    plan.finish(first[1], run(), 5.0)
    assert plan.left_s == pytest.approx(2 * 4.0 + 2 * 8.0)
    second = [task for task in tasks if task.point == 1]
    plan.finish(second[0], run(), 20.0)
    assert plan.left_s == pytest.approx(2 * 4.0 + 1 * 20.0)
    assert plan.fraction == (0.5 + 0.5) / 2
    # A run stored earlier has no time, but counts.
    plan.finish(second[1], None)
    assert (plan.fraction, plan.points_done, plan.open) == ((0.5 + 1.0) / 2, 1, [0])
    for task in first[2:]:
        plan.finish(task, run(), 4.0)
    assert (plan.is_finished(), plan.fraction, plan.left_s, plan.done) == (True, 1.0, 0.0, 6)
    assert (plan.seeds(0), plan.seeds(1)) == ([1, 2, 3, 4], [1, 2])


def test_a_point_with_a_target_is_as_far_as_the_width_of_its_interval_says() -> None:
    plan = Plan([(chain(), Rule(2, 100, 0.1))], 1)
    first, second = taken(plan, 2)
    plan.finish(first, run(100.0), 1.0)
    assert (plan.fraction, plan.precision(0), plan.left_s) == (0.0, None, None)
    plan.finish(second, run(110.0), 1.0)
    precision = plan.precision(0)
    assert precision is not None
    # Student's t(1) = 12.706 times a standard error of 5, over a mean of 105.
    assert precision == pytest.approx(12.706 * 5.0 / 105.0, rel=1e-4)
    assert plan.fraction == pytest.approx(2 / min(100.0, 2 * (precision / 0.1) ** 2))
    assert plan.met(0) is False
    third = plan.further()
    assert third is not None
    assert (third.seed, plan.left_s) == (3, None)
    plan.finish(third, run(105.0), 1.0)
    assert (plan.met(0), plan.seeds(0)) == (False, [1, 2, 3])


def test_no_more_than_the_largest_number_of_runs() -> None:
    plan = Plan([(chain(), Rule(2, 3, 0.001))], 1)
    for task, goodput in zip(taken(plan, 2), (100.0, 200.0), strict=True):
        plan.finish(task, run(goodput))
    last = plan.further()
    assert last is not None
    assert (last.seed, plan.further(), plan.upcoming(0)) == (3, None, None)
    assert 0.0 < plan.fraction < 1.0
    plan.finish(last, run(50.0))
    assert (plan.is_finished(), plan.met(0), plan.fraction) == (True, False, 1.0)


def test_the_point_with_the_fewest_runs_under_way_is_next() -> None:
    rule = Rule(1, 10, 0.001)
    plan = Plan([(chain(2), rule), (chain(3), rule)], 1)
    long, short = taken(plan, 2)
    plan.finish(short, run())
    plan.finish(long, run())
    following = [plan.further() for _ in range(4)]
    assert [(task.point, task.seed) for task in following if task] == [(1, 2), (0, 2), (1, 3), (0, 3)]


def test_a_run_that_is_done_is_under_way_no_more() -> None:
    rule = Rule(1, 10, 0.001)
    plan = Plan([(chain(2), rule), (chain(3), rule)], 1)
    for task in taken(plan, 2):
        plan.finish(task, run())
    longest = plan.further()
    assert longest is not None
    plan.finish(longest, run(50.0))
    following = plan.further()
    assert following is not None
    assert (longest.point, following.point, following.seed) == (1, 1, 3)


def test_as_many_points_as_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourhop.sweeps.describe.POINTS_LIMIT", 2)
    assert len(fourhop.Sweep(chain(), {"topology.hops": [1, 2]}).points) == 2
    with pytest.raises(fourhop.FourhopError, match="found 3 points, allowed: at most 2"):
        _ = fourhop.Sweep(chain(), {"topology.hops": [1, 2, 3]}).points


def test_a_run_that_fails_ends_a_point_with_a_target_and_no_other() -> None:
    plan = Plan([(chain(), fixed(3)), (chain(), Rule(3, 9, 0.1))], 1)
    tasks = taken(plan, 6)
    of = [[task for task in tasks if task.point == point] for point in (0, 1)]
    for point in (0, 1):
        plan.fail(of[point][0])
    assert plan.open == [0, 1]
    for point in (0, 1):
        plan.finish(of[point][1], run(), 1.0)
    assert (plan.open, plan.upcoming(1), plan.left_s) == ([0, 1], None, None)
    for point in (0, 1):
        plan.finish(of[point][2], run(), 1.0)
    assert (plan.is_finished(), plan.met(1)) == (True, False)


def test_a_point_of_which_only_failures_are_known_is_given_up() -> None:
    plan = Plan([(chain(), fixed(HOPELESS + 5))], 1)
    tasks = taken(plan, HOPELESS + 5)
    for task in tasks[: HOPELESS - 1]:
        plan.fail(task)
    assert plan.open == [0]
    plan.fail(tasks[HOPELESS - 1])
    assert plan.is_finished()


def test_a_rule_within_fewer_runs() -> None:
    rule = Rule(4, 9, 0.1, step=2)
    assert rule.within(20) == rule
    assert rule.within(6) == Rule(4, 6, 0.1, step=2)
    assert rule.within(3) == Rule(3, 3, 0.1, step=2)
    # All points share a rule.
    with pytest.raises(FrozenInstanceError):
        rule.most = 3  # type: ignore[misc]


def test_the_rule_of_a_sweep_judges_what_it_asks_for() -> None:
    base = chain()
    assert fourhop.Sweep(base, runs=7).rule == Rule(7, 7)
    for judged, of in ((schedule.aggregate_goodput, "aggregate"), (schedule.flow_goodputs, "flows")):
        rule = fourhop.Sweep(base, precision="5%", precision_of=cast(Any, of), max_runs=30).rule
        assert (rule.target, rule.most, rule.judged) == (0.05, 30, judged)
    assert (schedule.aggregate_goodput(run(3.0, 1.0, 2.0)), schedule.flow_goodputs(run(3.0, 1.0, 2.0))) == (
        [3.0],
        [1.0, 2.0],
    )


def test_runs_are_judged_every_so_many() -> None:
    def prefix(*goodputs: float) -> schedule.Prefix:
        made = schedule.Prefix(1, Rule(2, 9, 10.0, step=3))
        for seed, goodput in enumerate(goodputs, 1):
            made.add(seed, run(goodput))
        return made

    # Each run from the second on gives a precision; it ends the point at the second or the fifth.
    one = prefix(1.0)
    assert (one.precision, one.met) == (None, False)
    assert prefix(100.0, 101.0).met
    wide = schedule.Prefix(1, Rule(2, 9, 0.5, step=3))
    for seed, goodput in enumerate((100.0, 200.0, 150.0, 150.0), 1):
        wide.add(seed, run(goodput))
        assert not wide.met, seed
    assert wide.precision is not None
    assert wide.precision <= 0.5
    wide.add(5, run(150.0))
    assert (wide.met, wide.count, wide.is_closed) == (True, 5, True)
    wide.add(6, run(150.0))
    assert wide.count == 5
