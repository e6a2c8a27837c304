"""`fourhop list`: the names that a scenario can use."""

from __future__ import annotations

import shutil
import sys
import textwrap

from click import echo

from fourhop.cli import common


def command(json: common.Json = False) -> None:
    """List topologies, transports, routings and radios."""
    from fourhop.scenario import catalog

    if json:
        common.print_json(catalog())
        return
    # If stdout is not a terminal, each name stays on one line, for other programs.
    screen = shutil.get_terminal_size().columns if sys.stdout.isatty() else 1000
    kinds = catalog()
    width = max(len(name) for names in kinds.values() for name in names)
    for index, (kind, names) in enumerate(kinds.items()):
        echo(("\n" if index else "") + kind)
        for name, summary in names.items():
            line = f"  {name:<{width}}  {summary}"
            echo(textwrap.fill(line, max(screen, width + 24), subsequent_indent=" " * (width + 4)))
