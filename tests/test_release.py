"""Checks of `make release` before it builds anything."""

from __future__ import annotations

import datetime
from pathlib import Path

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
        (MANIFEST, CHANGES.replace(" - 2026-11-23", ""), LOCK, "found no date, allowed: a date such as 2026-11-23"),
        (MANIFEST, CHANGES.replace("11-23", "11-24"), LOCK, "found 2026-11-24, allowed: a date up to 2026-11-23"),
        (MANIFEST, CHANGES, LOCK.replace("0.2.0", "0.1.0"), "Cargo.lock: found 0.1.0, allowed: 0.2.0"),
        ("", CHANGES, LOCK, "Cargo.toml: found no version"),
    ],
)
def test_what_disagrees_is_said(manifest: str, changes: str, lock: str, said: str) -> None:
    release = loaded("scripts/release.py")
    found = list(release.disagreements(manifest, changes, lock, TODAY))
    assert (not found) if not said else any(said in line for line in found)


def test_a_version_is_set_wherever_it_is_written_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = loaded("scripts/release.py")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release.subprocess, "run", lambda *_, **__: None)
    (tmp_path / "docs").mkdir()
    written = {
        "Cargo.toml": MANIFEST,
        "CITATION.cff": "cff-version: 1.2.0\nversion: 0.2.0\n",
        "docs/clusters.md": 'image="example.org/fourhop:0.2.0"\n',
    }
    for name, text in written.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "CHANGELOG.md").write_text(CHANGES.replace("]\n\n## [0", "]\n\n### Fixed\n- That.\n\n## [0"))
    assert len(list(release.names("0.3.0"))) == 3
    release.begin("0.3.0")
    release.begin("0.3.0")
    assert not list(release.names("0.3.0"))
    assert "cff-version: 1.2.0" in (tmp_path / "CITATION.cff").read_text()
    lock = LOCK.replace("0.2.0", "0.3.0")
    changes = (tmp_path / "CHANGELOG.md").read_text()
    today = datetime.datetime.now(tz=datetime.UTC).astimezone().date()
    assert not list(release.disagreements((tmp_path / "Cargo.toml").read_text(), changes, lock, today))
    with pytest.raises(SystemExit, match=r"found v3, allowed: a version of three numbers"):
        release.begin("v3")
