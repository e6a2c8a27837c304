"""Profile-guided builds: when the profile is used, the message when it is not, and the profile's origin."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from fourhop import Scenario, _core
from tests.conftest import ROOT, loaded

guided: Any = loaded("packaging/guided.py")


RECORDED = {"rustc": "rustc 1.95.0 (59807616e 2026-04-14)", "target": "x86_64-unknown-linux-gnu", "names": "0" * 16}


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """An environment in which a profile is used and nothing is written into the sources."""
    recorded = RECORDED
    monkeypatch.setattr(guided, "ROOT", tmp_path)
    monkeypatch.setattr(guided, "ABOUT", tmp_path / "about.json")
    guided.ABOUT.write_text(json.dumps(recorded))
    monkeypatch.setattr(guided, "compiler", lambda _: (recorded["rustc"], recorded["target"]))
    monkeypatch.setattr(guided, "unpacked", lambda: tmp_path / "profile.profdata")
    return {}


OWN = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS"


@pytest.mark.skipif(not guided.ABOUT.exists(), reason="no profile is recorded: `make profile`")
def test_the_profile_is_of_the_compiler_that_the_project_pins() -> None:
    recorded = json.loads(guided.ABOUT.read_text())
    pinned = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    assert recorded["rustc"].startswith(f"rustc {pinned} ("), "`make profile` records it again"
    assert guided.PROFILE.stat().st_size < 200_000


@pytest.mark.usefixtures("here")
def test_the_flags_of_the_user_stay(tmp_path: Path) -> None:
    use = f"-Cprofile-use={tmp_path}/profile.profdata"
    for before, name, text in (
        ({}, OWN, ""),
        ({OWN: "-Cdebuginfo=1"}, OWN, "-Cdebuginfo=1 "),
        ({"RUSTFLAGS": "-Ctarget-cpu=native -v"}, "CARGO_ENCODED_RUSTFLAGS", "-Ctarget-cpu=native\x1f-v\x1f"),
        ({"RUSTFLAGS": ""}, "CARGO_ENCODED_RUSTFLAGS", ""),
        ({"CARGO_ENCODED_RUSTFLAGS": "-Ca=b c", "RUSTFLAGS": "-v"}, "CARGO_ENCODED_RUSTFLAGS", "-Ca=b c\x1f"),
    ):
        environment = dict(before)
        guided.guide(environment)
        assert environment["CARGO_BUILD_TARGET"] == "x86_64-unknown-linux-gnu"
        called = [environment["RUSTC_WORKSPACE_WRAPPER"], "echo", "-C", "metadata=1b", "a b", "--cfg", "x"]
        said = subprocess.run(called, capture_output=True, text=True, check=True).stdout
        assert said == "-C metadata=fourhop a b --cfg x\n"
        assert environment[name].startswith(text + use)


def test_a_folder_may_have_a_space_in_its_name(here: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guided, "unpacked", lambda: Path("/a b/profile"))
    guided.guide(here)
    assert here["CARGO_ENCODED_RUSTFLAGS"].split("\x1f")[0] == "-Cprofile-use=/a b/profile"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FOURHOP_GUIDED", "no"),
        ("CARGO_PROFILE_RELEASE_LTO", "off"),
        ("CARGO_INCREMENTAL", "1"),
        ("RUSTFLAGS", "-Cprofile-generate=/tmp"),
        ("CARGO_BUILD_TARGET", "aarch64-unknown-linux-gnu"),
        ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"),
    ],
)
def test_it_says_why_a_build_is_not_guided(here: dict[str, str], name: str, value: str) -> None:
    here[name] = value
    with pytest.raises(guided.UnguidedError, match=name):
        guided.guide(here)
    assert here == {name: value}


def test_another_compiler_is_not_guided(here: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guided, "compiler", lambda _: ("rustc 1.99.0", "x86_64-unknown-linux-gnu"))
    with pytest.raises(guided.UnguidedError, match=r"rustc 1\.99\.0"):
        guided.guide(here)


@pytest.mark.usefixtures("here")
def test_names_that_differ_fail_the_build(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.environ", {})
    ask = tmp_path / "asked.py"
    ask.write_text("def names(): return 'others'\n")
    monkeypatch.setattr(guided, "ASK", "import sys; exec(open(sys.argv[1]).read()); print(names())")
    assert guided.run(str(ask), ["/bin/true"]) == 1
    assert re.search("found others, recorded [0-9a-f]{16}.*make profile", capsys.readouterr().err)
    ask.write_text(f"def names(): return {RECORDED['names']!r}\n")
    assert guided.run(str(ask), ["/bin/true"]) == 0
    assert guided.run(str(ask), ["/bin/false"]) == 1


def test_a_module_tells_the_number_of_its_names() -> None:
    path = _core.__file__
    assert path is not None
    assert guided.names_of(Path(path)) == _core.names()
    assert re.fullmatch("[0-9a-f]{16}", _core.names())
    assert guided.names_of(Path(__file__)).startswith("unknown")


def test_the_name_of_the_profile_follows_from_its_content(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(guided, "ROOT", tmp_path)
    monkeypatch.setattr(guided, "PROFILE", tmp_path / "profile.gz")
    paths = set()
    for content in (b"one", b"two", b"one"):
        (tmp_path / "profile.gz").write_bytes(gzip.compress(content))
        path = guided.unpacked()
        assert path.read_bytes() == content
        paths.add(path)
    assert len(paths) == 2


def test_only_functions_that_run_often_are_kept() -> None:
    def function(name: str, counters: list[int]) -> str:
        lines = [name, "# Func Hash:", "7", "# Num Counters:", str(len(counters)), "# Counter Values:"]
        return "\n".join([*lines, *map(str, counters), "# Num Value Kinds:", "1", "99999"]) + "\n\n"

    text = ":ir\n" + function("seldom", [1, guided.OFTEN - 1]) + function("often", [0, guided.OFTEN, 3])
    kept = guided.often("# head\n" + text)
    assert "often" in kept
    assert "seldom" not in kept
    assert kept.startswith("# head\n:ir\noften\n")


def test_the_backend_has_the_hooks_of_maturin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]
    assert (project["build-backend"], project["backend-path"]) == ("guided", ["packaging"])
    maturin = pytest.importorskip("maturin")
    hooks = [name for name in dir(maturin) if name.startswith(("build_", "get_requires_for_", "prepare_metadata_for_"))]
    assert {"build_wheel", "build_sdist"} <= set(hooks)
    assert all(callable(getattr(guided, hook)) for hook in hooks if not hook.endswith("_"))
    with pytest.raises(AttributeError):
        guided.no_hook  # noqa: B018


def test_it_is_trained_on_no_network_that_is_measured() -> None:
    asked = subprocess.run(
        [sys.executable, "-c", "import json, train; print(json.dumps([s.resolved for _, s in train.scenarios()]))"],
        cwd=ROOT / "benches",
        env={"PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=True,
    )
    places = [json.dumps(each["topology"].get("positions")) for each in json.loads(asked.stdout)]
    trained = {each for each in places if each != "null"}
    assert len(trained) > 10
    measured = [Scenario.from_ns2(path).resolved for path in sorted((ROOT / "scenarios" / "bench").glob("*.txt"))]
    assert len(measured) == 8
    for each in measured:
        assert json.dumps(each["topology"]["positions"]) not in trained
