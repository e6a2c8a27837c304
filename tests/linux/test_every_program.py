"""Behaviour that all programs for Linux share."""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.conftest import ROOT
from tests.linux.conftest import LONGEST, UNREAD


@pytest.mark.parametrize("name", ["fourhop-gateway", "fourhop-aodvd", "fourhop-cc", "fourhop-emulate"])
def test_a_reader_that_has_seen_enough_ends_it_without_a_word(name: str) -> None:
    program = ROOT / "target" / "release" / name
    if not program.exists():
        pytest.skip(f"there is no {name}: `make linux` builds it")
    words = [*UNREAD, str(program), "manual"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST, check=False)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")
