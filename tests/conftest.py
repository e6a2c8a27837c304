"""Shared by the tests: a small scenario file, and ways to run the command as a user does."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, settings

from fourhop import _core, cli

ROOT = Path(__file__).resolve().parent.parent

# Shells start background jobs with Ctrl-C ignored, and the programs that a test starts inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def loaded(path: str) -> ModuleType:
    """Load a program of the project, such as `scripts/measured.py`, as a module."""
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look up their module by name.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def shown(page: Path, language: str) -> list[str]:
    """The code blocks of a page in one language, without the indentation of a list around them."""
    text = page.read_text(encoding="utf-8")
    return [textwrap.dedent(found) for found in re.findall(rf"^ *```{language}\n(.*?)^ *```", text, re.S | re.M)]


PLAIN = {"COLUMNS": "100", "NO_COLOR": "1"}
"""A terminal without colours."""

Command = Callable[..., subprocess.CompletedProcess[str]]

CHAIN = """\
profile = "ns2"
duration = "10s"

[topology]
kind = "chain"
hops = 3

[traffic]
transport = "newreno"
"""

# No deadline: a process's first example may load scipy, which can take more than 200 ms.
settings.register_profile("fourhop", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fourhop")


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """A scenario of three hops and ten seconds."""
    path = tmp_path / "chain.toml"
    path.write_text(CHAIN, encoding="utf-8")
    return path


@pytest.fixture
def fourhop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run `fourhop` in an empty folder; never raises, the caller checks the exit code.

    It runs in this process: starting another and importing modules takes longer than what most commands do.
    """

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = ["fourhop", *map(str, arguments)]
        out, error = io.StringIO(), io.StringIO()
        with (
            monkeypatch.context() as patched,
            contextlib.chdir(tmp_path),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(error),
            warnings.catch_warnings(),
        ):
            patched.setattr(sys, "argv", command)
            for name, value in PLAIN.items():
                patched.setenv(name, value)
            warnings.simplefilter("error")
            try:
                cli.main()
                code: object = 0
            except SystemExit as end:
                code = end.code
        return subprocess.CompletedProcess(
            command, code if isinstance(code, int) else 0, out.getvalue(), error.getvalue()
        )

    return run


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The files of each later call of `polars.scan_parquet`."""
    calls: list[list[str]] = []
    scan = pl.scan_parquet

    def noted(paths: list[str], **options: Any) -> pl.LazyFrame:
        calls.append(paths)
        return scan(paths, **options)

    monkeypatch.setattr(pl, "scan_parquet", noted)
    return calls


@pytest.fixture
def process(tmp_path: Path) -> Command:
    """Run `fourhop` in a separate process."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "fourhop.cli", *map(str, arguments)]
        return subprocess.run(
            command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=HANGS, check=False
        )

    return run


HANGS = 900.0
"""Seconds until a test gives up waiting: long enough for a busy machine, but tests that hang end."""


def used_by(pid: int) -> float:
    """Processor seconds that a process has used, whatever else the machine does."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_at_work(process: subprocess.Popen[str]) -> None:
    """Wait until a command has loaded the engine and then used a second, far more than it needs to begin its work."""
    engine, maps = Path(_core.__file__).name, Path(f"/proc/{process.pid}/maps")
    while engine not in maps.read_text(encoding="utf-8"):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    loaded = used_by(process.pid)
    while used_by(process.pid) < loaded + 1.0:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def environment() -> dict[str, str]:
    """The environment of a user at a plain terminal."""
    return os.environ | PLAIN | {"PYTHONWARNINGS": "error"}
