"""Examples in docstrings as code on the site: an extension of griffe, which reads the package for mkdocstrings.

Ours stand where they belong, and doctest finds them there; griffe would look for them only in sections of their own.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*\n?(?:.+\n?)*", re.MULTILINE)


class DocstringExamples(griffe.Extension):
    """Puts a fence around each."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for everything that griffe has read."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(
                lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", obj.docstring.value
            )
