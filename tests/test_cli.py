"""The command as users see it: exit codes, messages, tables, JSON."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from fourhop.cli.commands import app
from tests.conftest import CHAIN, HANGS, ROOT, Command, environment, wait_until_at_work


def refused(result: subprocess.CompletedProcess[str]) -> str:
    """The message of a refused command: exit code 2, nothing on stdout, no traceback."""
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr


def test_version(fourhop: Command) -> None:
    result = fourhop("--version")
    assert result.returncode == 0
    assert result.stdout.startswith("fourhop 0.")


def test_help_names_every_command(fourhop: Command) -> None:
    result = fourhop("--help")
    assert result.returncode == 0
    for name in ("run", "check", "schema", "list", "demo", "validate"):
        assert f"  {name} " in result.stdout


def test_help_cuts_nothing_and_has_placeholders_in_capitals() -> None:
    def shown(*arguments: str) -> str:
        return CliRunner().invoke(app, [*arguments, "--help"], env={"COLUMNS": "80", "NO_COLOR": "1"}).stdout

    commands = shown().partition("Commands:")[2]
    assert "..." not in commands
    assert "…" not in commands
    names = re.findall(r"^  ([a-z-]+) ", commands, re.M)
    assert len(names) >= 12
    for name in names:
        options = re.findall(r"^  --[a-z-]+ (\S+)(?:  |$)", shown(name), re.M)
        section = shown(name).partition("Arguments:")[2].partition("\n\n")[0]
        arguments = re.findall(r"^  (\S+)(?:  |$)", section, re.M)
        assert arguments or "Arguments:" not in shown(name)
        # A choice is shown as its values, such as [aggregate|flows].
        bad = [text for text in options + arguments if text != text.upper() and not text.startswith("[")]
        assert bad == [], name


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("typed", "offered", "other"),
    [("fourhop sw", "sweep", "results"), ("fourhop run a.toml --set radio.ra", "radio.rate=", "tcp.window=")],
)
def test_completion_knows_commands_and_keys(
    monkeypatch: pytest.MonkeyPatch, shell: str, typed: str, offered: str, other: str
) -> None:
    monkeypatch.setenv("_FOURHOP_COMPLETE", f"{shell}_complete")
    # Bash and zsh pass the number of the word, fish the word itself.
    at = typed.split()[-1] if shell == "fish" else str(typed.count(" "))
    words = {"COMP_WORDS": typed, "COMP_CWORD": at}
    for name, value in words.items():
        monkeypatch.setenv(name, value)
    command = "import sys; sys.argv = ['fourhop']; from fourhop.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert offered in done.stdout
    assert other not in done.stdout


def test_run_prints_a_table_with_intervals(fourhop: Command, chain: Path) -> None:
    result = fourhop("run", chain, "--runs", "3")
    assert result.returncode == 0, result.stderr
    assert "goodput kbit/s" in result.stdout
    line = next(line for line in result.stdout.splitlines() if line.startswith("flow-1"))
    assert "0→3" in line
    assert "±" in line
    assert "interval over 3 runs" in result.stdout
    # Without a terminal there is one line per minute, so none here.
    assert result.stderr == ""


def test_one_run_says_that_it_has_no_replications(fourhop: Command, chain: Path) -> None:
    result = fourhop("run", chain)
    assert result.returncode == 0, result.stderr
    assert "note: one run: ± is by batch means within this run" in result.stderr
    assert "batches of one run" in result.stdout


def test_json_is_one_object_of_the_documented_form(fourhop: Command, chain: Path) -> None:
    result = fourhop("run", chain, "--runs", "2", "--seed", "5", "--json")
    assert result.returncode == 0, result.stderr
    printed = json.loads(result.stdout)
    assert list(printed) == [
        "scenario",
        "seeds",
        "flows",
        "aggregate_goodput_bps",
        "jain",
        "drops",
        "events",
        "simulated_s",
        "wall_s",
    ]
    assert printed["scenario"]["topology"]["hops"] == 3
    assert printed["seeds"] == [5, 6]
    (flow,) = printed["flows"]
    assert (flow["name"], flow["src"], flow["dst"], flow["hops"]) == ("flow-1", 0, 3, 3)
    assert flow["transport"] == "newreno"
    goodput = flow["goodput_bps"]
    assert len(goodput["runs"]) == 2
    assert goodput["mean"] == pytest.approx(sum(goodput["runs"]) / 2)
    # t(1) = 12.7062, and the standard error of two values is half their difference.
    assert goodput["half_width"] == pytest.approx(12.7062 * abs(goodput["runs"][0] - goodput["runs"][1]) / 2, rel=1e-4)
    assert goodput == printed["aggregate_goodput_bps"]
    # A single flow shares with nobody.
    assert printed["jain"] is None
    assert printed["simulated_s"] == pytest.approx(20.0)
    assert printed["events"] > 1000
    assert printed["wall_s"] > 0.0
    assert all(isinstance(count, int) for reasons in printed["drops"].values() for count in reasons.values())


def test_goodput_is_below_what_the_radio_carries(fourhop: Command, chain: Path) -> None:
    result = fourhop("run", chain, "--json")
    printed = json.loads(result.stdout)
    # Three hops share one channel of 2 Mbit/s, so less than a third of it arrives.
    assert 1e5 < printed["aggregate_goodput_bps"]["mean"] < 2e6 / 3


def test_set_changes_a_key(fourhop: Command, chain: Path) -> None:
    result = fourhop("run", chain, "--set", "topology.hops=1", "--set", "radio.rate=11Mbps", "--json")
    assert result.returncode == 0, result.stderr
    scenario = json.loads(result.stdout)["scenario"]
    assert (scenario["topology"]["hops"], scenario["radio"]["rate"]) == (1, "11Mbps")


def test_set_transport_is_that_of_every_tcp_flow(fourhop: Command, chain: Path) -> None:
    for section in ("[traffic]", "[[flows]]\nfrom = 0\nto = 3"):
        chain.write_text(chain.read_text(encoding="utf-8").replace("[traffic]", section), encoding="utf-8")
        result = fourhop("run", chain, "--set", "transport=vegas", "--json")
        assert result.returncode == 0, result.stderr
        assert [flow["transport"] for flow in json.loads(result.stdout)["flows"]] == ["vegas"]
    message = refused(fourhop("run", chain, "--set", "traffic.transport=vegas"))
    assert "traffic.transport: found a key of [traffic] in a scenario that has [[flows]] instead" in message
    assert "(transport=NAME is the transport of every TCP flow" in message


def test_a_flow_without_a_path_is_said(fourhop: Command, chain: Path) -> None:
    gap = "warning: flow-1: no path of links from node 0 to node 3: the unreached node nearest to node 0 is node 1"
    for command in ("check", "run"):
        result = fourhop(command, chain, "--set", "topology.spacing=300m")
        assert result.returncode == 0, result.stderr
        assert f"{gap}, 300 m away, and a hop reaches 250 m\n" in result.stderr
        assert "warning" not in fourhop(command, chain).stderr


def test_a_sweep_and_a_scenario_are_not_confused(fourhop: Command, chain: Path) -> None:
    hops = ROOT / "scenarios" / "sweeps" / "hops.toml"
    for command in ("run", "check", "explain", "best-rate"):
        message = refused(fourhop(command, hops))
        assert message == f"error: {hops}: this is a sweep: run it with `fourhop sweep`\n"
    message = refused(fourhop("sweep", chain))
    assert message == f"error: {chain}: this is a scenario: run it with `fourhop run`\n"


def test_precision_adds_runs_until_it_is_met(fourhop: Command, chain: Path) -> None:
    result = fourhop("run", chain, "--precision", "20%", "--json")
    assert result.returncode == 0, result.stderr
    printed = json.loads(result.stdout)
    goodput = printed["aggregate_goodput_bps"]
    assert len(printed["seeds"]) >= 3
    assert goodput["half_width"] <= 0.2 * goodput["mean"]


def test_precision_that_is_not_met_is_said(fourhop: Command, chain: Path) -> None:
    result = fourhop("run", chain, "--precision", "0.0001%", "--max-runs", "4", "--json")
    assert result.returncode == 0, result.stderr
    assert len(json.loads(result.stdout)["seeds"]) == 4
    assert "note: precision not met" in result.stderr


def test_out_writes_a_folder_that_runs_again(fourhop: Command, chain: Path, tmp_path: Path) -> None:
    out = tmp_path / "results" / "deep"
    first = fourhop("run", chain, "--runs", "2", "--out", out, "--json")
    assert first.returncode == 0, first.stderr
    assert f"written: {out}" in first.stderr
    flows = pl.read_parquet(out / "flows.parquet")
    assert flows["seed"].to_list() == [1, 2]
    assert flows["goodput_bps"].to_list() == json.loads(first.stdout)["flows"][0]["goodput_bps"]["runs"]
    again = fourhop("run", out / "scenario.toml", "--runs", "2", "--json")
    assert again.returncode == 0, again.stderr
    one, two = json.loads(first.stdout), json.loads(again.stdout)
    for printed in (one, two):
        del printed["wall_s"]
    assert one == two


def test_results_do_not_depend_on_the_number_of_threads(fourhop: Command, chain: Path) -> None:
    printed = []
    for jobs in ("1", "2", "4"):
        result = fourhop("run", chain, "--precision", "10%", "--max-runs", "6", "--jobs", jobs, "--json")
        assert result.returncode == 0, result.stderr
        printed.append(json.loads(result.stdout))
        del printed[-1]["wall_s"]
    assert printed[0] == printed[1] == printed[2]


def test_check(fourhop: Command, chain: Path) -> None:
    result = fourhop("check", chain)
    assert result.returncode == 0
    assert result.stdout == f"{chain}: ok: chain, chain, 1 flow (newreno), 10s, profile ns2\n"


def test_check_resolved_is_toml_that_checks(fourhop: Command, chain: Path, tmp_path: Path) -> None:
    result = fourhop("check", chain, "--resolved")
    resolved = tmp_path / "resolved.toml"
    resolved.write_text(result.stdout, encoding="utf-8")
    assert fourhop("check", resolved, "--resolved").stdout == result.stdout


def test_schema_is_a_json_schema(fourhop: Command) -> None:
    schema = json.loads(fourhop("schema").stdout)
    assert schema["type"] == "object"
    assert "topology" in schema["properties"]


def test_list(fourhop: Command) -> None:
    printed = fourhop("list").stdout
    for name in ("parallel-chains", "random", "newreno", "udp", "aodv", "static", "threshold"):
        assert f"\n  {name} " in printed


def test_unknown_key_names_file_line_and_the_nearest_key(fourhop: Command, chain: Path) -> None:
    chain.write_text(chain.read_text(encoding="utf-8").replace("hops", "hopps"), encoding="utf-8")
    for command in ("check", "run"):
        message = refused(fourhop(command, chain))
        assert f"error: {chain}:6:1: topology.hopps" in message
        assert "hops" in message.split("topology.hopps")[1]


def test_missing_key(fourhop: Command, chain: Path) -> None:
    chain.write_text(chain.read_text(encoding="utf-8").replace('duration = "10s"\n', ""), encoding="utf-8")
    assert "duration: missing, allowed: a time" in refused(fourhop("check", chain))


NETWORK = CHAIN.partition("[traffic]")[0]


@pytest.mark.parametrize(
    "command",
    ["run", "sweep", "compare --vary tcp.window=1,2", "view --html x.html", "explain", "whatif", "best-rate"],
)
def test_what_measures_flows_needs_one(fourhop: Command, tmp_path: Path, command: str) -> None:
    (tmp_path / "network.toml").write_text(NETWORK, encoding="utf-8")
    (tmp_path / "swept.toml").write_text('scenario = "network.toml"\n[over]\ntcp.window = [1, 2]', encoding="utf-8")
    name, *options = command.split()
    said = refused(fourhop(name, "swept.toml" if name == "sweep" else "network.toml", *options))
    assert said.startswith("error: ")
    assert "network.toml: flows: missing, allowed: at least one [[flows]], or [traffic]; only `fourhop emulate`" in said
    assert said.count("\n") == 1


def test_a_network_without_flows_can_be_checked_drawn_and_emulated(
    fourhop: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "network.toml").write_text(NETWORK, encoding="utf-8")
    checked = fourhop("check", "network.toml")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "network, chain, no flows, 10s" in checked.stdout
    assert fourhop("draw", "network.toml", "--out", "network.svg").returncode == 0
    became: list[tuple[str, ...]] = []
    monkeypatch.setattr("fourhop.cli.emulate.become", lambda *words: became.append(words))
    assert fourhop("emulate", "network.toml").returncode == 0
    assert [words[:2] for words in became] == [("run", "network.toml")]
    monkeypatch.setattr("fourhop.cli.medium.become", lambda *words, name: became.append((name, *words)))
    assert fourhop("medium", "network.toml", "--map", "02:00:00:00:03:00=n1", "--for", "9s").returncode == 0
    expected = ("fourhop-medium", "run", "network.toml", "--map=02:00:00:00:03:00=n1", "--for=9s")
    assert became[-1] == expected


def test_every_problem_is_listed(fourhop: Command, chain: Path) -> None:
    message = refused(fourhop("check", chain, "--set", "topology.hops=-1", "--set", "duration=10m"))
    assert "topology.hops: found -1" in message
    assert 'duration: found "10m"' in message


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("radio.rate=2", "the unit is missing"),
        ("radio.rate=2MHz", "MHz"),
        ("radio.rate=0bps", "a rate from"),
        ("duration=-5s", "a time from"),
        ("topology.hops=100000", "a whole number from"),
        ("traffic.transport=newrno", "newreno"),
        ('flows=[{from=0, to=9, transport="newreno"}]', "from 0 to 3"),
        ('flows=[{from=1, to=1, transport="newreno"}]', "flows[0]"),
        ("nonsense", "key=value"),
    ],
)
def test_bad_values_say_what_is_allowed(fourhop: Command, chain: Path, override: str, said: str) -> None:
    message = refused(fourhop("check", chain, "--set", override))
    assert "error: --set: " in message
    assert said in message


def test_a_random_network_that_cannot_be_connected(fourhop: Command, tmp_path: Path) -> None:
    path = tmp_path / "far.toml"
    path.write_text(
        'profile = "ns2"\nduration = "10s"\n[topology]\nkind = "random"\nnodes = 3\nwidth = "90km"\nheight = "90km"\n'
        'redraws = 20\n[traffic]\ntransport = "newreno"\npairs = 1\n',
        encoding="utf-8",
    )
    assert "not connected after 20 draws" in refused(fourhop("run", path))


def test_a_file_that_is_not_there(fourhop: Command, tmp_path: Path) -> None:
    assert "nowhere.toml: cannot be read: No such file" in refused(fourhop("run", tmp_path / "nowhere.toml"))


def test_a_file_that_is_not_toml(fourhop: Command, tmp_path: Path) -> None:
    path = tmp_path / "words.toml"
    path.write_text("profile = ns2\n", encoding="utf-8")
    assert f"error: {path}:1:11: found text that is not TOML" in refused(fourhop("check", path))


def test_a_file_that_is_not_text(fourhop: Command, tmp_path: Path) -> None:
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8 text" in refused(fourhop("check", path))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--runs", "0"], "runs: found 0"),
        (["--runs", "1000000000"], "allowed: 1 to 1000000"),
        (["--jobs", "0"], "jobs: found 0"),
        (["--seed", "-1"], "seed: found -1"),
        (["--runs", "2", "--precision", "5%"], "one of the two"),
        (["--precision", "150%"], "precision: found '150%'"),
        (["--precision", "5%", "--max-runs", "2"], "max_runs: found 2"),
        (["--runs", "many"], "valid integer"),
        (["--rnus", "3"], "--runs"),
    ],
)
def test_options_that_make_no_sense(fourhop: Command, chain: Path, options: list[str], said: str) -> None:
    assert said in refused(fourhop("run", chain, *options))


def test_an_output_folder_that_is_a_file(fourhop: Command, chain: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("mine", encoding="utf-8")
    for option in ("--out", "--pcap"):
        assert f"output folder {blocked}" in refused(fourhop("run", chain, option, blocked))
    assert blocked.read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_output_folder_without_permission(fourhop: Command, chain: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    assert "cannot be written: Permission denied" in refused(fourhop("run", chain, "--out", closed))


def test_an_output_folder_with_a_scenario_of_ones_own(fourhop: Command, chain: Path, tmp_path: Path) -> None:
    own = tmp_path / "scenario.toml"
    own.write_text(chain.read_text(encoding="utf-8"), encoding="utf-8")
    assert "not part of a result" in refused(fourhop("run", own, "--out", tmp_path))
    assert own.read_text(encoding="utf-8") == chain.read_text(encoding="utf-8")


@contextlib.contextmanager
def started(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Start the command; it does not outlive the test, however that ends."""
    command = [sys.executable, "-m", "fourhop.cli", *map(str, arguments)]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def test_ctrl_c_keeps_what_finished(chain: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with started("run", chain, "--runs", "100000", "--json", "--out", out) as running:
        # Long enough for some runs of a few milliseconds each, and far too short for all.
        wait_until_at_work(running)
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate(timeout=HANGS)
    assert running.returncode == 130
    assert "Traceback" not in stderr
    printed = json.loads(stdout)
    assert 1 <= len(printed["seeds"]) < 100000
    assert f"note: interrupted: {len(printed['seeds'])} of 100000 runs finished" in stderr
    assert pl.read_parquet(out / "flows.parquet").height == len(printed["seeds"])


def test_ctrl_c_within_the_first_run(chain: Path) -> None:
    with started("run", chain, "--set", "duration=1000000s", "--json") as running:
        # The run would take hours.
        wait_until_at_work(running)
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate(timeout=HANGS)
    assert running.returncode == 130
    assert stdout == ""
    assert "interrupted: 0 of 1 runs finished" in stderr
    assert "Traceback" not in stderr


def test_demo_makes_the_figure(fourhop: Command, tmp_path: Path) -> None:
    demo = ("demo", "--out", tmp_path / "demo", "--runs", "2", "--duration", "5s")
    result = fourhop(*demo)
    assert result.returncode == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines()]
    cells = [row for row in rows if row and row[0].isdigit()]
    # Two tables, goodput and delay, of three transports, all with intervals.
    assert [row[0] for row in cells] == 2 * [str(hops) for hops in range(1, 9)]
    assert {row.count("±") for row in cells} == {3}
    assert max(map(len, result.stdout.splitlines()[:-1])) < 80
    for suffix in ("png", "pdf"):
        path = tmp_path / "demo" / f"goodput-and-delay-over-hops.{suffix}"
        assert str(path) in result.stdout
        assert path.stat().st_size > 5000
    assert f"fourhop view {tmp_path / 'demo' / 'trace'}" in result.stderr
    assert (tmp_path / "demo" / "trace" / "frames.parquet").exists()
    # The folder is a sweep's: nothing is computed twice, and it can be plotted in other ways.
    assert fourhop(*demo).stdout == result.stdout
    assert "48 runs kept" in fourhop("results", tmp_path / "demo").stdout


def test_ctrl_c_in_the_demo_keeps_what_finished(tmp_path: Path) -> None:
    demo = ("demo", "--out", tmp_path, "--runs", "1", "--duration", "300s", "--jobs", "1")
    with started(*demo) as running:
        while not list(tmp_path.glob("runs/*/*.parquet")):
            assert running.poll() is None
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, stderr = running.communicate(timeout=HANGS)
    assert running.returncode == 130
    assert "Traceback" not in stderr
    assert re.search(r"interrupted: \d+ of 24 runs", stderr)


def test_demo_stops_before_it_starts_if_it_cannot_write(fourhop: Command, tmp_path: Path) -> None:
    blocked = tmp_path / "demo"
    blocked.write_text("", encoding="utf-8")
    assert f"output folder {blocked}: found a file" in refused(fourhop("demo", "--out", blocked))
