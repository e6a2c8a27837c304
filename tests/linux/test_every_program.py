"""Behaviour that all programs for Linux share."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.linux.conftest import LONGEST, UNREAD

BEGIN = {
    "fourhop-gateway": ("run", "--config"),
    "fourhop-aodvd": ("run", "--config"),
    "fourhop-cc": ("load", "--config"),
    "fourhop-emulate": ("run",),
    "fourhop-medium": ("run",),
}
"""For each program, the words before the file that it starts with."""


@pytest.fixture(params=BEGIN)
def program(request: pytest.FixtureRequest) -> Path:
    file = ROOT / "target" / "release" / str(request.param)
    return file if file.exists() else pytest.skip(f"there is no {file.name}: `make linux` builds it")


def test_a_reader_that_has_seen_enough_ends_it_without_a_word(program: Path) -> None:
    words = [*UNREAD, str(program), "manual"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST, check=False)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_a_log_on_a_full_disk_is_no_panic(program: Path) -> None:
    with Path("/dev/full").open("w", encoding="ascii") as full:
        words = [str(program), *BEGIN[program.name], "/nowhere"]
        assert subprocess.run(words, stderr=full, timeout=LONGEST, check=False).returncode == 2
        done = subprocess.run(
            [program, "manual"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=LONGEST, check=False
        )
    assert (done.returncode, done.stderr) == (2, "error: standard output: No space left on device (os error 28)\n")
