"""Tables on narrow terminals: no number and no name is ever cut."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from fourhop.cli import tables
from tests.conftest import ROOT, environment


def on_terminal(columns: int, *arguments: str | Path) -> list[str]:
    """Output of the command on a terminal with `columns` columns, line by line."""
    ours, its = pty.openpty()
    command = [sys.executable, "-m", "fourhop.cli", *map(str, arguments)]
    variables = environment() | {"COLUMNS": str(columns), "TERM": "xterm"}
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=its, stderr=subprocess.DEVNULL) as running:
        os.close(its)
        read = b""
        # On Linux, the end of a terminal raises an error.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 1 << 16):
                read += part
    os.close(ours)
    assert running.returncode == 0
    # Remove the codes for bold headings.
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", read.decode()).splitlines()


@pytest.mark.parametrize("columns", [40, 60])
def test_results_become_a_list(columns: int) -> None:
    short = ["--set", "duration=10s", "--runs", "2"]
    wide = on_terminal(120, "run", "scenarios/parallel.toml", *short)
    narrow = on_terminal(columns, "run", "scenarios/parallel.toml", *short)
    assert max(map(len, narrow)) <= columns
    # The list has every value per flow that the wide table has.
    titles = ["nodes", "hops", "transport", "goodput kbit/s", "resent", "timeouts", "RTT ms"]
    for row in wide[1:3]:
        name, nodes, hops, transport, mean, sign, half, *counts = row.split()
        values = [nodes, hops, transport, f"{mean} {sign} {half}", *counts]
        at = narrow.index(f"flow {name}")
        assert narrow[at + 1 : at + 8] == [
            f"  {title:<14}  {value}" for title, value in zip(titles, values, strict=True)
        ]


def test_names_of_figures_stay_whole() -> None:
    lines = on_terminal(60, "reproduce", "tcp-ap", "--list")
    assert "figure tcp-ap/f10_responsiveness" in lines
    assert not any("…" in line for line in lines)


def printed(width: int, shown: tables.Fitted) -> list[str]:
    console = Console(width=width, no_color=True)
    with console.capture() as captured:
        console.print(shown)
    return captured.get().splitlines()


def test_sentences_are_wrapped_before_the_table_is_given_up() -> None:
    shown = tables.table(("figure", "title", ">n"), [("tcp-ap/f10", "a title of several words", "17")], wrapped=(1,))
    assert printed(34, shown)[0].split() == ["figure", "title", "n"]
    assert printed(24, shown) == ["figure tcp-ap/f10", "  title", "    a title of several", "    words", "  n      17"]


@pytest.mark.parametrize("width", range(24, 60))
def test_a_value_longer_than_the_screen_stays_whole(width: int) -> None:
    value = "123456789.5 ± 1234567.8"
    lines = printed(width, tables.table(("flow", ">goodput kbit/s"), [("identifier-of-a-flow", value)]))
    assert all(part in " ".join(lines) for part in ("identifier-of-a-flow", "123456789.5", "1234567.8"))
    assert "…" not in "".join(lines)
    assert all(cell_len(line) <= width for line in lines)
