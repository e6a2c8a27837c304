#!/usr/bin/env python3
"""Regenerate the worked example of docs/mesh.md: its numbers and the picture of its page.

    scripts/mesh_example.py FOLDER

imports scenarios/community/meshviewer.json, runs `fourhop whatif` on it with its runs in FOLDER, writes
docs/img/mesh.json and docs/img/mesh.png, and prints the answer. Takes some minutes of one processor.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from fourhop import Scenario, community  # noqa: E402
from fourhop.cli.whatif import report  # noqa: E402
from fourhop.whatif import ask, page, to_dict  # noqa: E402
from fourhop.whatif.ask import SHORT  # noqa: E402

EXAMPLE = ROOT / "scenarios" / "community" / "meshviewer.json"
IMAGES = ROOT / "docs" / "img"
RUNS = 6
PLACES = 1
_WIDTH, _HEIGHT = 1280, 1120


def imported() -> community.Imported:
    """The scenario of the example, as `fourhop import` makes it."""
    return community.to_scenario(community.read([EXAMPLE]), community.Options(name="mesh"), EXAMPLE.name)


def scenario(made: community.Imported) -> Scenario:
    """The same with the short runs that the command uses for this many nodes."""
    return made.scenario.with_(**SHORT)


def main() -> None:
    """Write everything."""
    folder = Path(sys.argv[1])
    made = imported()
    notes = list(map(str, made.notes))
    answer = ask(scenario(made), runs=RUNS, places=PLACES, out=folder / "store", jobs=2, notes=notes)
    lines = report(answer, notes)
    (IMAGES / "mesh.json").write_text(json.dumps({**to_dict(answer), "lines": lines}) + "\n", encoding="utf-8")
    photograph(page.write(answer, folder, notes), IMAGES / "mesh.png")
    print("\n".join(lines))


def photograph(written: Path, target: Path) -> None:
    """Take a screenshot of the upper part of the page on a wide screen."""
    import base64

    from tests.browser import Chromium

    with Chromium() as browser:
        browser.open(written, width=_WIDTH, height=_HEIGHT)
        target.write_bytes(base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"]))


if __name__ == "__main__":
    main()
