"""What the documents show works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fourhop
from fourhop import _core
from fourhop.sweeps import document
from tests.conftest import ROOT

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(language: str) -> list[tuple[str, str]]:
    found = []
    for path in DOCUMENTS:
        for number, block in enumerate(re.findall(rf"```{language}\n(.*?)```", path.read_text(encoding="utf-8"), re.S)):
            found.append((f"{path.name}-{number}", block))
    return found


@pytest.mark.parametrize(("name", "text"), blocks("toml"), ids=lambda value: value if len(value) < 40 else "")
def test_scenarios_and_sweeps_shown_are_sound(name: str, text: str, tmp_path: Path) -> None:
    if "[over]" in text:
        # Where the scenario file stands is the reader's affair; that the sweep fits one is ours.
        found = re.search(r'^scenario = "(.*)"', text, re.M)
        assert found is not None
        scenario = (ROOT / "scenarios" / Path(found[1]).name).read_text(encoding="utf-8")
        (tmp_path / "chain.toml").write_text(scenario, encoding="utf-8")
        (tmp_path / "sweep.toml").write_text(text.replace(found[1], "chain.toml"), encoding="utf-8")
        assert len(document.load(tmp_path / "sweep.toml").points) > 1
    elif "profile" in text:
        fourhop.Scenario(text, name)


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios" / "sweeps").glob("*.toml")), ids=lambda path: path.stem)
def test_the_sweeps_of_the_repository_are_sound(path: Path) -> None:
    assert len(document.load(path).points) > 1


@pytest.mark.parametrize(("name", "text"), blocks("python"), ids=lambda value: value if len(value) < 40 else "")
def test_python_shown_runs(name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fourhop.run(fourhop.Scenario.chain(hops=1, duration="2s", sample_every="1s"), out="results")
    exec(compile(text.replace('duration="100s"', 'duration="5s"'), name, "exec"), {})


def test_the_scenario_reference_is_current() -> None:
    written = (ROOT / "docs" / "scenario.md").read_text(encoding="utf-8")
    assert written.rstrip() == _core.reference().rstrip(), "run `make docs`"


def test_links_lead_somewhere() -> None:
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (path.parent / target).exists(), f"{path.name}: {target}"
