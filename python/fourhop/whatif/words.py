"""The results in sentences for people who run a mesh. A difference within its interval is not reported as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from fourhop.study.estimate import Estimate, number

if TYPE_CHECKING:
    from fourhop.whatif.answer import Answer, Effect, Group
    from fourhop.whatif.tries import Try

Verdict = Literal["helps", "mixed", "hurts", "no difference"]

VERDICTS: dict[Verdict, str] = {
    "helps": "helps",
    "mixed": "helps some, hurts others",
    "hurts": "hurts",
    "no difference": "no difference seen",
}

_VAGUE = 10.0
"""A ratio is not reported if its upper bound is at least this many times as large."""

_GAPS = 3
"""Maximum number of gaps in the file that are listed."""

_TIMES = 1.5
"""From this ratio on, report a factor, below it per cent."""


def verdict(effects: Sequence[Effect]) -> Verdict:
    """The verdict by the speeds of all groups of nodes; faster with longer round trips or starving nodes is mixed, too.

    If no speed differs, round trips and starving nodes decide.
    """
    speeds = {effect.good for effect in effects if effect.measure.group is not None} - {None}
    rest = {effect.good for effect in effects if effect.measure.name in ("delay", "starving")} - {None}
    found = speeds or rest
    if not found:
        return "no difference"
    if found == {True} and False in rest:
        return "mixed"
    return "mixed" if len(found) == 2 else "helps" if True in found else "hurts"


def sentences(answer: Answer, change: Try) -> list[str]:
    """The effects of a change: speeds of groups, delay, fairness."""
    effects = answer.effects[change.name]
    speeds = [effect for effect in effects if effect.measure.group is not None]
    what = _transfers(answer)
    said = []
    # Thirds that differ say more than the whole.
    thirds = [effect for effect in speeds[1:] if effect.differs]
    networks = answer.worlds.several
    changed = [_speed(effect, what) + _in_networks(effect, networks) for effect in reversed(thirds)]
    if changed:
        said.append("; ".join([changed[0], *(_again(each, what) for each in changed[1:])]) + ".")
    whole = speeds[0]
    if whole.differs:
        together = _speed(whole, f"All {what.lower()} together", together=True)
        said.append(f"{together}{_in_networks(whole, networks)}.")
    elif not thirds:
        said.append(f"{what} show no significant change ({_within(whole)}).")
    else:
        said.append(f"Total throughput shows no significant change ({_within(whole)}).")
    by_name = {effect.measure.name: effect for effect in effects}
    if (delay := by_name.get("delay")) is not None and delay.differs:
        said.append(_delay(delay))
    if (starving := by_name.get("starving")) is not None and starving.differs:
        fewer = "Fewer" if starving.good else "More"
        said.append(f"{fewer} nodes starve: {_mean(starving.ours.mean)} of {len(answer.groups[0].flows)} instead of "
                    f"{_mean(starving.today.mean)}.")  # fmt: skip
    if (fairness := by_name.get("fairness")) is not None and fairness.differs:
        word = "more" if fairness.good else "less"
        said.append(
            f"Speeds are {word} even (Jain's index {fairness.ours.mean:.2f} instead of {fairness.today.mean:.2f})."
        )
    return said


def _in_networks(effect: Effect, networks: bool) -> str:
    """The number of networks that confirm a statement, if several fit the file."""
    return " in {} of {} networks".format(*effect.holds) if networks else ""


def otherwise(answer: Answer) -> list[str]:
    """Sensitivity to radios and traffic: the most helpful change with alternatives."""
    if not answer.otherwise:
        return []
    best, what = answer.ranked[0].label, _transfers(answer)
    said = []
    for each in answer.otherwise:
        if each.effect.differs:
            does = _speed(each.effect, f"all {what.lower()} together", together=True)
        else:
            does = f"no significant change ({_within(each.effect)})"
        said.append(f"{best}, with {each.label}: {does}.")
    return said


def today(answer: Answer) -> list[str]:
    """Performance without a change."""
    what = _transfers(answer)
    by_name = {each.name: answer.today(each).mean for each in answer.measures}
    groups = answer.groups[1:]
    whole, count = by_name["speed-all"], len(answer.groups[0].flows)
    parts = [f"{_rate(by_name[f'speed-{group.name}'])} at {group.label}{_hops(group)}" for group in groups]
    parts = parts or [f"{_rate(whole / count)} at all nodes{_hops(answer.groups[0])}"]
    said = [f"{what} run at {_and(parts)}, each on average; together {_rate(whole)}."]
    delay = by_name.get("delay", math.nan)
    if math.isfinite(delay):
        said.append(f"A round trip takes {_mean(delay)} ms.")
    if by_name.get("starving", 0.0) >= 0.5:
        said.append(
            f"{_mean(by_name['starving'])} of {len(answer.groups[0].flows)} nodes get less than a tenth of an equal "
            "share."
        )
    return said


def unknown(answer: Answer, notes: Sequence[str] = ()) -> list[str]:
    """Limits of the answer, printed before it; `notes` are the notes of the file."""
    said = [
        "It compares changes in a model of your network. Do not read the speeds as a forecast.",
        "It ignores outside interference, actual user traffic, and changes of the radio channel over time.",
    ]
    gaps = [note.removeprefix("missing: ") for note in notes if note.startswith("missing: ")]
    if gaps:
        more = f"; and {len(gaps) - _GAPS} more" if len(gaps) > _GAPS else ""
        said.append(f"Missing in the file: {'; '.join(gap.split(':')[0] for gap in gaps[:_GAPS])}{more}.")
    worlds = answer.worlds
    if worlds.several:
        losses = len(answer.scenario.resolved["losses"])
        said.append(
            f"{len(worlds.vague)} of {losses} link qualities only say that a link exists. Each run therefore draws "
            "another network that fits the file; statements give the number of networks in which they hold."
        )
    law = worlds.law
    if law.refused is not None:
        said.append(
            f"Link qualities hardly depend on distance: the fitted path loss exponent is {law.refused:.1f}, below "
            "free space (2). The default is used."
        )
    if law.links:
        said.append(
            f"{law.links} measured links fit a path loss exponent of {law.exponent:.1f} [{law.low:.1f}, "
            f"{law.high:.1f}] with a spread of {law.spread_db:.0f} dB; unlisted, weaker links are not included."
        )
    return said


def headline(answer: Answer) -> str:
    """The answer in a sentence."""
    best = [change for change in answer.ranked if verdict(answer.effects[change.name]) == "helps"]
    mixed = [change for change in answer.ranked if verdict(answer.effects[change.name]) == "mixed"]
    hurts = [change for change in answer.ranked if verdict(answer.effects[change.name]) == "hurts"]
    total = len(answer.tried.changes)
    if best:
        many = "one helps" if len(best) == 1 else f"{len(best)} help"
        which = ":" if len(best) == 1 else "; the most helpful:"
        return f"Yes: of {total} changes, {many} without measurable harm to anybody{which} {best[0].label}."
    if mixed:
        return f"For some: none of {total} changes helps everybody; {mixed[0].label} helps some and hurts others."
    if hurts:
        many = "one hurts" if len(hurts) == 1 else f"{len(hurts)} hurt"
        return f"No: none of {total} changes helps, {many}."
    return f"No difference seen: none of {total} changes has a significant effect in these runs."


def _speed(effect: Effect, what: str, *, together: bool = False) -> str:
    group = effect.measure.group
    assert group is not None
    whom = what if together else f"{what} at {group.label}"
    ratio = effect.ratio
    if not _sharp(ratio) or ratio.low is None or ratio.high is None:
        return f"{whom} have {_rate(effect.ours.mean)} instead of {_rate(effect.today.mean)}"
    if ratio.value >= _TIMES:
        return f"{whom} become {ratio.value:.1f} times {_span(ratio.low, ratio.high, '.1f')} as fast"
    if ratio.value >= 1.0:
        return f"{whom} gain {_per_cent(ratio, 1.0)}"
    return f"{whom} lose {_per_cent(ratio, -1.0)}"


def _per_cent(ratio: Estimate, sign: float) -> str:
    assert ratio.low is not None
    assert ratio.high is not None
    low, high = sorted(100.0 * sign * (end - 1.0) for end in (ratio.low, ratio.high))
    return f"{100.0 * sign * (ratio.value - 1.0):.0f} % {_span(low, high, '.0f')}"


def _span(low: float, high: float, digits: str) -> str:
    return f"[{low:{digits}}, {high:{digits}}]"


def _again(sentence: str, what: str) -> str:
    """A sentence without the beginning that it has in common with the previous one."""
    rest = sentence.removeprefix(f"{what} at ")
    return rest if rest != sentence else sentence


def _delay(effect: Effect) -> str:
    word = "shorter" if effect.good else "longer"
    return f"Round trips are {word}: {_mean(effect.ours.mean)} ms instead of {_mean(effect.today.mean)} ms."


def _sharp(ratio: Estimate) -> bool:
    """Whether a ratio is precise enough to report. No speed is below zero."""
    if not math.isfinite(ratio.value) or ratio.low is None or ratio.high is None:
        return False
    return ratio.low > 0.0 and ratio.high < _VAGUE * ratio.value


def _within(effect: Effect) -> str:
    ratio = effect.ratio
    if not _sharp(ratio) or ratio.low is None or ratio.high is None:
        return "there are too few runs to narrow it down"
    return f"between {100.0 * (ratio.low - 1.0):+.0f} % and {100.0 * (ratio.high - 1.0):+.0f} %"


def _transfers(answer: Answer) -> str:
    flows = answer.tried.network.flows
    if all(flow["from"] is None for flow in flows):
        return "Downloads"
    if all(flow["to"] is None for flow in flows):
        return "Uploads"
    return "Transfers"


def _hops(group: Group) -> str:
    if group.hops is None:
        return ""
    low, high = group.hops
    one = low == high == 1
    return f" ({low if low == high else f'{low} to {high}'} hop{'' if one else 's'})"


def _rate(mbps: float) -> str:
    return f"{number(mbps)} Mbit/s" if mbps >= 1.0 else f"{number(1e3 * mbps)} kbit/s"


def _mean(value: float) -> str:
    return f"{value:.0f}" if value >= 10.0 else f"{value:.1f}".removesuffix(".0")


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
