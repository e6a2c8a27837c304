"""The tutorial runs; the site builds without complaints and needs nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fourhop
from tests.browser import CHROMIUM, Chromium
from tests.conftest import HANGS, ROOT, environment, shown

NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"
SLIDERS = ROOT / "docs" / "sliders.ipynb"
RECIPE = ROOT / "docs" / "add-a-cc.md"
MISSING = [name for name in ("material", "mkdocstrings_handlers", "nbformat") if importlib.util.find_spec(name) is None]


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    # Warnings are errors in our code, not in Jupyter's and mkdocs'.
    variables = environment() | {"PYTHONPATH": str(ROOT / "python"), "NO_MKDOCS_2_WARNING": "1"}
    del variables["PYTHONWARNINGS"]
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if MISSING:
        pytest.skip(f"the extra `docs` is not installed: {', '.join(MISSING)} missing")
    folder = tmp_path_factory.mktemp("site")
    built = run("-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_the_tutorial_runs(tmp_path: Path) -> None:
    pytest.importorskip("nbformat", reason="the extra `dev` is not installed")
    page = tmp_path / "tutorial.md"
    ran = run("scripts/tutorial.py", NOTEBOOK, "--out", page)
    assert ran.returncode == 0, ran.stderr
    text = page.read_text(encoding="utf-8")
    assert "54 computed" in text
    assert text.count("<table>") == 4
    pictures = sorted((tmp_path / "img").iterdir())
    assert len(pictures) == 2
    assert all(picture.read_text(encoding="utf-8").startswith("<?xml") for picture in pictures)


def test_the_notebook_with_sliders_runs_and_its_sliders_run_networks(tmp_path: Path) -> None:
    pytest.importorskip("ipywidgets", reason="the extra `dev` is not installed")
    pytest.importorskip("nbformat", reason="the extra `dev` is not installed")
    moved = json.loads(SLIDERS.read_text(encoding="utf-8"))
    made = next(cell for cell in moved["cells"] if "ipywidgets.interact(" in "".join(cell["source"]))
    # Moving a slider runs the network again.
    source = "calls = []\nshown = watch\ndef watch(**keys):\n    calls.append(keys['hops'])\n    shown(**keys)\n"
    source += "".join(made["source"]).replace("ipywidgets.interact(", "moved = ipywidgets.interactive(").rstrip(";\n")
    source += "\nmoved.update()\nmoved.children[0].value = 2\nprint('hops', *calls)"
    moved["cells"].append(made | {"id": "moved", "source": source})
    path = tmp_path / "moved.ipynb"
    path.write_text(json.dumps(moved), encoding="utf-8")
    ran = run("scripts/tutorial.py", path, "--out", tmp_path / "moved.md")
    assert ran.returncode == 0, ran.stderr
    text, moves = (tmp_path / "moved.md").read_text(encoding="utf-8").split("calls = []")
    assert "hops 4 4 2" in moves
    assert text.count("*Sliders: ") == 2
    speeds = [int(each) for each in re.findall(r"(\d+) kbit/s, mean round trip", text)]
    assert len(speeds) == 2
    assert speeds[1] > speeds[0], "a small window carries more over seven hops"
    assert "data:image/svg+xml" in text, "the picture of the scenario"


def test_a_cell_that_fails_is_named(tmp_path: Path) -> None:
    pytest.importorskip("nbformat", reason="the extra `dev` is not installed")
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    code = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    notebook["cells"] = [code | {"source": "fourhop.no_such_thing"}]
    broken = tmp_path / "broken.ipynb"
    broken.write_text(json.dumps(notebook), encoding="utf-8")
    ran = run("scripts/tutorial.py", broken)
    assert ran.returncode != 0
    assert "fourhop.no_such_thing" in ran.stderr


def test_the_tutorial_is_kept_without_outputs() -> None:
    for notebook in (NOTEBOOK, SLIDERS):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert len(code) > 4
        assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_the_tutorial_shows_the_congestion_control_of_the_recipe() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert shown(RECIPE, "rust")[0].split("\n#[cfg(test)]")[0].strip() in text


def test_every_public_name_is_on_the_page() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    shown = re.findall(r"^::: ([\w.]+)$", page, re.M)
    for name in fourhop.__all__:
        home = fourhop._HOME[name]
        assert f"{home}.{name}" in shown or home in shown, name


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    pages = sorted(site.glob("*.html"))
    assert len(pages) >= 20
    for page in pages:
        if page.name == "404.html":
            continue  # It is served at any address, so its links begin at the root.
        for link in re.findall(r'(?:href|src)="([^"#?]+)', page.read_text(encoding="utf-8")):
            if not link.startswith(("http:", "https:", "data:", "mailto:")):
                assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_site_needs_nothing_from_elsewhere(site: Path) -> None:
    for page in site.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|img|iframe)[^>]* src="?https?:[^>]*>', text), page.name
        assert not re.findall(r'<link[^>]* rel="?(?:stylesheet|preconnect|icon)[^>]* href="?https?:[^>]*>', text), (
            page.name
        )


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_the_site_opens_from_the_disk_and_is_searched(site: Path) -> None:
    with Chromium() as browser:
        for name in ("index", "scenario", "tutorial", "api"):
            browser.open(site / f"{name}.html")
            for width in (1280, 390):
                browser.resize(width)
                # A phone makes its window as wide as the page.
                assert browser.js("document.documentElement.scrollWidth") <= width, f"{name} at {width}"
                assert browser.js("[...document.images].every(it => it.complete && it.naturalWidth > 0)"), name
        # Tables of seven columns, such as those against ns-2, fit beside both menus.
        browser.open(site / "validation.html", width=1400)
        scrolled = "[...document.querySelectorAll('.md-typeset__scrollwrap')]"
        tables = f"{scrolled}.filter(it => it.querySelectorAll('th').length === 7)"
        assert browser.js(f"{tables}.length") >= 2
        assert browser.js(f"{tables}.every(it => it.scrollWidth <= it.clientWidth)")
        browser.open(site / "index.html")
        browser.js("document.querySelector('[data-md-component=search-query]').focus()")
        browser.js("document.querySelector('[data-md-component=search-query]').value = 'sample_every'")
        browser.js(
            "document.querySelector('[data-md-component=search-query]').dispatchEvent(new KeyboardEvent('keyup'))"
        )
        browser.wait("document.querySelector('.md-search-result__link')?.href.includes('.html')")
        assert browser.complaints == []


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_lessons_have_their_views_inside(site: Path) -> None:
    with Chromium() as browser:
        for lesson, views in (("quarter", 1), ("burst", 2), ("hidden", 2)):
            browser.open(site / "lessons" / f"{lesson}.html")
            assert browser.js("document.querySelectorAll('iframe[name]').length") == views
            browser.js("document.querySelector('button[data-view]').click()")
            wanted = browser.js("document.querySelector('button[data-view]').dataset.view")
            frame = browser.js("document.querySelector('iframe[name]').src")
            assert frame.endswith(f"/lessons/{lesson}-view.html#{wanted}")
            assert browser.js("document.querySelector('iframe[name]').clientWidth") > 500, "room for time lines"
            assert not browser.complaints, browser.complaints
            browser.open(site / "lessons" / f"{lesson}-view.html")
            browser.wait("!!window.fourhop && fourhop.trace.head.counts.frames > 300")
            assert not browser.complaints, browser.complaints
