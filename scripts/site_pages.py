"""Pages of the site that are not in docs/: a hook for mkdocs.

README.md and the other documents of the root become pages, as do notebooks after execution, and links among all of them
lead to the same targets as in the repository. A link to a file that is not a document (a scenario, a licence) leads to
a copy of it.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tutorial

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = {"docs/tutorial.ipynb": "tutorial.md", "docs/sliders.ipynb": "sliders.md"}
# Documents of the root, and the pages they become.
PAGES = {
    "README.md": "readme.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "LIMITATIONS.md": "limitations.md",
    "SECURITY.md": "security.md",
    "VALIDATION.md": "validation.md",
    **NOTEBOOKS,
}
LINK = re.compile(r"(?<=\]\()(?!https?:)([^)#\s]+)(?=[)#])")
FENCED = re.compile(r"(^ *```.*?^ *```)", re.DOTALL | re.MULTILINE)
# A numbered item with its continuation lines.
ITEM = re.compile(r"^\d+\. .*\n(?:(?: {3}.*)?\n)*", re.MULTILINE)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Adds the pages, and rewrites the links of all."""
    copies: dict[str, Path] = {}
    texts = {f"docs/{file.src_uri}": (file.src_uri, file.content_string) for file in files.documentation_pages()}
    texts |= {path: (page, (ROOT / path).read_text(encoding="utf-8")) for path, page in PAGES.items()}
    pictures: dict[str, bytes] = {}
    for notebook, page in NOTEBOOKS.items():
        executed = tutorial.execute(ROOT / notebook)
        texts[notebook] = (page, executed.text)
        pictures |= executed.pictures
    for path, (page, text) in texts.items():
        if (old := files.get_file_from_path(page)) is not None:
            files.remove(old)
        made = File.generated(config, page, content=_rewritten(text, path, page, copies))
        # Its source file, where the causes of mkdocs' complaints are.
        made.generated_by = path
        files.append(made)
    for name, picture in pictures.items():
        files.append(File.generated(config, name, content=picture))
    for uri, source in copies.items():
        files.append(File.generated(config, uri, content=source.read_bytes()))
    return files


def _rewritten(text: str, path: str, page: str, copies: dict[str, Path]) -> str:
    """`text` of the document at `path`, with links rewritten for its page; files to copy are added to `copies`."""

    def target(link: re.Match[str]) -> str:
        aim = posixpath.normpath(posixpath.join(posixpath.dirname(path), link[1]))
        if not (ROOT / aim).is_file():
            return link[1]  # Of the site itself, or broken: mkdocs says so.
        if aim in PAGES:
            uri = PAGES[aim]
        elif aim.startswith("docs/"):
            uri = aim.removeprefix("docs/")
        else:
            # As text, so that a browser shows it.
            uri = f"files/{aim}.txt"
            copies[uri] = ROOT / aim
        return posixpath.relpath(uri, posixpath.dirname(page) or ".")

    # The site's Markdown needs continuations of a numbered item indented by four spaces, all others three.
    text = ITEM.sub(lambda item: re.sub(r"\n(?= {3})", "\n ", item[0]), text)
    parts = FENCED.split(text)
    return "".join(part if index % 2 else LINK.sub(target, part) for index, part in enumerate(parts))
