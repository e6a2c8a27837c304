"""Makes `index.html` and a page for each paper from the records of `fourhop reproduce`.

The pages open from the disk and are self-contained: styles, script, chart library, figures and values are inside; only
links lead to other pages and to the data beside them. Everything but the interactive charts works without a script.

The layout is in `templates/`, which escape all text. Only the assets and the vector graphics of `study.draw` are
inserted unescaped.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourhop.errors import FourhopError
from fourhop.study import draw
from fourhop.study.chart import Chart
from fourhop.study.drawing import describe
from fourhop.study.execute import FIGURES, is_unexplained, write
from fourhop.study.looks import LOOKS
from fourhop.study.worlds import load, summary

if TYPE_CHECKING:
    import jinja2

PAGE = "index.html"
WORLDS = "worlds.html"

_NAMES = {"ns2": "Behaviour of ns-2.35", "standard": "Standards as written"}
"""Profiles in words."""

_PROFILES = {
    "ns2": "protocols and radio as in ns-2.35, the last release of the simulator that the papers used, quirks included",
    "standard": "IEEE 802.11, AODV and TCP as their standards say: does the conclusion survive?",
}

_VERDICTS = {
    "reproduced": ("●", "the 95 % interval supports the paper's statement"),
    "partly": ("◐", "the interval supports a weaker form, defined beforehand; for a figure: its checks disagree"),
    "not reproduced": ("○", "the interval supports neither; the reason is given with the claim"),
    "not judged": ("–", "short runs that only check that everything works"),
}

Record = dict[str, Any]
Panels = list[list[dict[str, Any]]]
"""The charts of a figure in rows, as input of the templates."""


def build(out: Path) -> Path:
    """Write the pages about all records in `out`, from this call or earlier ones, and return the path of the first.

    Raises `FourhopError` if there are no records, if one cannot be read, or if a page cannot be written.
    """
    worlds = load(out)
    for name, text in pages(_records(out), worlds).items():
        write(out / name, partial(_write, text))
    return out / PAGE


def build_worlds(out: Path) -> Path:
    """Write the page and the summary, `worlds.json`, of all records of worlds in `out`, and return the page's path.

    The overview links to it when it is next written. Raises `FourhopError` like `build`.
    """
    records = load(out)
    if not records:
        raise FourhopError(f"{out}: found no records of worlds; run `fourhop reproduce --world all` first")
    write(out / WORLDS, partial(_write, pages([], records)[WORLDS]))
    write(out / "worlds.json", partial(_write, json.dumps(summary(records), indent=1, allow_nan=False) + "\n"))
    return out / WORLDS


def _write(text: str, temporary: Path) -> None:
    temporary.write_text(text, encoding="utf-8")


def _records(out: Path) -> list[Record]:
    found = []
    for path in sorted((out / FIGURES).glob("*/*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            for each in record["profiles"].values():
                # Records of earlier versions have no main claims and no brief forms.
                each["outcomes"] = [
                    {"main": False, "brief": it["measured"], "because": [], **it} for it in each["outcomes"]
                ]
                each.setdefault("causes", [])
            found.append(record)
        except (OSError, ValueError) as error:
            raise FourhopError(
                f"{path}: found no record of a figure ({error}), allowed: one that `fourhop reproduce` wrote"
            ) from None
    if not found:
        raise FourhopError(f"{out / FIGURES}: found no figures; run `fourhop reproduce` first")
    return found


def environment() -> jinja2.Environment:
    """The templates of all pages."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("fourhop.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def pages(records: list[Record], worlds: list[Record] | None = None) -> dict[str, str]:
    """Every page by file name: the overview, one for each paper, and one about worlds, if any."""
    templates = environment()
    templates.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    templates.filters |= {
        "counted": _counted,
        "counts": _counts,
        "duration": _duration,
        "main_claims": _main,
        "main_figure": _main_figure,
        "outcomes": _outcomes,
        "profiles": _profiles,
        "prose": _prose,
    }
    templates.globals |= {
        "asset": asset,
        "id": _id,
        "names": _NAMES,
        "notes": _notes,
        "page_of": _page_of,
        "signs": {name: sign for name, (sign, _) in _VERDICTS.items()},
    }
    drawn: dict[str, Panels] = {}

    def panels_of(record: Record) -> Panels:
        """The charts of a figure, drawn once for the overview and the page of its paper."""
        key = _id(record)
        if key not in drawn:
            drawn[key] = _panels(record)
        return drawn[key]

    templates.globals["panels_of"] = panels_of
    known = {each["verdict"] for record in records for p in record["profiles"].values() for each in p["outcomes"]}
    papers: dict[str, list[Record]] = {}
    for record in records:
        papers.setdefault(record["paper"], []).append(record)
    made = {_page_of(paper): templates.get_template("paper.html").render(records=of) for paper, of in papers.items()}
    if worlds:
        made[WORLDS] = templates.get_template("worlds.html").render(records=worlds, papers=summary(worlds))
    if not records:
        return made
    index = templates.get_template("index.html").render(
        records=records,
        worlds=WORLDS if worlds else "",
        papers=papers,
        meanings=_PROFILES,
        verdicts={name: why for name, (_, why) in _VERDICTS.items() if name in known or name != "not judged"},
    )
    return {**made, PAGE: index}


def _profiles(records: list[Record]) -> list[str]:
    return list(dict.fromkeys(profile for record in records for profile in record["profiles"]))


def _outcomes(records: list[Record], profile: str) -> list[Record]:
    """The outcomes of all checks of several figures."""
    return [each for record in records for each in record["profiles"].get(profile, {"outcomes": []})["outcomes"]]


def _main(records: list[Record], profile: str) -> dict[str, list[tuple[Record, Record]]]:
    """The main claims by verdict, each as its figure and outcome."""
    found = [
        (record, each)
        for record in records
        for each in record["profiles"].get(profile, {"outcomes": []})["outcomes"]
        if each["main"]
    ]
    by_verdict = {name: [pair for pair in found if pair[1]["verdict"] == name] for name in _VERDICTS}
    return {name: pairs for name, pairs in by_verdict.items() if pairs}


def _main_figure(records: list[Record]) -> Record | None:
    """The figure of the first main claim."""
    return next((record for record in records for profile in record["profiles"] if _main([record], profile)), None)


def _notes(outcome: Record, causes: list[Record]) -> list[str]:
    """The notes below a verdict; fewer for a check without an answer."""
    asked = f"criterion: {outcome['criterion']}" if outcome["criterion"] else ""
    shown = [
        f"Cause, measured here: {each['statement']}: {each['measured']} (criterion: {each['criterion']})"
        for each in causes
        if each["name"] in outcome["because"]
    ]
    if outcome.get("why"):
        shown.append(f"We think: {outcome['why']}")
    elif is_unexplained(outcome):
        shown.append("The cause is unknown.")
    look = f"decided at look {outcome['look']} of {LOOKS}" if outcome.get("look", LOOKS) < LOOKS else ""
    return list(filter(None, (outcome["reason"] or asked, *shown, outcome.get("method", ""), look)))


def _prose(text: str) -> str:
    """A text of a study as markup, where parts between backticks are code."""
    from markupsafe import Markup, escape

    parts = [escape(part) for part in text.split("`")]
    return Markup().join(Markup(f"<code>{part}</code>") if n % 2 else part for n, part in enumerate(parts))


def _panels(record: Record) -> Panels:
    """Each chart once for each profile, side by side if there is room, and on the same scale.

    Charts of one quantity over the same x values have the same scale in the whole figure.
    """
    rows: dict[str, dict[str, Chart]] = {}
    for profile, each in record["profiles"].items():
        for plain in each["charts"]:
            rows.setdefault(plain["name"], {})[profile] = Chart.from_dict(plain)
    alike: dict[object, list[Chart]] = {}
    for row in rows.values():
        alike.setdefault(_quantity(row), []).extend(row.values())
    return [
        [_panel(record, profile, chart, list(row.values()), alike[_quantity(row)]) for profile, chart in row.items()]
        for row in rows.values()
    ]


def _quantity(row: dict[str, Chart]) -> tuple[object, ...]:
    """The quantity of a row of charts, and its x values.

    Charts over other x values, such as short chains and long ones, exist because one scale would not suit both.
    """
    chart = next(iter(row.values()))
    places = {str(x) for each in row.values() for line in each.lines for x in line.x}
    over = None if chart.kind == "series" else frozenset(places)
    return chart.kind, chart.x_label, chart.y_label, chart.y_min, chart.y_max, chart.y_log, over


def _panel(record: Record, profile: str, chart: Chart, row: list[Chart], alike: list[Chart]) -> dict[str, Any]:
    key = _id(record, chart.name, profile)
    label = f"{record['title']}, {chart.name.replace('_', ' ')}, {_NAMES.get(profile, profile)}"
    drawing = None if chart.kind == "table" else describe(chart, row, alike)
    return {
        "profile": profile,
        "key": key,
        "label": label,
        "described": f"{label}: {chart.y_label}" + (f" over {chart.x_label}" if chart.x_label else ""),
        "chart": chart,
        "drawing": drawing and asdict(drawing),
        "svg": drawing and draw.svg(drawing, key),
    }


def _id(record: Record, *part: str) -> str:
    """The id of a figure or a part of it on the page, without characters that are invalid in an id."""
    return _slug("-".join((record["paper"], record["figure"], *part)))


def _page_of(paper: str) -> str:
    return f"paper-{_slug(paper)}.html"


def _slug(text: str) -> str:
    return re.sub(r"[^\w.-]", "-", text)


def _counts(outcomes: list[Record]) -> str:
    """Verdicts as text: `3 reproduced, 1 partly, 4 not reproduced (1 without a known cause)`."""
    found = Counter(each["verdict"] for each in outcomes)
    unknown = sum(map(is_unexplained, outcomes))
    remark = f" ({unknown} without a known cause)" if unknown else ""
    return (", ".join(f"{found[name]} {name}" for name in _VERDICTS if found[name]) or "none") + remark


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _duration(seconds: float) -> str:
    """A duration as text: `12 s`, `3.4 min`, `1.2 h`."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def asset(name: str) -> str:
    """A file of `assets`, ready to be inserted into a page."""
    text = resources.files("fourhop.report").joinpath("assets", name).read_text(encoding="utf-8")
    return text.replace("//# sourceMappingURL=chart.umd.min.js.map", "")
