"""The pages embedded in the lessons of the site: a hook for mkdocs.

Runs every scenario docs/lessons/NAME.toml once with a trace; the output of `fourhop view --html` becomes
lessons/NAME-view.html, which the lessons embed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from fourhop import Scenario, run
from fourhop.view import Blobs, Tables, page

LESSONS = Path(__file__).resolve().parent.parent / "docs" / "lessons"


def view(scenario: Path) -> str:
    """The page of a scenario."""
    with tempfile.TemporaryDirectory(prefix="fourhop-lesson-") as folder:
        run(Scenario.from_toml(scenario), jobs=1, trace=folder)
        return page.filled(Blobs(Tables(Path(folder)), title=scenario.stem))


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Adds a page for each scenario."""
    for scenario in sorted(LESSONS.glob("*.toml")):
        files.append(File.generated(config, f"lessons/{scenario.stem}-view.html", content=view(scenario)))
    return files
