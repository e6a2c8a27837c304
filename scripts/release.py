#!/usr/bin/env python3
"""Check that version, changelog and documents agree on a release, or begin one.

    scripts/release.py               check, for `make release`
    scripts/release.py --set 0.2.0   write the version where it is stated by hand, with today's date in the changelog

It checks that the newest section of CHANGELOG.md that has entries is that of the version in Cargo.toml, with a date
that is not in the future; nothing is under "Unreleased"; Cargo.lock has the same version; manual pages and documents
name no other version. Prints one line for each disagreement and ends with 1 if there is one.
"""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.compile(r'(\[workspace\.package\][^\[]*?\nversion = ")([^"]+)(")')
HEADING = re.compile(r"^## \[([^\]]+)\](?: - (\S+))?\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
# Texts that name the version, by file: those that `--set` writes, and those that `make docs` generates.
WRITTEN = {
    "Cargo.toml": VERSION.pattern,
    "docs/clusters.md": r"(/fourhop:)(\d[\w.]*)()",
    "CITATION.cff": r"(\nversion: )(\S+)()",
}
GENERATED = {"packaging/*.[18]": r"(\.TH \S+ \d \"[^\"]*\" \"\S+ )(\S+?)(\")"}


def read(name: str) -> str:
    """A file of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


def disagreements(manifest: str, changelog: str, lock: str, today: datetime.date) -> Iterator[str]:
    """Disagreements, as `file: found ..., allowed: ...`."""
    stated = VERSION.search(manifest)
    if stated is None:
        yield "Cargo.toml: found no version under [workspace.package]"
        return
    version = stated[2]
    sections = [(name, date, body.strip()) for name, date, body in HEADING.findall(changelog)]
    if any(name == "Unreleased" and body for name, _, body in sections):
        yield f"CHANGELOG.md: found entries under [Unreleased], allowed: under [{version}] with a date"
    newest = next(((name, date) for name, date, body in sections if name != "Unreleased" and body), ("none", ""))
    if newest[0] != version:
        yield f"CHANGELOG.md: found {newest[0]} as the newest release, allowed: {version}, the version in Cargo.toml"
    else:
        try:
            if datetime.date.fromisoformat(newest[1]) > today:
                yield f"CHANGELOG.md: [{version}]: found {newest[1]}, allowed: a date up to {today}"
        except ValueError:
            yield f"CHANGELOG.md: [{version}]: found {newest[1] or 'no date'}, allowed: a date as {today}"
    locked = set(re.findall(r'name = "fourhop-[\w-]+"\nversion = "([^"]+)"', lock))
    if locked != {version}:
        found = ", ".join(sorted(locked)) or "none"
        yield f"Cargo.lock: found {found}, allowed: {version}; run `cargo update --workspace`"


def names(version: str) -> Iterator[str]:
    """Pages that name another version."""
    for pattern, form in (WRITTEN | GENERATED).items():
        remedy = "make docs" if pattern in GENERATED else f"scripts/release.py --set {version}"
        for path in sorted(ROOT.glob(pattern)):
            for _, found, _ in re.findall(form, path.read_text(encoding="utf-8")):
                if found != version:
                    yield f"{path.relative_to(ROOT)}: found {found}, allowed: {version}; run `{remedy}`"


def begin(version: str) -> None:
    """Write the version wherever it is stated by hand, and a heading with today's date if the changelog has none."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"release.py: --set: found {version}, allowed: a version of three numbers, such as 0.3.0")
    for name, form in WRITTEN.items():
        (ROOT / name).write_text(re.sub(form, rf"\g<1>{version}\g<3>", read(name)), encoding="utf-8")
    changelog = read("CHANGELOG.md")
    if f"\n## [{version}]" not in changelog:
        heading = f"## [Unreleased]\n\n## [{version}] - {datetime.date.today()}\n"
        (ROOT / "CHANGELOG.md").write_text(changelog.replace("## [Unreleased]\n", heading, 1), encoding="utf-8")
    subprocess.run(["cargo", "update", "--workspace", "--offline", "--quiet"], cwd=ROOT, check=True)
    print(f"release: {version} is set; run `make docs`, commit, then run `make release`")


def main() -> int:
    """Begin a release, or check one."""
    match sys.argv[1:]:
        case []:
            pass
        case ["--set", version]:
            begin(version)
            return 0
        case other:
            raise SystemExit(f"release.py: found {' '.join(other)}, allowed: nothing, or --set VERSION")
    manifest = read("Cargo.toml")
    found = list(disagreements(manifest, read("CHANGELOG.md"), read("Cargo.lock"), datetime.date.today()))
    if stated := VERSION.search(manifest):
        found += names(stated[2])
    for line in found:
        print(line)
    print(f"release: {len(found)} disagreements" if found else "release: version, changelog and pages agree")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
