"""All commands share conventions: options of one name mean one thing, results are available as JSON, stdin works."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import click
import pytest

from fourhop import text
from fourhop.cli.commands import app
from fourhop.cli.options import Group
from tests.conftest import CHAIN, ROOT, Command


def commands(group: Group = app, before: str = "") -> dict[str, click.Command]:
    """All commands by their words."""
    found: dict[str, click.Command] = {}
    for name in group.list_commands(click.Context(group)):
        each = group.get_command(None, name)
        assert each is not None
        found |= commands(each, f"{name} ") if isinstance(each, Group) else {before + name: each}
    return found


def with_option(option: str) -> set[str]:
    return {name for name, each in commands().items() if any(option in parameter.opts for parameter in each.params)}


def test_what_has_a_result_prints_it_as_json() -> None:
    # Commands that draw a picture, serve a page or replace themselves with another program have no result.
    without = {"schema", "plot", "draw", "view", "exec", "shell", "change", "demo", "trace perfetto"}
    assert with_option("--json") == set(commands()) - without


def test_out_has_one_short_name() -> None:
    assert with_option("--out") == with_option("-o")
    assert len(with_option("--out")) > 10


def test_what_reads_a_scenario_changes_its_keys() -> None:
    reads = {"run", "check", "sweep", "compare", "whatif", "best-rate", "draw", "view", "explain", "emulate"}
    assert with_option("--set") == reads | {"import", "medium"}
    assert with_option("--duration") >= reads - {"emulate", "sweep"}


def test_options_of_one_name_are_declared_alike() -> None:
    declared: dict[str, set[tuple[Any, ...]]] = {}
    for each in commands().values():
        for parameter in each.params:
            if isinstance(parameter, click.Option):
                kind = (parameter.is_flag, parameter.multiple, type(parameter.type).__name__)
                declared.setdefault(parameter.opts[0], set()).add(kind)
    # Of each, one form is a value or a switch, the other a file name.
    assert {option for option, kinds in declared.items() if len(kinds) > 1} == {"--against", "--reference"}


def test_a_flow_has_its_name_everywhere(fourhop: Command, chain: Path) -> None:
    options = ("--duration", "2s", "--trials", "2", "--runs", "1", "--json")
    by_name, by_number = (fourhop("best-rate", chain, "--flow", flow, *options).stdout for flow in ("flow-1", "0"))
    assert json.loads(by_name) == json.loads(by_number)
    assert "--flow: found 'x', allowed: flow-1, or a number" in fourhop("best-rate", chain, "--flow", "x").stderr


def test_an_error_of_the_command_line_looks_like_the_others(fourhop: Command) -> None:
    for words in (["run"], ["run", "a.toml", "--nope"], ["nope"], ["run", "a.toml", "--runs", "many"], ["trace", "x"]):
        refused = fourhop(*words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert re.match(r"error: [a-z]", refused.stderr.splitlines()[-1]), refused.stderr
        assert "Error" not in refused.stderr


@pytest.mark.parametrize("command", ["run - --json", "check -", "draw - -o x.svg", "best-rate - --trials 2 --runs 1"])
def test_a_minus_is_standard_input(
    fourhop: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(CHAIN))
    done = fourhop(*command.split(), "--duration", "2s")
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr("sys.stdin", io.StringIO(CHAIN.replace("hops = 3", "hops = 0")))
    assert "error: <stdin>:6:" in fourhop(*command.split()).stderr
    assert not (tmp_path / "-").exists()


def test_duration_and_transport_are_those_of_any_scenario(fourhop: Command, chain: Path) -> None:
    done = json.loads(fourhop("run", chain, "--duration", "2s", "--transport", "vegas", "--json").stdout)
    assert (done["scenario"]["duration"], done["flows"][0]["transport"]) == ("2s", "vegas")
    assert "duration: found" in fourhop("run", chain, "--duration", "soon").stderr


def test_a_sweep_takes_keys_seed_and_runs(
    fourhop: Command, chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = f'scenario = "{chain.name}"\nprecision = "5%"\nmax_runs = 9\n[over]\ntcp.window = [2, 8]\n'
    (tmp_path / "windows.toml").write_text(described, encoding="utf-8")
    options = ("--set", "duration=2s", "--set", "topology.hops=2", "--seed", "40", "--runs", "2", "--json")
    done = fourhop("sweep", "windows.toml", *options)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert [printed[key] for key in ("out", "name", "keys", "computed", "reused")] == [
        "out/windows", "windows", ["tcp.window"], 4, 0,
    ]  # fmt: skip
    assert [(point["tcp.window"], point["runs"]) for point in printed["points"]] == [(2, 2), (8, 2)]
    assert {(flow["flow"], flow["hops"]) for flow in printed["flows"]} == {("flow-1", 2)}
    monkeypatch.setattr("sys.stdin", io.StringIO(described))
    again = json.loads(fourhop("sweep", "-", "-o", "out/windows", *options).stdout)
    assert (again["reused"], again["points"]) == (4, printed["points"])
    listed = json.loads(fourhop("results", "out/windows", "--json").stdout)
    assert listed["sweep"]["points"] == printed["points"]
    assert [each["seeds"] for each in listed["runs"]] == [[40, 41], [40, 41]]
    assert "--set: topology.hops: found" in fourhop("sweep", "windows.toml", "--set", "topology.hops=0").stderr
    assert "runs: found 0" in fourhop("sweep", "windows.toml", "--runs", "0").stderr


def test_json_of_what_runs_nothing(fourhop: Command, chain: Path) -> None:
    checked = json.loads(fourhop("check", chain, "--json").stdout)
    assert (checked["ok"], checked["warnings"], checked["scenario"]["topology"]["hops"]) == (True, [], 3)
    refused = fourhop("check", chain, "--set", "topology.hops=0", "--json")
    assert (refused.returncode, refused.stderr) == (2, "")
    (problem,) = json.loads(refused.stdout)["problems"]
    assert (problem["key"], problem["found"]) == ("topology.hops", "0")
    assert json.loads(fourhop("list", "--json").stdout)["transports"]["newreno"].startswith("NewReno")
    figures = json.loads(fourhop("reproduce", "--list", "--json", "--papers", ROOT / "papers").stdout)["figures"]
    assert {"figure", "title", "profiles", "checks"} == set(figures[0])


def test_json_has_the_keys_that_the_documents_list(fourhop: Command, chain: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8").partition("## JSON")[2].partition("\n## ")[0]
    listed = {
        name: set(re.findall(r"`(\w+)`", keys)) for name, keys in re.findall(r"^\| `([\w -]+)` \| (.*) \|$", page, re.M)
    }
    assert set(listed) == with_option("--json") - {"emulate", "medium", "trace tables"}
    (tmp_path / "s.toml").write_text(f'scenario = "{chain.name}"\n[over]\ntcp.window = [2]\n', encoding="utf-8")
    short = ("--duration", "2s", "--json")
    for command, options in (
        ("run", (chain, *short)),
        ("check", (chain, *short)),
        ("sweep", ("s.toml", "--json", "-o", "kept")),
        ("results", ("kept", "--json")),
        ("compare", (chain, "--vary", "transport=newreno,vegas", "--runs", "2", *short)),
        ("explain", (chain, *short)),
        ("best-rate", (chain, "--trials", "2", "--runs", "1", *short)),
    ):
        printed = json.loads(fourhop(command, *options).stdout)
        assert set(printed) <= listed[command], command
    assert set(json.loads(fourhop("list", "--json").stdout)) >= listed["list"]


def test_json_of_an_explanation_has_base_units(fourhop: Command, chain: Path) -> None:
    done = fourhop("explain", chain, "--transport", "tcp-ap", "--json", "-o", "x.svg")
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert (seen["flow"], seen["transport"], seen["figure"]) == ("flow-1", "tcp-ap", "x.svg")
    assert 1e4 < seen["goodput_bps"] < 2e6
    assert 1e-3 < seen["medians"]["rtt_s"] < 1.0


@pytest.mark.parametrize(
    ("mean", "half_width", "shown"),
    [
        (0.2012, 0.00818, "0.201 ± 0.008"),
        (0.2012, 0.0123, "0.201 ± 0.012"),
        (1234.5, 0.9999, "1234.5 ± 1.0"),
        (99.96, 20.0, "100 ± 20"),
        (5.0, 0.0, "5 ± 0"),
        (float("nan"), 1.0, "nan ± 1"),
    ],
)
def test_an_interval_has_the_digits_that_it_supports(mean: float, half_width: float, shown: str) -> None:
    assert text.interval(mean, half_width) == shown
