"""Checks of `make release` before it builds anything."""

from __future__ import annotations

import datetime

import pytest

from tests.conftest import loaded

TODAY = datetime.date(2026, 11, 23)
MANIFEST = '[workspace]\n\n[workspace.package]\nversion = "0.2.0"\n'
CHANGES = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-23\n\n### Added\n- This.\n"
LOCK = '[[package]]\nname = "fourhop-sim"\nversion = "0.2.0"\n'


@pytest.mark.parametrize(
    ("manifest", "changes", "lock", "said"),
    [
        (MANIFEST, CHANGES, LOCK, ""),
        (MANIFEST.replace("0.2.0", "0.3.0"), CHANGES, LOCK, "found 0.2.0 as the newest release, allowed: 0.3.0"),
        (MANIFEST, CHANGES.replace("]\n\n## [0", "]\n- That.\n\n## [0"), LOCK, "found entries under [Unreleased]"),
        (MANIFEST, CHANGES.replace(" - 2026-11-23", ""), LOCK, "found no date, allowed: a date as 2026-11-23"),
        (MANIFEST, CHANGES.replace("11-23", "11-24"), LOCK, "found 2026-11-24, allowed: a date up to 2026-11-23"),
        (MANIFEST, CHANGES, LOCK.replace("0.2.0", "0.1.0"), "Cargo.lock: found 0.1.0, allowed: 0.2.0"),
        ("", CHANGES, LOCK, "Cargo.toml: found no version"),
    ],
)
def test_what_disagrees_is_said(manifest: str, changes: str, lock: str, said: str) -> None:
    release = loaded("scripts/release.py")
    found = list(release.disagreements(manifest, changes, lock, TODAY))
    assert (not found) if not said else any(said in line for line in found)
