#!/usr/bin/env python3
"""Execute a notebook of docs/ and show what came of it.

    scripts/tutorial.py NOTEBOOK [--out PAGE.md]

Runs every cell in a kernel of its own, in an empty folder, and makes a Markdown page with the pictures beside it. A
cell that fails ends it with the cell and its error. The notebook itself is never written: it is kept without outputs.
"""

from __future__ import annotations

import argparse
import html
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient


@dataclass
class Executed:
    """A notebook that ran."""

    text: str
    """The page, Markdown."""
    pictures: dict[str, bytes] = field(default_factory=dict)
    """Pictures of the page by name."""


def execute(path: Path) -> Executed:
    """Runs the notebook. Raises `nbclient.exceptions.CellExecutionError` if a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory(prefix="fourhop-tutorial-") as folder:
        where = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=None, startup_timeout=600, resources=where)
        # Not a word about its ports: they are on this machine only, and every message is signed.
        client.extra_arguments = ["--log-level=ERROR"]
        client.execute()
    return _page(notebook, path.stem)


def _page(notebook: Any, stem: str) -> Executed:
    page = Executed("")
    parts: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        # Magics set up the pictures and mean nothing to a reader.
        source = "\n".join(line for line in cell.source.splitlines() if not line.startswith("%")).strip()
        if source:
            parts.append(f"```python\n{source}\n```")
        parts += [_output(output, stem, page.pictures) for output in cell.outputs]
    page.text = "\n\n".join(filter(None, parts)) + "\n"
    return page


def _output(output: Any, stem: str, pictures: dict[str, bytes]) -> str:
    """One output as Markdown: the richest form it comes in."""
    if output.output_type == "stream":
        return _plain(output.text)
    data = output.data
    if "application/vnd.jupyter.widget-view+json" in data:
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
    """A data frame as the site draws tables: without its own style."""
    text = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"<(table|tr|td|th)\b[^>]*>", r"<\1>", text)
    return re.sub(r"\n\s*", "", text)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Execute a notebook and show what came of it.")
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--out", type=Path, help="where the page goes; its text is printed if not given")
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
