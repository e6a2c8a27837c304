"""Progress without a terminal: one line per minute, however many runs there are."""

from __future__ import annotations

import pytest

from fourhop.cli import display
from fourhop.runner import Progress
from fourhop.sweeps.execute import SweepProgress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that the test sets: the list's only element, in s."""
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_runs_get_a_line_a_minute(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    started, wanted = clock[0], 10_000
    with display.Display() as shown:
        for second in range(601):
            clock[0] = started + second
            done = 10 * second
            shown.update(Progress(done, wanted, done / wanted, (), 100.0 * done, second, None, None))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0] == "run 600 of 10000, 1000 simulated s/s, 6%, 0:15:40 left"


def test_sweeps_get_a_line_a_minute_and_short_ones_none(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    started = clock[0]
    with display.SweepDisplay() as shown:
        for second in range(121):
            clock[0] = started + second
            shown.update(SweepProgress(second, 200, 3, second // 10, 20, second / 200, 0.0, second, 200.0 - second))
            assert second >= 60 or capsys.readouterr().err == ""
    assert capsys.readouterr().err.splitlines() == [
        "run 60 of 200, point 6 of 20, 30%, 3 reused, 0:02:20 left",
        "run 120 of 200, point 12 of 20, 60%, 3 reused, 0:01:20 left",
    ]
