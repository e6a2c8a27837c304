"""Options that `fourhop.emulate` passes to the emulator."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import fourhop
from fourhop.emulation import VARIABLE


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        ({}, []),
        ({"gro": False}, ["--no-gro"]),
        (
            {"tap": True, "flows": False, "seed": 7, "mtu": 1280},
            ["--tap", "--without-flows", "--seed", "7", "--mtu", "1280"],
        ),
        ({"adhoc_receivers": True, "pcap": "air"}, ["--adhoc-receivers", "--pcap", "air"]),
    ],
)
def test_every_choice_is_an_option_of_the_program(
    keys: dict[str, Any], options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    program = tmp_path / "fourhop-emulate"
    program.write_text(
        f'#!/bin/sh\ncat >/dev/null\nprintf "%s\\n" "$@" >{shlex.quote(str(asked))}\nexit 1\n', encoding="utf-8"
    )
    program.chmod(0o755)
    monkeypatch.setenv(VARIABLE, str(program))
    with pytest.raises(fourhop.FourhopError), fourhop.emulate(fourhop.Scenario.chain(hops=1), **keys):
        pass
    given = asked.read_text(encoding="utf-8").split()
    after = given.index("--ready") + 2
    assert given[after:] == options
