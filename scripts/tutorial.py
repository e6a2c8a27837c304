#!/usr/bin/env python3
"""Execute a notebook of docs/ and show its output.

    scripts/tutorial.py NOTEBOOK [--out PAGE.md]

Runs every cell in an empty folder, and makes a Markdown page with the pictures beside it. Stops at a failing cell,
showing the cell and its error. The notebook itself is never written: it is kept without outputs.
"""

from __future__ import annotations

import argparse
import contextlib
import html
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

SLIDERS = "application/vnd.jupyter.widget-view+json"


@dataclass
class Executed:
    """An executed notebook."""

    text: str
    """The page, Markdown."""
    pictures: dict[str, bytes] = field(default_factory=dict)
    """Pictures of the page by name."""


class Shell(InteractiveShell):
    """A shell without windows."""

    def enable_gui(self, gui: str | None = None) -> None:
        """Pictures are shown inline."""


def execute(path: Path) -> Executed:
    """Run the notebook in this process, so that no messages between a client and a kernel can get lost.

    Raises `SystemExit` with the cell and its error if a cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    shell = Shell.instance()
    with tempfile.TemporaryDirectory(prefix="fourhop-tutorial-") as folder, contextlib.chdir(folder):
        for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
            # The shell would replace the display hook that captures results.
            with shell.display_trap, capture_output() as captured:
                done = shell.run_cell(cell.source)
            if (error := done.error_before_exec or done.error_in_exec) is not None:
                sys.exit(f"{path}: this cell failed: {error!r}\n{cell.source}")
            streams = [{"output_type": "stream", "text": text} for text in (captured.stdout, captured.stderr) if text]
            shown = [{"output_type": "display_data", "data": output.data} for output in captured.outputs]
            # In a notebook, sliders contain the output of their function.
            sliders = [output for output in shown if SLIDERS in output["data"]]
            cell.outputs = [nbformat.from_dict(output) for output in sliders or streams + shown]
    Shell.clear_instance()
    return _page(notebook, path.stem)


def _page(notebook: Any, stem: str) -> Executed:
    page = Executed("")
    parts: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        # Magics set up the pictures and are of no interest to readers.
        source = "\n".join(line for line in cell.source.splitlines() if not line.startswith("%")).strip()
        if source:
            parts.append(f"```python\n{source}\n```")
        parts += [_output(output, stem, page.pictures) for output in cell.outputs]
    page.text = "\n\n".join(filter(None, parts)) + "\n"
    return page


def _output(output: Any, stem: str, pictures: dict[str, bytes]) -> str:
    """One output as Markdown, in its richest available form."""
    if output.output_type == "stream":
        return _plain(output.text)
    data = output.data
    if SLIDERS in data:
        return "*Sliders: they move in the notebook, not on this page.*"
    if "image/svg+xml" in data:
        name = f"img/{stem}-{len(pictures) + 1}.svg"
        pictures[name] = data["image/svg+xml"].encode()
        return f"![]({name}){{ .figure }}"
    if "text/html" in data:
        return _table(data["text/html"])
    return _plain(data["text/plain"])


def _plain(text: str) -> str:
    return f'<pre class="output">{html.escape(text.rstrip(), quote=False)}</pre>'


def _table(text: str) -> str:
    """A data frame in the style of the site's tables."""
    text = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"<(table|tr|td|th)\b[^>]*>", r"<\1>", text)
    return re.sub(r"\n\s*", "", text)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Execute a notebook and show its output.")
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--out", type=Path, help="file of the page; if not given, its text is printed")
    arguments = parser.parse_args()
    page = execute(arguments.notebook)
    if arguments.out is None:
        sys.stdout.write(page.text)
        return
    arguments.out.write_text(page.text, encoding="utf-8")
    for name, picture in page.pictures.items():
        target = arguments.out.parent / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(picture)


if __name__ == "__main__":
    main()
