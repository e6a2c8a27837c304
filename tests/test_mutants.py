"""Mutants are woven into the sources so that each can be selected and nothing else changes."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT, loaded

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "mutants.py"
SOURCE = """\
/// Twice, but { not } more.
#[must_use]
fn twice(x: u32) -> u32 {
    x + x
}

const fn fixed(x: u32) -> u32 {
    x * 2
}

const TABLE: [u32; 2] = [1 + 1, 2];

fn thrice(x: u32) -> u32 {
    twice(x) + x
}
"""


@pytest.fixture
def mutants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = loaded("scripts/mutants.py")
    monkeypatch.setattr(module, "TREE", tmp_path)
    (tmp_path / "lib.rs").write_text(SOURCE, encoding="utf-8")
    return module


def entry(line: int, column: int, replacement: str, function: tuple[int, int] | None) -> dict[str, object]:
    """One operator as cargo-mutants lists it: lines and columns count from one, ends are exclusive."""
    span = {"start": {"line": line, "column": column}, "end": {"line": line, "column": column + 1}}
    inside = function and {
        "span": {"start": {"line": function[0], "column": 1}, "end": {"line": function[1], "column": 2}}
    }
    return {
        "file": "lib.rs",
        "name": f"{line}:{column} {replacement}",
        "span": span,
        "replacement": replacement,
        "function": inside,
    }


def test_each_mutant_is_an_arm_and_the_last_arm_is_the_code_as_it_was(mutants: ModuleType, tmp_path: Path) -> None:
    listed = [
        entry(4, 7, "-", (1, 5)),
        entry(4, 7, "*", (1, 5)),
        entry(14, 14, "/", (13, 15)),
        entry(8, 7, "+", (7, 9)),
        entry(11, 28, "-", None),
    ]
    sample = [mutants.mutant_of(number, "cc", one) for number, one in enumerate(listed)]
    assert [SOURCE[mutant.start : mutant.end] for mutant in sample] == ["+", "+", "+", "*", "+"]
    alone: set[object] = set()
    arms = mutants.weave({"lib.rs": SOURCE}, sample, alone)
    assert alone == set(sample[3:]), "what may run at compile time cannot choose"
    woven = (tmp_path / "lib.rs").read_text(encoding="utf-8").splitlines()
    for mutant, changed in zip(sample[:3], ["x - x", "x * x", "twice(x) / x"], strict=True):
        first, last = next((first, last) for _, first, last, found in arms if found is mutant)
        assert woven[first - 1].startswith(f"{mutant.number} => ")
        assert changed in " ".join(woven[first - 1 : last])
    text = "\n".join(woven)
    assert (text.count("    x + x\n"), text.count("    twice(x) + x\n")) == (1, 1), "the last arm of each function"
    assert [text.count(f"match fourhop_units::mutant(&{here})") for here in ([0, 1], [2])] == [1, 1]
    # Without arms, the result is the source again.
    mutants.weave({"lib.rs": SOURCE}, [], set())
    assert (tmp_path / "lib.rs").read_text(encoding="utf-8") == SOURCE


def test_the_table_says_what_is_below_the_floor(mutants: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    sample = [mutants.mutant_of(n, "wire" if n < 4 else "mac", entry(4, 7, f"{n}", (1, 5))) for n in range(6)]
    outcomes = dict(zip((m.name for m in sample), ["killed"] * 3 + ["survived", "killed", "unviable"], strict=True))
    assert mutants.report(["wire", "mac"], sample, outcomes, 90) == 1
    printed = capsys.readouterr()
    assert "| wire | 4 | 3 | 1 | 75 |" in printed.out
    assert "| mac | 1 | 1 | 0 | 100 |" in printed.out
    assert printed.err == "mutants: below 90 %: wire\n"
    assert mutants.report(["wire", "mac"], sample, outcomes, 75) == 0


def test_every_area_has_its_files_and_the_simulators_tests_that_it_names(mutants: ModuleType) -> None:
    for area in mutants.AREAS.values():
        assert all((ROOT / "crates" / source).exists() for source in area.sources)
        assert all((ROOT / "crates/sim/tests" / f"{test.removesuffix('::')}.rs").exists() for test in area.networks)
        assert all((ROOT / test).exists() for test in area.python)


def test_a_mutant_meets_the_tests_that_come_to_it_and_a_node_those_of_networks_last(mutants: ModuleType) -> None:
    outside, networks, own = programs = [
        ("proto", "/b/outside-1"), ("sim", "/b/networks-1"), ("proto", "/b/fourhop_proto-1"),
    ]  # fmt: skip
    net, node = (
        mutants.Mutant(n, area, "", f"crates/proto/src/{area}/a.rs", 0, 0, "", None)
        for n, area in enumerate(("net", "node"))
    )
    # Compiled alone, so nothing is known.
    assert list(mutants.steps(net, programs, None)) == [(own, ()), (outside, ())]
    assert list(mutants.steps(node, programs, None))[-1] == (networks, mutants.AREAS["node"].networks)
    reached = defaultdict(set, {
        (0, own[1]): {"mac::tests::b", "net::link::tests::a"}, (0, networks[1]): {"packets::c"},
        (1, own[1]): {"main", "node::tests::d", "tcp::tests::e"}, (1, outside[1]): {"main"},
        (1, networks[1]): {"packets::c"},
    })  # fmt: skip
    assert list(mutants.steps(net, programs, reached)) == [
        (own, ("--exact", "net::link::tests::a")), (own, ("--exact", "mac::tests::b")),
    ]  # fmt: skip
    # A thread without a test's name reaches it, so all tests run, but those of the module first.
    assert list(mutants.steps(node, programs, reached)) == [
        (own, ("--exact", "node::tests::d")), (own, ()), (outside, ()), (networks, ("--exact", "packets::c")),
    ]  # fmt: skip


def test_what_rust_does_not_kill_meets_the_tests_in_python_that_come_to_it(mutants: ModuleType) -> None:
    rust, tables, captures = programs = [
        ("sim", "/b/fourhop_sim-1"), ("python", "tests/test_trace.py"), ("python", "tests/test_pcap.py"),
    ]  # fmt: skip
    mutant = mutants.Mutant(0, "trace", "", "crates/sim/src/trace/pcap.rs", 0, 0, "", None)
    assert set(mutants.steps(mutant, programs, None)) > {(rust, ()), (tables, ()), (captures, ())}
    reached = defaultdict(set, {(0, rust[1]): {"trace::a"}, (0, captures[1]): {"main"}})
    assert list(mutants.steps(mutant, programs, reached)) == [(rust, ("--exact", "trace::a")), (captures, ())]


def test_of_the_tests_of_linux_those_that_come_to_a_mutant_are_run_at_once_and_the_fastest_first(
    mutants: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = "tests/linux/test_kernel.py"
    mutant = mutants.Mutant(0, "bpf", "", "crates/bpf/src/route.rs", 0, 0, "", None)
    slow, fast = f"{file}::test_a", f"{file}::test_b[fh_rbp]"
    monkeypatch.setattr(mutants, "SECONDS", {slow: 9.0, fast: 1.5})
    assert list(mutants.steps(mutant, [], None)) == [(("python", "tests/linux/"), (file,))]
    reached = defaultdict(set, {(0, file): {slow, fast}})
    assert list(mutants.steps(mutant, [], reached)) == [(("python", "tests/linux/"), (fast, slow))]
    assert list(mutants.steps(mutant, [], defaultdict(set))) == []


PYTHON = '''\
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    LIMIT = 1


def smaller(x: int = 2, y: "3" = 4) -> bool:
    """Not 5."""
    if not x:
        return False
    return x < y and x + 1 > 0
'''


def test_each_mutant_of_python_differs_in_one_place(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text(PYTHON, encoding="utf-8")
    script = loaded("scripts/mutants_python.py")
    made = {name: script.mutated(tmp_path / "lib.py", place) for name, place in script.mutants(tmp_path / "lib.py")}
    original = ast.unparse(ast.parse(PYTHON)).splitlines()
    for name, text in made.items():
        compile(text, name, "exec")
        (line,) = [number for number, (a, b) in enumerate(zip(original, text.splitlines(), strict=True)) if a != b]
        assert original[line].strip() not in ("if TYPE_CHECKING:", "LIMIT = 1"), name
    assert set(made) == {
        "lib.py:7: 2 -> 3", "lib.py:7: 4 -> 5", "lib.py:9: if not", "lib.py:9: no sign", "lib.py:10: return None",
        "lib.py:10: False -> True", "lib.py:11: return None", "lib.py:11: and -> or", "lib.py:11: Lt -> LtE",
        "lib.py:11: Gt -> GtE", "lib.py:11: Add -> Sub", "lib.py:11: 1 -> 2", "lib.py:11: 0 -> 1",
    }  # fmt: skip


def test_every_area_of_python_has_its_files_and_tests() -> None:
    for files, tests in loaded("scripts/mutants_python.py").AREAS.values():
        assert all((ROOT / "python" / "fourhop" / file).exists() for file in files)
        assert all((ROOT / test).is_file() for test in tests)
