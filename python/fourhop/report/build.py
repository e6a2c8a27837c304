"""Makes `index.html` out of the records that `fourhop reproduce` leaves.

The page needs nothing but itself: styles, script, chart library, figures and values are inside; only the links to the
data lead to files beside it. Everything but the interactive charts works without a script.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from fourhop.errors import FourhopError
from fourhop.study import draw
from fourhop.study.chart import Chart
from fourhop.study.execute import DATA, FIGURES, write

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
    records = _records(out)
    text = page(records)
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
    charts: dict[str, Any] = {}
    sections = [_section(record, charts) for record in records]
    profiles = list(dict.fromkeys(profile for record in records for profile in record["profiles"]))
    quick = [record for record in records if record["quick"]]
    banner = ""
    if quick:
        some = "1 figure is" if len(quick) == 1 else f"{len(quick)} figures are"
        which = "All of this is" if len(quick) == len(records) else some
        why = "from short runs, made to see that everything works. Nothing in them is judged."
        banner = f'<p class="banner">{which} {why}</p>'
    # `</` would end the element that holds the values.
    values = json.dumps(charts, allow_nan=False, separators=(",", ":")).replace("</", "<\\/")
    library = _asset("chart.umd.min.js").replace("//# sourceMappingURL=chart.umd.min.js.map", "")
    licence = escape(_asset("chart.LICENSE.md"))
    versions = ", ".join(sorted({record["fourhop"] for record in records}))
    papers = len({record["paper"] for record in records})
    counted = f"{_count(len(records), 'figure')} of {_count(papers, 'paper')}"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>fourhop: figures measured again</title>
<link rel="icon" href="data:,">
<style>{_asset("report.css")}</style>
</head>
<body>
<a class="skip" href="#overview">To the overview</a>
<header>
<div><h1>Figures measured again</h1>
<p class="soft">{counted}, measured with fourhop {escape(versions)}</p></div>
<button type="button" id="theme" hidden></button>
</header>
<main>
{banner}
<section id="overview" aria-label="Overview">
{_overview(records, profiles)}
{_legend(profiles, records)}
</section>
{"".join(sections)}
</main>
<footer class="soft small">
<p>Intervals are 95 % confidence intervals. Everything on this page is in this file; only the links to data lead to
files beside it.</p>
<details><summary>Chart.js, the library behind the interactive charts</summary><pre>{licence}</pre></details>
</footer>
<script type="application/json" id="charts">{values}</script>
<script>{library}</script>
<script>{_asset("report.js")}</script>
</body>
</html>
"""


def _overview(records: list[Record], profiles: list[str]) -> str:
    rows = []
    paper = None
    for record in records:
        if record["paper"] != paper:
            paper = record["paper"]
            span = 1 + len(profiles)
            rows.append(f'<tr class="paper"><th scope="rowgroup" colspan="{span}">{escape(paper)}</th></tr>')
        cells = "".join(
            f'<td data-label="{escape(profile)}">{_figure_verdict(record["profiles"].get(profile))}</td>'
            for profile in profiles
        )
        title = f'<a href="#{_id(record)}">{escape(record["title"])}</a>'
        what = f'<span class="what soft small">{escape(record["source"])}</span>'
        rows.append(f'<tr><th scope="row">{title} {what}</th>{cells}</tr>')
    heads = "".join(f'<th scope="col">{escape(profile)}</th>' for profile in profiles)
    return (
        f'<table class="overview"><thead><tr><th scope="col">Figure</th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _figure_verdict(profile: Mapping[str, Any] | None) -> str:
    if profile is None or profile["verdict"] is None:
        return '<span class="soft">no checks</span>'
    outcomes = profile["outcomes"]
    good = sum(each["verdict"] == "reproduced" for each in outcomes)
    if profile["verdict"] == "not judged":
        return _verdict("not judged")
    return f'{_verdict(profile["verdict"])} <span class="soft small">{good} of {len(outcomes)}</span>'


def _legend(profiles: list[str], records: list[Record]) -> str:
    known = {each["verdict"] for record in records for p in record["profiles"].values() for each in p["outcomes"]}
    used = [verdict for verdict in _VERDICTS if verdict in known or verdict != "not judged"]
    verdicts = "".join(f"<dt>{_verdict(verdict)}</dt><dd>{_VERDICTS[verdict][1]}</dd>" for verdict in used)
    meanings = "".join(f"<dt>{escape(name)}</dt><dd>{_PROFILES.get(name, '')}</dd>" for name in profiles)
    return (
        '<details class="no-print"><summary>What verdicts and profiles mean</summary>'
        f"<dl>{verdicts}{meanings}</dl></details>"
    )


def _section(record: Record, charts: dict[str, Any]) -> str:
    assumed = "".join(f"<li>{escape(each)}</li>" for each in record["assumed"])
    assumed = f"<h3>Assumed where the text leaves it open</h3><ul>{assumed}</ul>" if assumed else ""
    text = "".join(f"<p>{escape(' '.join(part.split()))}</p>" for part in record["text"].split("\n\n") if part.strip())
    return f"""
<section class="figure" id="{_id(record)}" aria-labelledby="{_id(record)}-title">
<h2 id="{_id(record)}-title">{escape(record["title"])}</h2>
<p class="soft small">{escape(record["source"])} · <code>{escape(record["paper"])}/{escape(record["figure"])}</code></p>
{text}
{_panels(record, charts)}
{_checks(record)}
{assumed}
{_behind(record)}
</section>"""


def _panels(record: Record, charts: dict[str, Any]) -> str:
    """Each chart once for each profile, side by side where there is room."""
    names = list(dict.fromkeys(chart["name"] for each in record["profiles"].values() for chart in each["charts"]))
    made = []
    for name in names:
        panels = [
            _panel(record, profile, chart, charts)
            for profile, each in record["profiles"].items()
            for chart in each["charts"]
            if chart["name"] == name
        ]
        made.append(f'<div class="panels">{"".join(panels)}</div>')
    return "\n".join(made)


def _panel(record: Record, profile: str, plain: Record, charts: dict[str, Any]) -> str:
    chart = Chart.from_dict(plain)
    key = f"{_id(record)}-{chart.name}-{profile}"
    label = f"{record['title']}, {chart.name.replace('_', ' ')}, profile {profile}"
    caption = f"<figcaption>{escape(chart.caption)}</figcaption>" if chart.caption else ""
    if chart.kind == "table":
        head = "".join(f'<th scope="col">{escape(column)}</th>' for column in chart.columns)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in chart.rows)
        body = f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        return (
            f'<figure id="{key}"><div class="profile"><strong>{escape(profile)}</strong></div>{body}{caption}</figure>'
        )
    charts[key] = {name: plain[name] for name in ("kind", "lines", "x_label", "y_label", "y_min", "y_max", "x_log")}
    described = f"{label}: {chart.y_label}" + (f" over {chart.x_label}" if chart.x_label else "")
    return (
        f'<figure id="{key}" data-chart="{key}" data-label="{escape(label)}">'
        f'<div class="profile"><strong>{escape(profile)}</strong>'
        f'<button type="button" class="explore" aria-pressed="false" hidden '
        f'aria-label="Interactive: {escape(label)}">Interactive</button></div>'
        f'<div class="still">{draw.svg(chart, key, described)}</div><div class="live" hidden></div>{caption}</figure>'
    )


def _checks(record: Record) -> str:
    profiles = record["profiles"]
    first: list[Record] = next(each["outcomes"] for each in profiles.values())
    if not first:
        return ""
    rows = []
    for number, check in enumerate(first):
        assumed = f'<span class="note">Assumed: {escape(check["assumed"])}</span>' if check["assumed"] else ""
        cells = "".join(
            f'<td data-label="{escape(profile)}">{_outcome(each["outcomes"][number])}</td>'
            for profile, each in profiles.items()
        )
        rows.append(
            f'<tr><th scope="row">{escape(check["statement"])}{assumed}</th>'
            f'<td data-label="the paper">{escape(check["paper"])}</td>{cells}</tr>'
        )
    heads = "".join(f'<th scope="col">{escape(profile)}</th>' for profile in profiles)
    return (
        '<h3>Checks</h3><table class="checks"><thead><tr><th scope="col">Statement</th><th scope="col">The paper</th>'
        f"{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _outcome(outcome: Record) -> str:
    asked = f"asked: {outcome['criterion']}" if outcome["criterion"] else ""
    method = outcome.get("method", "")
    notes = [outcome["reason"] or asked, outcome.get("why") and f"We think: {outcome['why']}", method]
    shown = "".join(f'<span class="note">{escape(str(note))}</span>' for note in notes if note)
    return f'{_verdict(outcome["verdict"])} <span class="measured">{escape(outcome["measured"])}</span>{shown}'


def _behind(record: Record) -> str:
    """Scenario, seeds, time, data."""
    rows = []
    scenarios = []
    for profile, each in record["profiles"].items():
        for sweep in each["sweeps"]:
            name = f"{profile}, {sweep['name']}"
            seeds = "–".join(str(seed) for seed in dict.fromkeys(sweep["seeds"]))
            links = ", ".join(_link(record, file) for file in sweep["files"])
            drawn = ", ".join(
                _link(record, f"{profile}-{chart['name']}.{suffix}")
                for chart in each["charts"]
                for suffix in (("csv",) if chart["kind"] == "table" else ("csv", "pdf"))
            )
            if sweep["cut_short"]:
                some = f"{sweep['cut_short']} of {sweep['runs']} runs"
                drawn += f'<span class="note">{some} reached their longest time before their last packet</span>'
            rows.append(
                f'<tr><th scope="row">{escape(name)}</th><td>{sweep["points"]}</td><td>{sweep["runs"]}</td>'
                f"<td>{seeds}</td><td>{_time(sweep['simulated_s'])}</td><td>{_time(sweep['wall_s'])}</td>"
                f"<td>{links}, {drawn}</td></tr>"
            )
            varied = "; ".join(f"{key}: {', '.join(values)}" for key, values in sweep["varied"].items())
            for label, toml in sweep["scenarios"].items():
                title = ", ".join(filter(None, (name, label)))
                note = f'<p class="small">Varied: {escape(varied)}</p>' if varied else ""
                scenarios.append(
                    f"<details><summary>Scenario: {escape(title)}</summary>{note}<pre>{escape(toml)}</pre></details>"
                )
    made_with = f"fourhop {escape(record['fourhop'])}, commit <code>{escape(record['commit'])}</code>"
    return (
        f'<h3>Behind it</h3><p class="small">{made_with}. Time is that of the runs one after another.</p>'
        '<div class="scroll"><table class="behind"><thead><tr><th scope="col">Sweep</th><th scope="col">Points</th>'
        '<th scope="col">Runs</th><th scope="col">Seeds</th><th scope="col">Simulated</th><th scope="col">Time</th>'
        f'<th scope="col">Data</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>{"".join(scenarios)}'
    )


def _link(record: Record, file: str, label: str | None = None) -> str:
    path = f"{DATA}/{record['paper']}/{record['figure']}/{file}"
    return f'<a href="{escape(path)}">{escape(label or file.split("-", 1)[1])}</a>'


def _verdict(verdict: str) -> str:
    sign = _VERDICTS[verdict][0]
    return f'<span class="verdict {verdict.replace(" ", "-")}"><span aria-hidden="true">{sign}</span> {verdict}</span>'


def _id(record: Record) -> str:
    return f"{record['paper']}-{record['figure']}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _time(seconds: float) -> str:
    """`12 s`, `3.4 min`, `1.2 h`."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def _asset(name: str) -> str:
    return resources.files("fourhop.report").joinpath("assets", name).read_text(encoding="utf-8")
