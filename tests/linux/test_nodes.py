"""Nodes as namespaces: their names, the programs in them, and that nothing of them remains."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import pytest

import fourhop as package
from fourhop.emulation import program
from tests.conftest import ROOT
from tests.linux.conftest import CHAIN, LONGEST, Starter, fourhop, left, needs, needs_tun_for_users


def test_names_resolve_and_every_node_has_its_own_device(emulate: Starter) -> None:
    needs("ping", "ip")
    net = emulate("--without-flows", hops=2)
    assert net.run("n0", "getent", "hosts", "n2").stdout.split() == ["10.0.0.3", "n2"]
    assert "10.0.0.2" in net.run("n1", "ip", "-4", "-o", "addr", "show", "mesh0").stdout
    ping = net.run("n0", "ping", "-c", "3", "-i", "0.2", "n2")
    assert " 0% packet loss" in ping.stdout
    assert "ttl=63" in ping.stdout, "one relay"
    hosts = Path("/etc/hosts").read_text(encoding="utf-8")
    assert "10.0.0.3" not in hosts, "the machine itself is as it was"


def test_a_relay_says_that_the_time_to_live_ran_out(emulate: Starter) -> None:
    needs("ping")
    net = emulate("--without-flows", hops=4)
    net.run("n0", "ping", "-c", "1", "n4")  # finds the route
    for ttl, relay in ((1, "n1"), (2, "n2"), (3, "n3")):
        said = net.run("n0", "ping", "-c", "1", "-t", str(ttl), "n4").stdout
        assert f"From {relay} " in said, said
        assert "Time to live exceeded" in said
    assert net.end()["packets"]["icmp_errors"] == 3


def test_a_node_that_nobody_hears_is_unreachable(emulate: Starter, tmp_path: Path) -> None:
    needs("ping")
    file = tmp_path / "apart.toml"
    file.write_text(
        'profile = "standard"\nduration = "9s"\n[topology]\nkind = "positions"\n'
        'positions = [["0m", "0m"], ["200m", "0m"], ["9km", "0m"]]\n'
        '[[flows]]\nfrom = 0\nto = 1\ntransport = "newreno"\n',
        encoding="utf-8",
    )
    # AODV would search for half a minute.
    net = emulate("--without-flows", "--set", "routing.protocol=static", file=file)
    said = net.run("n0", "ping", "-c", "1", "-W", "5", "n2").stdout
    assert "Destination Host Unreachable" in said


def test_two_emulations_do_not_meet(emulate: Starter) -> None:
    needs("ping")
    first, second = emulate("--without-flows", hops=1), emulate("--without-flows", hops=2)
    second.start("n0", "ping", "-i", "0.2", "n1")
    assert first.run("n0", "ping", "-c", "1", "-W", "1", "n2").returncode != 0, "only the second has this node"
    assert second.run("n0", "ping", "-c", "1", "n2").returncode == 0
    assert {flow["dst"] for flow in first.end()["flows"]}.isdisjoint({"n1"})
    listed = fourhop("emulate", "--list").stdout
    assert f"{second.id}  {CHAIN}  3 nodes  running" in listed
    both = fourhop("exec", "--emulation", second.id, "n0", "ping", "-c", "1", "n2")
    assert both.returncode == 0, both.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_leaves_nothing(emulate: Starter, how: signal.Signals) -> None:
    net = emulate("--without-flows", hops=3)
    server = net.start("n3", "sleep", "100")
    assert len(left(net.id)) == 4 + 4 + 2
    assert net.end(how)["ended_by"] == "a signal"
    assert left(net.id) == []
    assert server.wait(5) != 0, "programs in the nodes have ended"


def test_what_a_killed_one_left_is_removed(emulate: Starter) -> None:
    net, other = emulate("--without-flows", hops=2), emulate("--without-flows", hops=1)
    sleeper = net.start("n1", "sleep", "100")
    net.process.kill()
    net.process.communicate()
    assert len(left(net.id)) == 3 + 3 + 2
    done = fourhop("emulate", "--clean")
    assert f"removed {net.id} (3 nodes)" in done.stdout
    assert left(net.id) == []
    assert sleeper.wait(5) != 0
    assert other.run("n0", "true").returncode == 0, "what runs is left alone"


@pytest.mark.parametrize(
    ("inside", "code"), [("{program} exec n0 -- sh -c 'exit 7'", 7), ("kill -KILL $$", 128 + signal.SIGKILL)]
)
def test_it_ends_with_its_command_and_passes_its_code_on(emulate: Starter, inside: str, code: int) -> None:
    command = [str(program()), "run", str(CHAIN), "--quiet", "--name", "tcommand", "--", "sh", "-c"]
    command.append(inside.format(program=program()))
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    assert done.returncode == code, done.stderr
    assert "ended by its command" in done.stdout
    assert left("tcommand") == []
    assert emulate.running == []


def test_a_device_that_is_removed_harms_nobody_else(emulate: Starter) -> None:
    needs("ip", "ping")
    net = emulate("--without-flows", hops=2)
    assert net.run("n2", "ip", "link", "delete", "mesh0").returncode == 0
    assert net.run("n0", "ping", "-c", "1", "n1").returncode == 0
    net.run("n0", "ping", "-c", "2", "-i", "0.2", "-W", "1", "n2")
    report = net.end()
    assert any("device of n2 is gone" in warning for warning in report["warnings"])
    assert report["packets"]["undelivered"] > 0


def test_delays_by_the_machine_are_reported(emulate: Starter) -> None:
    """The emulator is stopped for half a second: packets wait at devices, nothing is due in the network."""
    needs("ping")
    net = emulate("--without-flows", hops=2)
    ping = net.start("n0", "ping", "-i", "0.05", "-c", "60", "n2")
    time.sleep(1)
    net.process.send_signal(signal.SIGSTOP)
    time.sleep(0.5)
    net.process.send_signal(signal.SIGCONT)
    ping.wait(20)
    truth = net.end()["truth"]
    assert truth["holds"] is False
    assert "ms behind the clock" in truth["because"], truth
    assert truth["behind_max_us"] > 300e3


def test_garbage_from_a_node_is_counted_and_harms_nobody(emulate: Starter) -> None:
    needs("ping")
    net = emulate("--without-flows", "--tap", hops=1)
    noise = (
        "import os, random, socket\n"
        "random.seed(1)\n"
        "s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\n"
        "s.bind(('mesh0', 0))\n"
        "own = bytes.fromhex('020000000000')\n"
        "for n in range(300):\n"
        "    head = random.choice([b'\\xff' * 6, bytes.fromhex('020000000001'), os.urandom(6)])\n"
        "    kind = random.choice([b'\\x08\\x00', b'\\x08\\x06', os.urandom(2)])\n"
        "    s.send(head + random.choice([own, os.urandom(6)]) + kind + os.urandom(random.randrange(2, 900)))\n"
    )
    assert net.run("n0", "python3", "-c", noise).returncode == 0
    time.sleep(1)
    assert net.run("n0", "ping", "-c", "1", "-W", "10", "n1").returncode == 0
    refused = net.end()["packets"]["refused"]
    assert refused["foreign-source"] > 50
    assert refused["unknown-destination"] > 10


def test_nodes_are_changed_while_they_run(emulate: Starter) -> None:
    """The last of three nodes in a row walks away, comes back and loses power; then a wall appears in front of it."""
    needs("ping")
    net = emulate("--without-flows", hops=2)

    def reaches(node: str) -> bool:
        return net.run("n0", "ping", "-c", "1", "-W", "2", node).returncode == 0

    def change(node: str, *words: str) -> str:
        done = fourhop("change", node, *words, "--emulation", net.id)
        return f"{done.returncode} {done.stdout}{done.stderr}"

    assert reaches("n2")
    for away, back in (
        (("--position", "9km,0m"), ("--position", "400m,0m")),
        (("--power", "-40dBm"), ("--power", "0.28183815W")),
        (("--link", "n1=200dB", "--link", "n0=200dB"), ("--link", "n1=60dB")),
    ):
        assert change("n2", *away).startswith("0 n2 was changed at ")
        assert not reaches("n2"), away
        assert reaches("n1"), away
        assert change("n2", *back).startswith("0 ")
        deadline = time.monotonic() + LONGEST
        while not reaches("n2"):
            assert time.monotonic() < deadline, back
    assert 'found "n9", allowed: nodes with radios' in change("n9", "--power", "1dBm")
    assert "found no change" in change("n1")
    assert "allowed: two lengths" in change("n1", "--position", "9")
    report = net.end()
    assert sum("n2 was changed at" in warning for warning in report["warnings"]) == 6
    assert report["packets"]["undelivered"] == 0


def test_from_python(emulate: Starter) -> None:
    needs("ping")
    assert emulate.running == []
    scenario = package.Scenario.chain(hops=2, profile="standard")
    with package.emulate(scenario, flows=False) as net:
        assert net.names == ["n0", "n1", "n2"]
        assert " 0% packet loss" in net["n0"].run("ping", "-c", "2", "-i", "0.2", "n2").stdout
        with pytest.raises(package.FourhopError, match="n0: false ended with code 1"):
            net["n0"].run("false")
        with pytest.raises(package.FourhopError, match="no node is called 'n9'; there are: n0, n1, n2"):
            net["n9"]
    assert net.report["packets"]["delivered"] == 4
    assert [net.report[part]["count"] for part in ("lateness_us", "kernel_us", "entering_us")] == [4, 4, 4]
    assert net.flows.filter(net.flows["src"] == "n0")["arrived"].to_list() == [2]
    assert left(net.id) == []


def test_it_ends_if_the_python_that_started_it_is_killed(emulate: Starter) -> None:
    assert emulate.running == []
    code = """
import sys, time, fourhop
with fourhop.emulate(fourhop.Scenario.chain(hops=1), flows=False) as net:
    print(net.id, flush=True)
    time.sleep(100)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as python:
        assert python.stdout is not None
        name = python.stdout.readline().strip()
        assert len(left(name)) == 2 + 2 + 2
        python.kill()
    ends = time.monotonic() + LONGEST
    while left(name) and time.monotonic() < ends:
        time.sleep(0.05)
    assert left(name) == []


def test_who_is_not_root_gets_a_user_namespace(emulate: Starter) -> None:
    needs("setpriv", "ping")
    needs_tun_for_users()
    assert emulate.running == []
    if Path("/proc/sys/user/max_user_namespaces").read_text(encoding="ascii").strip() == "0":
        pytest.skip("this system gives its users no namespaces")
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        own = shutil.copy(program(), folder)
        scenario = shutil.copy(CHAIN, folder)
        command = [*nobody, own, "run", scenario, "--quiet", "--json", "--without-flows", "--name", "tnobody"]
        inside = f"{own} exec n0 -- ping -c 5 -i 0.3 -W 5 n4"
        done = subprocess.run(
            [*command, "--", "sh", "-c", inside], capture_output=True, text=True, timeout=LONGEST, cwd="/", check=False
        )
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout.splitlines()[-1])
        assert (report["exit_status"], report["machine"]["real_time"]) == (0, False)
        # Users have no real-time priority, so on a busy machine a route may break.
        assert report["flows"][0]["arrived"] > 0
    assert not Path("/tmp/fourhop-65534/tnobody.json").exists()
    shutil.rmtree("/tmp/fourhop-65534")


def test_what_a_killed_one_of_a_user_left_is_removed(emulate: Starter) -> None:
    """Its namespaces lost their names with its mounts; the programs in them are still found."""
    needs("setpriv")
    needs_tun_for_users()
    assert emulate.running == []
    if Path("/proc/sys/user/max_user_namespaces").read_text(encoding="ascii").strip() == "0":
        pytest.skip("this system gives its users no namespaces")
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        own = shutil.copy(program(), folder)
        scenario = shutil.copy(CHAIN, folder)
        command = [*nobody, own, "run", scenario, "--quiet", "--name", "tkilled"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd="/") as net:
            assert net.stderr is not None
            assert "is ready" in net.stderr.readline()
            inside = [*nobody, own, "exec", "--emulation", "tkilled", "n1", "--", "sleep", "100"]
            sleeper = subprocess.Popen(inside, cwd="/")
            stranger = subprocess.Popen(
                [*nobody, "unshare", "--user", "--net", "sleep", "100"],
                env=os.environ | {"FOURHOP_EMULATION": "tkilled"},
            )
            deadline = time.monotonic() + LONGEST
            while Path(f"/proc/{sleeper.pid}/comm").read_text(encoding="ascii") != "sleep\n":
                assert time.monotonic() < deadline
                time.sleep(0.05)
            net.kill()
        try:
            done = subprocess.run([*nobody, own, "clean"], capture_output=True, text=True, timeout=LONGEST, cwd="/")
            assert "removed tkilled (5 nodes)" in done.stdout, done.stderr
            assert sleeper.wait(5) != 0
            assert stranger.poll() is None, "another program of this user, in no node, is left alone"
        finally:
            sleeper.kill()
            stranger.kill()
            stranger.wait()
    assert not Path("/tmp/fourhop-65534/tkilled.json").exists()
    shutil.rmtree("/tmp/fourhop-65534")


def test_a_sender_of_too_long_packets_learns_the_mtu(emulate: Starter) -> None:
    needs("ip", "ping", "iperf3")
    net = emulate("--without-flows", hops=2)
    for node in ("n0", "n1", "n2"):
        net.run(node, "ip", "link", "set", "mesh0", "mtu", "4000")
    said = net.run("n0", "ping", "-c", "1", "-W", "1", "-M", "do", "-s", "3000", "n2").stdout
    assert "Frag needed and DF set (mtu = 1500)" in said
    # From now on n0's kernel fragments by itself; n2's allows others to fragment its answers.
    assert " 0% packet loss" in net.run("n0", "ping", "-c", "2", "-i", "0.3", "-s", "3000", "n2").stdout
    assert net.iperf("n1", "n2", "-t", "2")["end"]["sum_received"]["bytes"] > 50_000, "TCP has found what fits, too"
    report = net.end()["packets"]
    assert 1 < report["icmp_errors"] <= report["refused"]["too-long"]


def test_a_full_disk_costs_the_captures_and_nothing_else(emulate: Starter, tmp_path: Path) -> None:
    needs("mount", "umount", "ping")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "full", str(tmp_path)], check=True)
    try:
        net = emulate("--without-flows", "--pcap", str(tmp_path / "air"), "--out", str(tmp_path / "out"), hops=2)
        with pytest.raises(OSError, match="No space"):
            (tmp_path / "rest").write_bytes(bytes(1 << 20))
        said = net.run("n0", "ping", "-c", "60", "-i", "0.1", "-s", "1000", "n2").stdout
        assert " 0% packet loss" in said
        net.process.send_signal(signal.SIGINT)
        out, err = net.process.communicate(timeout=LONGEST)
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)
    assert any("captures or the trace are incomplete" in warning for warning in json.loads(out)["warnings"])
    assert net.process.returncode == 2
    assert f"{tmp_path / 'out'}: cannot be written: No space left" in err


def test_a_terminal_shows_flows_with_rates_and_round_trips(emulate: Starter) -> None:
    needs("iperf3")
    assert emulate.running == []
    terminal, end = pty.openpty()
    command = [str(program()), "run", str(CHAIN), "--set", "topology.hops=1", "--without-flows", "--name", "tterm"]
    with subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=end, text=True) as process:
        try:
            shown = read_until(terminal, "is ready")
            inside = [str(program()), "exec", "--emulation", "tterm"]
            for node, words in (("n1", ("-s", "-D", "-1")), ("n0", ("-c", "n1", "-t", "3"))):
                command = [*inside, node, "--", "iperf3", *words]
                subprocess.run(command, check=True, timeout=LONGEST, stdout=subprocess.DEVNULL)
            shown += read_until(terminal, "RTT")
        finally:
            process.terminate()
    os.close(end)
    os.close(terminal)
    assert re.search(r"\d s   \d+ frames   \d+ packets taken, \d+ delivered, \d+ lost   late by \d+ us", shown)
    row = next(line for line in reversed(shown.splitlines()) if "RTT" in line)
    assert re.search(r"tcp +n0:\d+ +n1:5201 +\d+\.\d kbit/s   RTT \d+\.\d ms", row), row


def test_a_shell_opens_in_a_node(emulate: Starter) -> None:
    net = emulate("--without-flows", hops=1)
    terminal, end = pty.openpty()
    environ = os.environ | {"SHELL": "/bin/sh", "PS1": "$ "}
    command = [str(program()), "exec", "--emulation", net.id, "n1"]
    with subprocess.Popen(command, stdin=end, stdout=end, stderr=end, env=environ, start_new_session=True) as shell:
        os.write(terminal, b"echo in $FOURHOP_NODE of $FOURHOP_EMULATION; getent hosts self; exit 3\n")
        shown = read_until(terminal, "10.0.0.2")
        assert shell.wait(10) == 3
    os.close(end)
    os.close(terminal)
    assert f"in n1 of {net.id}" in shown


def read_until(terminal: int, word: str) -> str:
    """Output on a terminal up to `word`."""
    shown = ""
    deadline = time.monotonic() + LONGEST
    while word not in shown:
        readable, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        assert readable, shown
        shown += os.read(terminal, 4096).decode()
    return shown


def test_prometheus_metrics(emulate: Starter) -> None:
    needs("ping")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    net = emulate("--without-flows", "--metrics", f"127.0.0.1:{port}", hops=2)
    net.run("n0", "ping", "-c", "3", "-i", "0.2", "n2")
    time.sleep(1.5)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as page:
        text = page.read().decode()
    assert "\nfourhop_packets_delivered_total 6\n" in text
    assert 'fourhop_flow_bytes_total{src="n0",src_port="0",dst="n2",dst_port="0",protocol="icmp"} 252\n' in text


GATEWAY = ROOT / "scenarios" / "gateway-chain.toml"


def test_errors_say_what_to_do(emulate: Starter) -> None:
    net = emulate("--without-flows", hops=1)
    for words, said in (
        (["exec", "--emulation", "nobody", "n0", "true"], 'no running emulation is called "nobody"; running: '),
        (["exec", "--emulation", net.id, "n7", "true"], 'no node is called "n7"; nodes: n0, n1'),
        (["emulate"], "FILE: name a scenario to emulate"),
        (["emulate", CHAIN, "--mtu", "2300"], "--mtu: found 2300, allowed: 576 to 2272 bytes"),
        (["emulate", CHAIN, "--name", "a/b"], '--name: found "a/b", allowed: 1 to 32 letters'),
        (["emulate", CHAIN, "--name", net.id], f"an emulation called {net.id} already exists; choose another --name"),
        (
            ["emulate", CHAIN, "--adhoc-receivers", "--tap", "--without-flows"],
            "--adhoc-receivers: needs simulated routing",
        ),
        (["emulate", CHAIN, "--adhoc-receivers", "--set", "c3tcp.enabled=true"], "leave out --tap and [c3tcp]"),
        (["emulate", CHAIN, "--tap"], "leave out the flows with --without-flows"),
        (["emulate", GATEWAY, "--tap"], 'flow "upload" cannot run together with programs'),
        (
            ["emulate", GATEWAY, "--tap", "--set", "gateway.kind=gap"],
            "[gateway] needs simulated routing: leave out --tap",
        ),
    ):
        done = fourhop(*words)
        assert done.returncode == 2, done.stdout
        assert said in done.stderr
