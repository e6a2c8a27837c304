"""The lessons' statements about their scenarios are true, and their buttons lead to existing moments."""

from __future__ import annotations

import re
import time
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import polars as pl
import pytest

from fourhop import Scenario, run
from fourhop.view import Blobs, Tables, write
from tests.browser import CHROMIUM, Chromium
from tests.conftest import HANGS, ROOT

LESSONS = ROOT / "docs" / "lessons"
MS = 1_000_000


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lessons")
    for scenario in LESSONS.glob("*.toml"):
        run(Scenario.from_toml(scenario), trace=folder / scenario.stem)
    return folder


Rows = list[dict[str, Any]]


def table(traces: Path, lesson: str, name: str) -> Rows:
    return pl.read_parquet(traces / lesson / f"{name}.parquet").to_dicts()


def lost(traces: Path, lesson: str) -> Rows:
    """Copies lost at the frame's destination, with the frame's sender and kind."""
    frames = {frame["frame"]: frame for frame in table(traces, lesson, "frames")}
    return [
        copy | {"src": frames[copy["frame"]]["node"], "kind": frames[copy["frame"]]["kind"]}
        for copy in table(traces, lesson, "receptions")
        if frames[copy["frame"]]["dst"] == copy["node"] and copy["fate"] not in ("received", "overheard")
    ]


def senders(traces: Path, lesson: str, copy: dict[str, Any]) -> set[int]:
    """Nodes transmitting while a copy arrived."""
    frames = table(traces, lesson, "frames")
    return {each["node"] for each in frames if each["start_ns"] < copy["end_ns"] and each["end_ns"] > copy["start_ns"]}


def data(traces: Path, lesson: str, after_ms: int = 0) -> Rows:
    frames = table(traces, lesson, "frames")
    return [each for each in frames if each["kind"] == "data" and each["start_ns"] > after_ms * MS]


def test_a_chain_carries_a_quarter(traces: Path) -> None:
    losses = lost(traces, "quarter")
    assert len(losses) == 28
    assert {loss["kind"] for loss in losses} == {"rts"}
    assert max(loss["end_ns"] for loss in losses) < 1270 * MS
    for loss in losses:
        assert loss["src"] + 3 in senders(traces, "quarter", loss)
    frames = data(traces, "quarter", 1300)
    apart = {
        abs(one["node"] - other["node"])
        for one in frames
        for other in frames
        if one["start_ns"] < other["start_ns"] < one["end_ns"]
    }
    assert apart == {4, 5}


def test_a_burst_kills_itself(traces: Path) -> None:
    frames = table(traces, "burst", "frames")
    asked = [each for each in frames if each["packet"] == 201 and each["kind"] == "rts" and each["node"] == 0]
    assert len(asked) == 7
    assert asked[0]["start_ns"] == 1898603697
    first = next(each for each in table(traces, "burst", "receptions") if each["frame"] == asked[0]["frame"])
    assert first["fate"] == "received"
    assert 3 in senders(traces, "burst", first)
    eifs = [each for each in table(traces, "burst", "mac") if each["node"] == 1 and each["state"] == "eifs"]
    assert any(0 <= each["start_ns"] - first["end_ns"] < 1 * MS for each in eifs)
    in_vain = {each["frame"] for each in asked[1:]}
    for loss in lost(traces, "burst"):
        if loss["frame"] in in_vain:
            assert loss["fate"] == "collision"
            assert 3 in senders(traces, "burst", loss)
            in_vain.remove(loss["frame"])
    assert not in_vain
    packets = table(traces, "burst", "packets")
    gone = [each for each in packets if each["packet"] == 201 and each["event"] in ("failed", "dropped")]
    assert [(each["time_ns"], each["event"], each["reason"]) for each in gone] == [
        (1918673697, "failed", "rts-retry-limit"),
        (1918673697, "dropped", "link-broken"),
    ]
    tcp = table(traces, "burst", "tcp")
    assert [each["time_ns"] for each in tcp if each["event"] == "timeout"] == [2322807354]
    sender = [each for each in tcp if each["end"] == "sender" and each["cwnd_segments"] is not None]
    assert [each["cwnd_segments"] for each in sender if each["time_ns"] < 1900 * MS][-1] == 13
    assert sum(each["event"] == "sent" and each["time_ns"] // MS in (1373, 1375) for each in sender) == 4


def test_pacing_breaks_no_route(traces: Path) -> None:
    assert "failed" not in {each["event"] for each in table(traces, "paced", "packets")}
    sender = [each for each in table(traces, "paced", "tcp") if each["end"] == "sender"]
    assert max(each["cwnd_segments"] or 0 for each in sender) == 28
    intervals = [each["interval_ns"] for each in sender if each["time_ns"] > 2000 * MS and each["interval_ns"]]
    assert all(50 * MS < interval < 56 * MS for interval in intervals)


def test_hidden_and_exposed(traces: Path) -> None:
    hidden = [each["node"] for each in data(traces, "hidden") if each["content"] == "udp"]
    assert hidden.count(2) > 2 * hidden.count(0), "in half a second, in which the right link begins later"
    late = [loss for loss in lost(traces, "hidden") if loss["src"] == 0]
    assert len(late) > 20
    for loss in late:
        assert loss["fate"] == "collision"
        assert 2 in senders(traces, "hidden", loss)
    packets = table(traces, "hidden", "packets")
    dropped = [each["time_ns"] for each in packets if each["packet"] == 73 and each["event"] == "dropped"]
    assert dropped == [1184902692]
    exposed = [each for each in data(traces, "exposed", 1130) if each["content"] == "udp"]
    assert all(one["end_ns"] <= other["start_ns"] for one, other in pairwise(exposed)), "never two at once"
    assert {each["node"] for each in exposed} == {1, 2}


def test_buttons_lead_to_moments_of_the_run(traces: Path) -> None:
    for lesson in LESSONS.glob("*.md"):
        text = lesson.read_text(encoding="utf-8")
        views = re.findall(r'<iframe [^>]*src="([a-z]+)-view\.html#([^"]+)"', text)
        first = views[0][0]
        found = [*views, *((first, address) for address in re.findall(r'data-view="([^"]+)"', text))]
        assert len(found) >= 4
        for name, address in found:
            said = {key: value[0] for key, value in parse_qs(address, strict_parsing=True).items()}
            end = max(frame["end_ns"] for frame in table(traces, name, "frames"))
            assert 0 <= int(said["from"]) <= int(said["t"]) <= int(said["to"]) <= end + 100 * MS, address
            assert set(said["show"].split(",")) <= {"map", "details", "lanes", "sequence", "plots"}
            if "packet" in said:
                assert int(said["packet"]) in {each["packet"] for each in table(traces, name, "packets")}


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_after_a_button_of_a_lesson_space_plays(traces: Path, tmp_path: Path) -> None:
    write(Blobs(Tables(traces / "quarter")), tmp_path / "quarter-view.html")
    text = (LESSONS / "quarter.md").read_text(encoding="utf-8")
    found = re.search(r"(<p><button.*?</p>)\n\n(.*?)(<iframe .*?</iframe>)", text, re.S)
    assert found is not None
    buttons, steps, frame = found.groups()
    steps = re.sub(r"^[*]{2}(.*?)[*]{2}", r"<p><strong>\1</strong>", steps, flags=re.M)
    script, style = (ROOT / "docs" / "assets" / name for name in ("lessons.js", "site.css"))
    page = tmp_path / "lesson.html"
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><style>{style.read_text()}</style><article class="md-typeset">'
        f"{buttons}{steps}</p>{frame}</article><script>{script.read_text()}</script>",
        encoding="utf-8",
    )
    with Chromium() as browser:
        browser.open(page, width=1400, height=900)
        inner = browser.call("Page.getFrameTree")["frameTree"]["childFrames"][0]["frame"]["id"]

        def inside(expression: str) -> Any:
            world = browser.call("Page.createIsolatedWorld", frameId=inner)["executionContextId"]
            found = browser.call("Runtime.evaluate", expression=expression, contextId=world, returnByValue=True)
            return found["result"].get("value")

        def until(expression: str) -> None:
            deadline = time.monotonic() + HANGS
            while not inside(expression):
                assert time.monotonic() < deadline, expression
                time.sleep(0.05)

        until("document.querySelector('#time')?.value.startsWith('1.1365')")
        place = browser.js("(({x, y}) => [x, y])(document.querySelectorAll('button')[2].getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            browser.call(
                "Input.dispatchMouseEvent", type=kind, x=place[0] + 9, y=place[1] + 9, button="left", clickCount=1
            )
        until("document.querySelector('#time').value.startsWith('1.9')")
        assert inside("document.querySelector('#play').getAttribute('aria-pressed')") == "false"
        browser.press("Space")
        until("document.querySelector('#play').getAttribute('aria-pressed') === 'true'")
        until("Number(document.querySelector('#time').value) > 1.9")
        # Only the button's step is shown, above the view, and both fit on a screen.
        shown = browser.js("[...document.querySelectorAll('article p')].filter(p => !p.hidden).map(p => p.innerText)")
        steps = [found[1] for each in shown if (found := re.match(r"(\d)\.", each)) and "Press" not in each]
        assert steps == ["3"]
        assert browser.js("document.querySelector('iframe').getBoundingClientRect().bottom") < 900
