"""The answer as one self-contained HTML page that opens from the disk and needs no script."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from fourhop import text
from fourhop.study.estimate import number
from fourhop.whatif import words
from fourhop.whatif.answer import Answer, Effect, cells
from fourhop.whatif.map import CLASSES, picture, tried_places
from fourhop.whatif.tries import TODAY

PAGE = "index.html"

_ENDS = (0.125, 8.0)
"""Ends of the logarithmic scale of ratios; values beyond are drawn at its edge."""
_TICKS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def write(answer: Answer, out: Path, notes: Iterable[str] = ()) -> Path:
    """Write the page into a folder. Raises `FourhopError` if it cannot be written."""
    from fourhop.study.execute import write as put

    text = html(answer, notes)
    put(out / PAGE, partial(_text, text))
    return out / PAGE


def _text(text: str, temporary: Path) -> None:
    temporary.write_text(text, encoding="utf-8")


def html(answer: Answer, notes: Iterable[str] = ()) -> str:
    """The page; `notes` are the scenario's assumptions, one per line."""
    from fourhop._core import version
    from fourhop.report.build import asset, environment

    resolved = answer.scenario.resolved
    listed = resolved.get("nodes", [])
    names = {each["node"]: each["name"] for each in listed if isinstance(each["node"], int) and "name" in each}
    network = answer.tried.network
    tried = tried_places(answer)
    shown = [
        network.gateways,
        list(tried),
        [end for flow in network.flows for end in (flow["from"], flow["to"]) if end is not None],
    ]
    template = environment().get_template("whatif.html")
    return template.render(
        css=asset("report.css"),
        name=answer.scenario.name,
        headline=words.headline(answer),
        unknown=words.unknown(answer, list(notes)),
        today=words.today(answer),
        picture=picture(network, names, _speeds(answer), tried),
        best=[f"{n} {names[n]}" if n in names else str(n) for n, place in tried.items() if place.best],
        places=len(tried),
        classes=CLASSES,
        numbered=[(n, names[n], n in network.gateways) for n in dict.fromkeys(itertools.chain(*shown)) if n in names],
        changes=[_change(answer, each) for each in answer.ranked],
        otherwise=words.otherwise(answer),
        verdicts=words.VERDICTS,
        ticks=[{"at": _place(tick), "label": _tick(tick)} for tick in _TICKS],
        columns=[f"{each.label} ({each.unit})" if each.unit else each.label for each in answer.measures],
        rows=_rows(answer),
        left_out=answer.tried.left_out,
        notes=list(notes),
        what=answer.tried.today.what,
        nodes=len(network.places),
        links=len(network.pairs),
        seeds=answer.seeds,
        duration_s=answer.scenario.duration_s,
        comparisons=sum(len(effects) for effects in answer.effects.values()),
        version=version(),
        toml=answer.scenario.to_toml(),
    )


def _speeds(answer: Answer) -> dict[int, float]:
    """Today's mean speed of each node with traffic, in Mbit/s."""
    today = cells(answer.results, TODAY)
    found = {}
    for flow in answer.tried.network.flows:
        end = flow["to"] if flow["from"] is None else flow["from"]
        if end is not None and flow["name"] in today.flows:
            found[end] = 1e-3 * today.goodput(flow["name"]).mean
    return found


def _change(answer: Answer, change: Any) -> dict[str, Any]:
    effects = answer.effects[change.name]
    return {
        "name": change.name,
        "label": change.label,
        "what": change.what,
        "verdict": words.verdict(effects),
        "words": words.sentences(answer, change),
        "bars": [_bar(effect) for effect in effects if effect.measure.group is not None],
    }


def _bar(effect: Effect) -> dict[str, Any]:
    ratio = effect.ratio
    group = effect.measure.group
    assert group is not None
    known = math.isfinite(ratio.value)
    low, high = (ratio.value if end is None else end for end in (ratio.low, ratio.high))
    return {
        "label": group.label,
        "at": _place(ratio.value) if known else None,
        "low": _place(low) if known else 0.0,
        "width": round(_place(high) - _place(low), 2) if known else 0.0,
        "good": {True: "more", False: "fewer", None: "same"}[effect.good],
        "value": f"{_short(ratio.value)}×" if known else "-",
        "interval": f"[{_short(ratio.low)}, {_short(ratio.high)}]"
        if ratio.low is not None and ratio.high is not None
        else "",
    }


def _short(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10.0 else f"{ratio:.0f}"


def _tick(ratio: float) -> str:
    if ratio == 1.0:
        return "today"
    return f"{ratio:g}×" if ratio > 1.0 else f"1/{1.0 / ratio:g}"


def _place(ratio: float) -> float:
    """Position of a ratio on the scale, in per cent."""
    low, high = _ENDS
    inside = min(max(ratio, low), high)
    return round(100.0 * math.log(inside / low) / math.log(high / low), 2)


def _rows(answer: Answer) -> list[list[str]]:
    rows = [[answer.tried.today.label, *(_mean(answer.today(measure).interval) for measure in answer.measures)]]
    rows += [
        [change.label, *(_mean(effect.ours.interval) for effect in answer.effects[change.name])]
        for change in answer.ranked
    ]
    return rows


def _mean(interval: Any) -> str:
    half = interval.half_width
    return number(interval.mean) if half is None else text.interval(interval.mean, half)
