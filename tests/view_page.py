"""The page of `fourhop view` in a browser, and what it shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from fourhop.view import Blobs, Tables, write
from tests import view_trace
from tests.browser import CHROMIUM, Chromium

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("view")
    trace = view_trace.write(folder / "trace")
    return write(Blobs(Tables(trace), title="made <b>by</b> hand"), folder / "page.html")


# The boxes of the names on the map, in this browser's font.
LABELS = """(() => {
  const made = document.createElement("div");
  made.innerHTML = fourhop.controls.picture().text;
  document.body.append(made);
  const boxes = [...made.querySelectorAll("text")].filter(text => text.textContent.startsWith("house"))
    .map(text => (({x, y, width, height}) => [x, y, x + width, y + height])(text.getBBox()));
  made.remove();
  return boxes;
})()"""


def show(browser: Chromium, page: Path, address: str = "", **options: Any) -> None:
    """Open the page at an address and wait until everything is loaded."""
    browser.complaints.clear()
    browser.open(page, **options)
    browser.wait("!!window.fourhop")
    browser.js(f"location.hash = {json.dumps(address)}")
    browser.js("window.whole = false; fourhop.trace.whole().then(() => window.whole = true)")
    browser.wait("window.whole")
    redrawn(browser)


def redrawn(browser: Chromium) -> None:
    """Wait until everything requested is loaded and drawn."""
    browser.js("window.drawn = fourhop.timings.frames; fourhop.model.changed()")
    browser.wait("fourhop.timings.frames > window.drawn")
    browser.wait(
        "fourhop.trace.rowsWithin(fourhop.model.from, fourhop.model.to) > 150000 || "
        "fourhop.trace.within(fourhop.model.from, fourhop.model.to).whole"
    )
    browser.js("window.drawn = fourhop.timings.frames; fourhop.model.changed()")
    browser.wait("fourhop.timings.frames > window.drawn")


def exported(browser: Chromium, what: str) -> tuple[ElementTree.Element, dict[str, Any]]:
    """A panel as SVG, and what the page reports to be in it."""
    picture = browser.js(f"document.getElementById('what').value = '{what}'; fourhop.controls.picture()")
    shown = browser.js(f"fourhop.{what}.shown") if what != "plots" else {}
    return ElementTree.fromstring(picture["text"]), shown


def words(svg: ElementTree.Element) -> list[str]:
    return [str(text.text) for text in svg.iter("{http://www.w3.org/2000/svg}text")]


def fills(svg: ElementTree.Element, colour: str) -> int:
    return sum(each.get("fill") == colour for each in svg.iter("{http://www.w3.org/2000/svg}rect"))
