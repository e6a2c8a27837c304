"""Shows examples in docstrings as code on the site: an extension of griffe, which reads the package for mkdocstrings.

Our examples are inside the text, where doctest finds them; griffe looks for them only in separate sections.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*\n?(?:.+\n?)*", re.MULTILINE)


class DocstringExamples(griffe.Extension):
    """Puts a code fence around each example."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for every object that griffe has read."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(
                lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", obj.docstring.value
            )
