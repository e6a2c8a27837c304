"""What is too large is refused before it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourhop import FourhopError, Scenario, ScenarioError

HEAD = 'profile = "ns2"\nduration = "60s"\n[[flows]]\nfrom = 0\nto = 1\ntransport = "newreno"\n'


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
