"""The report page: its content, and that it works in a real browser, by keyboard, on a phone and on paper."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from fourhop import report
from fourhop.errors import FourhopError
from fourhop.report.build import pages
from fourhop.study import Chart, draw, table
from fourhop.study.chart import Line
from tests.browser import CHROMIUM, Chromium

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

NASTY = "</script><b>&\"'"
SCRIPT = "<script>bad('\"')</script>\" bad='1' $x^2$"


NAMES = [f"{name}{acks}" for name in ("NewReno", "TCP-AP", "TCP-AP, authors' code") for acks in ("", " + delayed ACK")]


def charts() -> list[Chart]:
    hops: list[float] = [1.0, 2.0, 4.0, 8.0]
    reno = Line("NewReno", hops, [800.0, 400.0, 210.0, 120.0], [780.0, 390.0, 190.0, None], [820.0, 410.0, 230.0, None])
    vegas = Line("Vegas", hops, [820.0, 420.0, 230.0, None], [800.0, 400.0, 210.0, None], [840.0, 440.0, 250.0, None])
    times: list[float] = [float(t) for t in range(60)]
    wave = Line("flow-1", times, [100.0 + (t % 7) * 10 for t in range(60)], [None] * 60, [None] * 60)
    first = Line("NewReno", ["upper", "lower"], [300.0, 30.0], [280.0, 10.0], [320.0, 50.0])
    second = Line("Vegas", ["upper", "lower"], [160.0, 170.0], [150.0, 160.0], [170.0, 180.0])
    return [
        Chart("lines", (reno, vegas), "hops", "goodput (kbit/s)", name="hops", caption=f"Means. {NASTY}"),
        Chart("series", (wave,), "time (s)", "goodput (kbit/s)", name="over_time"),
        Chart("bars", (first, second), "", "goodput (kbit/s)", name="shares"),
        Chart(
            "table",
            columns=("hops", *NAMES),
            rows=(("8", *["0.0131 [0.00804, 0.0182] kbit/s"] * len(NAMES)),),
            name="numbers",
        ),
    ]


def outcome(verdict: str) -> dict[str, Any]:
    return {
        "main": True,
        "name": "c", "statement": f"Vegas is ahead {NASTY}", "paper": "by 20 %", "assumed": "at 4 hops",
        "verdict": verdict, "criterion": "above 1.2", "weaker": [], "measured": "1.3 [1.25, 1.35]", "value": 1.3,
        "brief": "1.3 at best",
        "low": 1.25, "high": 1.35, "unit": "", "method": "replications, Fieller", "why": "luck", "because": [],
        "reason": None if verdict == "reproduced" else "criterion: above 1.2; the interval says otherwise",
    }  # fmt: skip


def record(paper: str, figure: str, verdicts: tuple[str, str], *, quick: bool = False) -> dict[str, Any]:
    def profile(name: str, verdict: str) -> dict[str, Any]:
        sweep = {
            "name": "chain", "text": "", "points": 4, "runs": 12, "reused": 0, "seeds": [1, 3], "wall_s": 75.0,
            "simulated_s": 1200.0, "cut_short": 3, "varied": {"topology.hops": ["1", "2"]},
            "scenarios": {"": 'profile = "ns2"\n# <i>'}, "files": [f"{name}-chain-flows.csv"],
        }  # fmt: skip
        return {
            "verdict": verdict,
            "outcomes": [outcome(verdict) | ({"because": ["short"], "why": ""} if verdict == "partly" else {})],
            "causes": [
                {"name": "short", "statement": "Windows are short", "measured": "3 [2, 4]", "criterion": "above 1"}
            ],
            "charts": [each.to_dict() for each in charts()],
            "sweeps": [sweep],
        }

    return {
        "paper": paper, "figure": figure, "title": f"Goodput {NASTY}", "source": "figure 1", "quick": quick,
        "text": f"First {NASTY}, as `x < y {NASTY}` says.\n\nSecond.",
        "assumed": [f"A {NASTY}"], "fourhop": "0.1.0", "commit": "abc123",
        "profiles": {"ns2": profile("ns2", verdicts[0]), "standard": profile("standard", verdicts[1])},
    }  # fmt: skip


def write(out: Path, *records: dict[str, Any]) -> Path:
    for each in records:
        folder = out / "figures" / each["paper"]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{each['figure']}.json").write_text(json.dumps(each), encoding="utf-8")
        for profile in each["profiles"]:
            data = out / "data" / each["paper"] / each["figure"]
            data.mkdir(parents=True, exist_ok=True)
            for name in ("chain-flows", "hops", "over_time", "shares", "numbers"):
                for suffix in ("csv", "pdf"):
                    (data / f"{profile}-{name}.{suffix}").write_text("a\n1\n", encoding="utf-8")
    return report.build(out)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two papers, three figures, every verdict and every kind of chart."""
    return write(
        tmp_path_factory.mktemp("report"),
        record("one", "first", ("reproduced", "partly")),
        record("one", "second", ("not reproduced", "not reproduced")),
        record("two", "third", ("not judged", "not judged"), quick=True),
    )


@pytest.fixture(scope="module")
def page(index: Path) -> Path:
    """The page of a paper: two figures."""
    return index.parent / "paper-one.html"


class Tree(HTMLParser):
    """Opened and closed tags, ids, links."""

    VOID = frozenset({"meta", "link", "br", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.outside: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.values = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id" and value:
                self.ids.append(value)
            if name == "href" and value and tag == "a":
                self.links.append(value)
            if name == "src" and value:
                self.outside.append(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if "script" not in self.open:
            self.texts.append(data)
        elif data.startswith("{"):
            self.values += json.dumps(json.loads(data))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag, f"</{tag}> in {self.open[-3:]}"


@pytest.mark.parametrize("name", ["index.html", "paper-one.html", "paper-two.html"])
def test_a_page_is_one_file_that_is_well_formed(index: Path, name: str) -> None:
    page = index.parent / name
    text = page.read_text(encoding="utf-8")
    tree = Tree()
    tree.feed(text)
    assert tree.open == []
    assert len(tree.ids) == len(set(tree.ids)), "every id once"
    assert tree.outside == []
    assert "@import" not in text
    assert not re.search(r"<(script|link|img|iframe)[^>]*\b(src|href)=\"(?!data:)", text)
    for link in tree.links:
        file, _, place = link.partition("#")
        there = page.parent / file if file else page
        assert there.is_file(), link
        assert not place or f'id="{place}"' in there.read_text(encoding="utf-8"), link


def test_the_page_says_what_was_measured(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for said in (
        "1.3 [1.25, 1.35]",
        "by 20 %",
        "at 4 hops",
        "We think: luck",
        "Cause, measured here: Windows are short: 3 [2, 4] (criterion: above 1)",
        "abc123",
        "1–3",
        "75 s",
        "20 min",
        "3 of 12 runs",
    ):
        assert said in text, said
    assert "<b>&" not in text, "what records say is text, not markup"
    assert "as <code>x &lt; y &lt;/script&gt;&lt;b&gt;&amp;&#34;&#39;</code> says." in text
    assert "Chart.js Contributors" in text, "the licence of the library comes with it"


def test_the_overview_answers_for_each_paper_what_stands(index: Path) -> None:
    text = index.read_text(encoding="utf-8")
    assert text.index('id="paper-one.html-title"') < text.index('id="paper-two.html-title"')
    said = [
        " ".join(re.sub("<[^>]*>", "", each).split()) for each in re.findall(r"<p><strong>.*?</p>", text, re.DOTALL)
    ]
    claim = "Vegas is ahead &lt;/script&gt;&lt;b&gt;&amp;&#34;&#39;: 1.3 at best (the paper: by 20 %)."
    assert said == [
        f"Behaviour of ns-2.35: 1 of 2 main claims reproduced. ● reproduced {claim} ○ not reproduced {claim} "
        "All statements: 1 reproduced, 1 not reproduced (1 without a known cause).",
        f"Standards as written: 0 of 2 main claims reproduced. ◐ partly {claim} ○ not reproduced {claim} "
        "All statements: 1 partly, 1 not reproduced (1 without a known cause).",
        *(
            f"{profile}: 1 main claim, not judged: these runs are too short. "
            f"– not judged {claim} All statements: 1 not judged."
            for profile in ("Behaviour of ns-2.35", "Standards as written")
        ),
    ]
    bars = re.findall(r'class="tally"[^>]*>(.*?)</span></span>', text)
    parts = [re.findall(r'<span class="([a-z-]+)" style="flex: (\d)">', each) for each in bars]
    assert parts[:2] == [[("reproduced", "1"), ("not-reproduced", "1")], [("partly", "1"), ("not-reproduced", "1")]]
    assert parts[2:] == [[(name, "1")] for name in ("reproduced", "partly", "not-reproduced", "not-reproduced")]
    assert "1 figure is from short runs" in text
    # For each paper, the first chart of the figure of its first main claim.
    assert re.findall(r'<figure id="([^"]+)"', text) == [
        "one-first-hops-ns2", "one-first-hops-standard", "two-third-hops-ns2", "two-third-hops-standard",
    ]  # fmt: skip


def test_the_first_page_is_light_however_much_the_papers_show(tmp_path: Path) -> None:
    n = 2_000
    wave = Line("x", [0.01 * t for t in range(n)], [100.0 + t * 37 % 100 for t in range(n)], [None] * n, [None] * n)
    # Each paper's first chart is as large as the papers' own: six curves over sixteen points.
    places: list[float] = [float(n) for n in range(1, 17)]
    rows = [[500.123 / (n + each) for n in places] for each in range(6)]
    curves = [
        Line(name, places, [*y], [0.9 * m for m in y], [1.1 * m for m in y])
        for name, y in zip(NAMES, rows, strict=True)
    ]
    shown = [
        Chart("lines", tuple(curves), "hops", "goodput (kbit/s)", name="hops").to_dict(),
        Chart("series", (wave,), "time (s)", "goodput", name="over_time").to_dict(),
    ]
    papers = [record(f"paper-{number}", "figure", ("reproduced", "partly")) for number in range(2)]
    for profile in (profile for made in papers for profile in made["profiles"].values()):
        profile["charts"] = shown
    indices = [write(tmp_path / str(count), *papers[:count]) for count in (1, 2)]
    first = [index.stat().st_size for index in indices]
    whole = [sum(path.stat().st_size for path in index.parent.glob("*.html")) for index in indices]
    # Drawing takes most of the time here, and each further paper adds as much as the second. There are seven.
    seven = [one + 6 * (two - one) for one, two in (first, whole)]
    assert seven[0] < 2_000_000 < seven[1]


def hostile(value: Any, key: str = "") -> Any:
    """A record in which all texts are markup, except those that a study cannot choose."""
    if isinstance(value, dict):
        return {name: hostile(each, name) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [hostile(each, key) for each in value]
    return value + SCRIPT if isinstance(value, str) and key not in ("verdict", "kind") else value


def test_no_text_of_a_study_is_markup() -> None:
    made = pages([hostile(record("one", "first", ("reproduced", "not reproduced")))])
    assert sorted(made) == sorted(["index.html", *(name for name in made if name.startswith("paper-one"))])
    for name, text in made.items():
        no_markup(text, overview=name == "index.html")


def no_markup(made: str, *, overview: bool) -> None:
    assert "<script>bad" not in made, "in no element, attribute, value or figure"
    tree = Tree()
    tree.feed(made)
    assert tree.open == []
    assert not [name for name in tree.attributes if "bad" in name], "no quote ends an attribute"
    figures = 1 if overview else 3
    assert tree.tags.count("script") == 2 * figures + 2, "values of each figure for both profiles, library, ours"
    text = " ".join(tree.texts)
    shown = (
        "one", "first", "Goodput", "figure 1", "Second.", "A ", "by 20 %", "at 4 hops", "above 1.2", "luck", "abc123",
        "1.3 [1.25, 1.35]", "replications, Fieller", "numbers", "Means.", "chain", '# <i>', "[0.00804, 0.0182] kbit/s",
    )  # fmt: skip
    for said in ("one", "Goodput", "figure 1", "by 20 %", "1.3 at best", "Means.") if overview else shown:
        assert re.search(re.escape(said) + f".{{0,30}}?{re.escape(SCRIPT)}", text), f"{said} is shown as it is"
    # Texts of matplotlib's and the browser's charts: labels of axes, curves and bars.
    for said in ("NewReno", "hops", "goodput (kbit/s)") + (() if overview else ("upper",)):
        word = said + SCRIPT.split()[0]
        assert word in "".join(tree.texts), f"{said} in the figure"
        assert json.dumps(word)[1:-1] in tree.values, f"{said} in the values"


def test_the_pages_are_a_function_of_the_records(index: Path, tmp_path: Path) -> None:
    again = write(
        tmp_path,
        record("two", "third", ("not judged", "not judged"), quick=True),
        record("one", "second", ("not reproduced", "not reproduced")),
        record("one", "first", ("reproduced", "partly")),
    )
    for made in index.parent.glob("*.html"):
        assert (again.parent / made.name).read_text(encoding="utf-8") == made.read_text(encoding="utf-8")


def test_a_check_that_could_not_answer_and_a_record_of_an_earlier_version_are_shown(tmp_path: Path) -> None:
    old = record("one", "first", ("not judged", "not judged"), quick=True)
    bare = {"name": "c", "statement": "s", "paper": "p", "assumed": "", "verdict": "not judged"}
    for profile in old["profiles"].values():
        profile["outcomes"] = [{**bare, "measured": "unknown: no flow", "criterion": "", "reason": ""}]
    index = write(tmp_path, old)
    assert "unknown: no flow" in (index.parent / "paper-one.html").read_text(encoding="utf-8")
    assert re.search(r"</strong> All statements: 1 not judged.</p>", index.read_text(encoding="utf-8"))


def test_a_report_needs_records(tmp_path: Path) -> None:
    with pytest.raises(FourhopError, match="found no figures; run `fourhop reproduce`"):
        report.build(tmp_path)
    (tmp_path / "figures" / "one").mkdir(parents=True)
    (tmp_path / "figures" / "one" / "broken.json").write_text("{", encoding="utf-8")
    with pytest.raises(FourhopError, match=r"broken\.json: found no record"):
        report.build(tmp_path)


def test_the_vendored_library_is_the_one_that_is_named() -> None:
    assets = Path(report.__file__).parent / "assets"
    head = (assets / "chart.umd.min.js").read_text(encoding="utf-8")[:200]
    (version,) = re.findall(r"Chart\.js v([0-9.]+)", head)
    assert f"Chart.js {version}" in (assets / "README.md").read_text(encoding="utf-8")
    assert "MIT License" in (assets / "chart.LICENSE.md").read_text(encoding="utf-8")


def test_a_table_is_a_table() -> None:
    assert table(["a"], [(1.5,)]).rows == (("1.5",),)


# In the browser.


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as running:
        yield running


SHOWN = "(it => { const box = it.getBoundingClientRect(); return box.width > 100 && box.height > 60; })"


@needs_browser
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (390, False)])
def test_every_figure_shows_without_a_complaint(page: Path, browser: Chromium, width: int, dark: bool) -> None:
    browser.complaints.clear()
    browser.open(page, width=width, dark=dark)
    # Two figures, two profiles, three drawn charts and a table.
    assert browser.js(f"[...document.querySelectorAll('figure svg')].filter({SHOWN}).length") == 2 * 2 * 3
    assert browser.js("document.querySelectorAll('figure table').length") == 2 * 2
    # No label of a tick, curve or axis covers another.
    boxes = "[...it.querySelectorAll('text')].map(text => text.getBoundingClientRect())"
    apart = "one === other || one.right <= other.left || other.right <= one.left || one.bottom <= other.top + 2"
    apart = f"boxes.every(one => boxes.every(other => {apart} || other.bottom <= one.top + 2))"
    assert browser.js(f"[...document.querySelectorAll('figure svg')].every(it => (boxes => {apart})({boxes}))")
    wide = browser.js("document.documentElement.scrollWidth")
    assert wide <= width, "nothing sticks out to the side"
    # Ink and page differ, also in the figures.
    ink, back = browser.js(
        "[getComputedStyle(document.querySelector('svg text')).fill, getComputedStyle(document.body).backgroundColor]"
    )
    assert contrast(ink, back) > 7.0
    assert (luminance(back) < 0.1) == dark
    assert browser.complaints == []


@needs_browser
def test_tables_of_seven_columns_are_whole_or_scroll(page: Path, browser: Chromium) -> None:
    tables = "[...document.querySelectorAll('.panels .scroll')]"
    # A value and its interval take one line each.
    lines = "[...it.querySelectorAll('td span')].every(part => part.getClientRects().length === 1)"
    browser.open(page, width=1400)
    assert browser.js(f"{tables}.map(it => [it.scrollWidth <= it.clientWidth, {lines}])") == [[True, True]] * 4
    browser.open(page, width=390)
    assert browser.js(f"{tables}.map(it => [it.scrollWidth <= it.clientWidth, {lines}])") == [[False, True]] * 4
    # A statement has the whole width of a phone.
    width = "document.querySelector('.checks tbody th').getBoundingClientRect().width"
    assert browser.js(width) > 300


@needs_browser
def test_every_chart_opens_and_says_its_values_by_keyboard(page: Path, browser: Chromium) -> None:
    browser.complaints.clear()
    browser.open(page)
    buttons = browser.js("document.querySelectorAll('button.explore:not([hidden])').length")
    assert buttons == 2 * 2 * 3
    said = []
    for _ in range(6):
        browser.tab_to("it.matches('button.explore[aria-pressed=false]')")
        browser.press("Enter")
        browser.wait("document.activeElement.getAttribute('aria-pressed') === 'true'")
        browser.tab_to("it.matches('canvas')", 1)
        for key in ("ArrowRight", "ArrowDown", "End"):
            browser.press(key)
        said.append(browser.js("document.activeElement.closest('figure').querySelector('.readout').textContent"))
        # The figure itself is hidden, the chart visible.
        assert browser.js("document.activeElement.closest('figure').querySelector('.still').hidden")
        assert browser.js(f"({SHOWN})(document.activeElement)")
    # One below the other: each chart for ns2, then for standard.
    assert said[::2] == said[1::2]
    assert said[::2] == [
        "Vegas, hops 8: unknown",
        "flow-1, time 59 s: 130 kbit/s",
        "Vegas, lower: 170 [160, 180] kbit/s",
    ]
    assert browser.complaints == []


@needs_browser
def test_hints_are_for_what_there_is(page: Path, browser: Chromium) -> None:
    browser.open(page)
    hint = "/arrow keys|point at|touch/i.test(document.body.innerText)"
    assert browser.js(hint) is False, "a figure that cannot be pointed at says nothing of it"
    said = []
    for number, pointer in enumerate(("true", "false")):
        browser.js(f"window.matchMedia = () => ({{ matches: {pointer} }})")
        browser.js(f"document.querySelectorAll('button.explore')[{number}].click()")
        said.append(browser.js(f"document.querySelectorAll('.readout')[{number}].textContent"))
    assert said == ["Point at a value, or focus the chart and use the arrow keys.", "Tap a value."]


def test_a_quantity_has_the_same_scale_in_both_profiles_and_in_every_chart_of_a_figure() -> None:
    made = record("one", "first", ("reproduced", "partly"))
    for profile, factor in (("ns2", 1.0), ("standard", 2.0)):
        shown = made["profiles"][profile]["charts"]
        other = json.loads(json.dumps({**shown[0], "name": "delayed"}))
        short = json.loads(json.dumps({**shown[0], "name": "short"}))
        short["lines"] = [{**line, "x": [0.1 * x for x in line["x"]]} for line in short["lines"]]
        shown += [other, short]
        for chart, more in ((shown[0], factor), (other, 2.0 * factor)):
            chart["lines"][0]["y"] = [more * y for y in chart["lines"][0]["y"]]
    values = re.findall(r'<script type="application/json">(.*?)</script>', pages([made])["paper-one.html"])
    drawn = [each for each in map(json.loads, values) if each["kind"] == "lines"]
    shared, apart = drawn[:4], drawn[4:]
    assert len({json.dumps(each["curves"]) for each in shared}) == 3
    assert len({json.dumps(each["y"]) for each in shared}) == 1
    assert shared[0]["y"]["high"] > 3200.0
    # A chart over other points needs another scale.
    assert [each["y"]["high"] < 1000.0 for each in apart] == [True, True]


@needs_browser
def test_figure_and_chart_show_the_same(page: Path, browser: Chromium) -> None:
    browser.open(page)
    for chart in charts()[:3]:
        browser.js(f"document.querySelector('[id$={chart.name}-ns2] button').click()")
        there = browser.js(
            f"(() => {{ const canvas = document.querySelector('[id$={chart.name}-ns2] canvas');"
            " const { scales, data } = Chart.getChart(canvas);"
            " return { x: [scales.x.min, scales.x.max, scales.x.ticks.map(tick => String(tick.label))],"
            " y: [scales.y.min, scales.y.max, scales.y.ticks.map(tick => tick.label)],"
            " colours: data.datasets.map(set => set.borderColor) }; })()"
        )
        (axes,) = draw.figure(chart).axes
        assert there["y"] == [*axes.get_ylim(), [label.get_text() for label in axes.get_yticklabels()]]
        labels = [label.get_text() for label in axes.get_xticklabels()]
        assert there["x"] == ([0, 1, labels] if chart.kind == "bars" else [*axes.get_xlim(), labels])
        handles: list[Any] = axes.get_legend_handles_labels()[0]
        marks = [handle[0] if isinstance(handle, tuple) else handle for handle in handles]
        drawn = [mark.get_facecolor() if isinstance(mark, Rectangle) else mark.get_color() for mark in marks]
        assert [to_hex(colour) for colour in drawn] == [colour.lower() for colour in there["colours"]]


@needs_browser
def test_a_value_without_an_interval_is_open_in_the_browser_too(page: Path, browser: Chromium) -> None:
    browser.open(page)
    browser.js("document.querySelector('[id$=hops-ns2] button').click()")
    fills, back = browser.js(
        "(() => { const canvas = document.querySelector('[id$=hops-ns2] canvas');"
        " const points = Chart.getChart(canvas).getDatasetMeta(0).data;"
        " return [points.map(point => point.options.backgroundColor),"
        " getComputedStyle(document.documentElement).getPropertyValue('--page').trim()]; })()"
    )
    assert [fill == back for fill in fills] == [False, False, False, True]


@needs_browser
def test_series_are_switched_by_keyboard(page: Path, browser: Chromium) -> None:
    browser.complaints.clear()
    browser.open(page)
    browser.tab_to("it.matches('button.explore')")
    browser.press("Space")
    browser.tab_to("it.matches('canvas')", 1)
    drawn = "Chart.getChart(document.querySelector('canvas'))"
    assert browser.js(f"[0, 1].map(i => {drawn}.isDatasetVisible(i))") == [True, True]
    browser.tab_to("it.matches('input[type=checkbox]')", 1)
    browser.press("Space")
    assert browser.js(f"[0, 1].map(i => {drawn}.isDatasetVisible(i))") == [False, True]
    assert browser.js("document.activeElement.parentElement.textContent") == "NewReno"
    browser.press("Space")
    assert browser.js(f"[0, 1].map(i => {drawn}.isDatasetVisible(i))") == [True, True]
    # And back to the figure.
    browser.js("document.querySelector('button.explore').focus()")
    browser.press("Space")
    assert browser.js("document.querySelector('.live').hidden && !document.querySelector('.still').hidden")
    assert browser.complaints == []


@needs_browser
def test_values_show_under_the_pointer(page: Path, browser: Chromium) -> None:
    browser.open(page)
    browser.js("document.querySelector('button.explore').click()")
    browser.js("document.querySelector('canvas').scrollIntoView({block: 'center', behavior: 'instant'})")
    drawn = "Chart.getChart(document.querySelector('canvas'))"
    x, y = browser.js(
        f"(() => {{ const box = document.querySelector('canvas').getBoundingClientRect(); "
        f"const point = {drawn}.getDatasetMeta(0).data[1]; return [box.x + point.x, box.y + point.y]; }})()"
    )
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    browser.wait(f"{drawn}.tooltip.opacity > 0")
    assert browser.js(f"{drawn}.tooltip.body[0].lines[0]") == "NewReno, hops 2: 400 [390, 410] kbit/s"


@needs_browser
def test_light_and_dark_are_switched_by_keyboard(page: Path, browser: Chromium) -> None:
    browser.open(page)
    back = "getComputedStyle(document.body).backgroundColor"
    light = browser.js(back)
    browser.tab_to("it.id === 'theme'", 3)
    assert browser.js("document.activeElement.textContent") == "Dark page"
    browser.press("Enter")
    assert luminance(browser.js(back)) < 0.1 < luminance(light)
    assert browser.js("document.activeElement.textContent") == "Light page"
    browser.press("Enter")
    assert browser.js(back) == light


@needs_browser
def test_without_a_script_the_figures_are_there(page: Path, browser: Chromium) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
        assert browser.js(f"[...document.querySelectorAll('figure svg')].filter({SHOWN}).length") == 2 * 2 * 3
        assert browser.js("[...document.querySelectorAll('button')].every(it => it.hidden)")
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


@needs_browser
def test_print_has_the_figures_and_no_buttons(page: Path, browser: Chromium, tmp_path: Path) -> None:
    browser.open(page, dark=True)
    # A chart that is open on the screen is printed as a figure.
    browser.js("document.querySelector('button.explore').click()")
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert browser.js(f"[...document.querySelectorAll('figure svg')].filter({SHOWN}).length") == 2 * 2 * 3
        assert browser.js(
            "[...document.querySelectorAll('button, .live')].every(it => getComputedStyle(it).display === 'none')"
        )
        assert luminance(browser.js("getComputedStyle(document.body).backgroundColor")) > 0.9
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")
    browser.pdf(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


@needs_browser
def test_a_screenshot_is_not_blank(page: Path, browser: Chromium, tmp_path: Path) -> None:
    browser.open(page)
    browser.screenshot(tmp_path / "page.png")
    data = (tmp_path / "page.png").read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert (width, height > 1000) == (1280, True)
    assert len(data) > 50_000


def luminance(colour: str) -> float:
    """Relative luminance of `rgb(...)`, WCAG 2."""
    parts = [float(part) / 255.0 for part in re.findall(r"[\d.]+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
