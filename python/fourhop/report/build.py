"""Makes `index.html` out of the records that `fourhop reproduce` leaves.

The page needs nothing but itself: styles, script, chart library, figures and values are inside; only the links to the
data lead to files beside it. Everything but the interactive charts works without a script.

What it looks like is in `templates/`, which escape every text that they are given. Only the assets and the vector
graphics of `study.draw` are put in as they are.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

from fourhop.errors import FourhopError
from fourhop.study import draw
from fourhop.study.chart import Chart
from fourhop.study.drawing import describe
from fourhop.study.execute import FIGURES, write

PAGE = "index.html"

_PROFILES = {
    "ns2": "the protocols and the radio as ns-2.35 has them: what the papers were measured on, quirks included",
    "standard": "IEEE 802.11, AODV and TCP as their standards say: does the conclusion survive?",
}

_VERDICTS = {
    "reproduced": ("●", "the 95 % interval supports what the paper says"),
    "partly": ("◐", "it supports a weaker form, said beforehand; of a figure: its checks disagree"),
    "not reproduced": ("○", "it supports neither; the reason stands beside it"),
    "not judged": ("–", "short runs, made to see that everything works"),
}

Record = dict[str, Any]


def build(out: Path) -> Path:
    """Write the page about all records in `out`, whichever call made them, and return its path.

    Raises `FourhopError` if there are none, if one cannot be read, or if the page cannot be written.
    """
    text = page(_records(out))
    path = out / PAGE
    write(path, lambda aside: aside.write_text(text, encoding="utf-8"))
    return path


def _records(out: Path) -> list[Record]:
    found = []
    for path in sorted((out / FIGURES).glob("*/*.json")):
        try:
            found.append(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise FourhopError(
                f"{path}: found no record of a figure ({error}), allowed: what reproduce wrote"
            ) from None
    if not found:
        raise FourhopError(f"{out / FIGURES}: found no record of a figure, allowed: what reproduce wrote")
    return found


def page(records: list[Record]) -> str:
    """The whole page."""
    import jinja2

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("fourhop.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    templates.filters |= {"counted": _counted, "duration": _duration}
    templates.globals |= {"asset": _asset, "id": _id, "signs": {name: sign for name, (sign, _) in _VERDICTS.items()}}
    panels = {_id(record): _panels(record) for record in records}
    known = {each["verdict"] for record in records for p in record["profiles"].values() for each in p["outcomes"]}
    papers: dict[str, list[Record]] = {}
    for record in records:
        papers.setdefault(record["paper"], []).append(record)
    return templates.get_template("page.html").render(
        records=records,
        papers=papers,
        profiles=list(dict.fromkeys(profile for record in records for profile in record["profiles"])),
        meanings=_PROFILES,
        verdicts={name: why for name, (_, why) in _VERDICTS.items() if name in known or name != "not judged"},
        quick=sum(record["quick"] for record in records),
        versions=sorted({record["fourhop"] for record in records}),
        panels=panels,
        charts={
            panel["key"]: asdict(describe(panel["chart"]))
            for rows in panels.values()
            for row in rows
            for panel in row
            if panel["svg"]
        },
    )


def _panels(record: Record) -> list[list[dict[str, Any]]]:
    """Each chart once for each profile, side by side where there is room."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for profile, each in record["profiles"].items():
        for plain in each["charts"]:
            chart = Chart.from_dict(plain)
            key = _id(record, chart.name, profile)
            label = f"{record['title']}, {chart.name.replace('_', ' ')}, profile {profile}"
            rows.setdefault(chart.name, []).append(
                {
                    "profile": profile,
                    "key": key,
                    "label": label,
                    "described": f"{label}: {chart.y_label}" + (f" over {chart.x_label}" if chart.x_label else ""),
                    "chart": chart,
                    "svg": None if chart.kind == "table" else draw.svg(chart, key),
                }
            )
    return list(rows.values())


def _id(record: Record, *part: str) -> str:
    """What the page calls a figure or a part of it; names of folders and files may hold more than an id does."""
    return re.sub(r"[^\w.-]", "-", "-".join((record["paper"], record["figure"], *part)))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _duration(seconds: float) -> str:
    """`12 s`, `3.4 min`, `1.2 h`."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def _asset(name: str) -> str:
    text = resources.files("fourhop.report").joinpath("assets", name).read_text(encoding="utf-8")
    return text.replace("//# sourceMappingURL=chart.umd.min.js.map", "")
