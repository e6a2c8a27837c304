"""Ctrl-C ends long work, and files that are too large are refused before they are read."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fourhop import FourhopError, Scenario, ScenarioError
from tests.conftest import HANGS, environment, wait_until_at_work

HEAD = 'profile = "ns2"\nduration = "60s"\n[[flows]]\nfrom = 0\nto = 1\ntransport = "newreno"\n'
# So sparse that none of the many draws is connected.
SPARSE = '[topology]\nkind = "random"\nnodes = 5000\nwidth = "1000km"\nheight = "1000km"\nredraws = 100000\n'


def interrupt(scenario: Path, wait: Callable[[subprocess.Popen[str]], None]) -> None:
    """Ctrl-C after `wait(process)` ends a `fourhop check` that would run for many minutes."""
    command = [sys.executable, "-m", "fourhop.cli", "check", str(scenario)]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait(process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=HANGS)
    assert process.returncode == 130
    assert "Traceback" not in stderr


def test_ctrl_c_while_a_random_network_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "sparse.toml").write_text(HEAD + SPARSE, encoding="utf-8")
    interrupt(tmp_path / "sparse.toml", wait_until_at_work)


def test_ctrl_c_while_a_movement_file_is_a_pipe_that_nobody_writes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ways")
    text = HEAD + '[mobility]\nmodel = "ns2"\nfile = "ways"\n'
    (tmp_path / "moving.toml").write_text(text, encoding="utf-8")
    writers: list[int] = []

    def wait_for_reader(process: subprocess.Popen[str]) -> None:
        while not writers:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
            # Without a reader, a pipe cannot be opened for writing without waiting.
            with contextlib.suppress(OSError):
                writers.append(os.open(tmp_path / "ways", os.O_WRONLY | os.O_NONBLOCK))

    interrupt(tmp_path / "moving.toml", wait_for_reader)
    os.close(writers[0])


@pytest.mark.parametrize("name", ["large.toml", "large.txt"])
def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(1_000_000_000)
    read = Scenario.from_ns2 if name.endswith(".txt") else Scenario.from_toml
    with pytest.raises(FourhopError, match=rf"{name}: found 1000000000 bytes, allowed: at most \d+"):
        read(tmp_path / name)


def test_a_movement_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "ways").open("wb") as file:
        file.truncate(1_000_000_000)
    text = HEAD + '[mobility]\nmodel = "ns2"\nfile = "ways"\n'
    (tmp_path / "moving.toml").write_text(text, encoding="utf-8")
    with pytest.raises(
        ScenarioError, match=r'mobility.file: found "ways", which is larger, allowed: .* at most \d+ bytes'
    ):
        Scenario.from_toml(tmp_path / "moving.toml")
