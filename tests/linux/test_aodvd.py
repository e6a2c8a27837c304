"""The routing daemon in emulated nodes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.linux.aodvd import PROGRAM, address, daemons
from tests.linux.conftest import LONGEST, Starter, needs
from tests.linux.test_aodvd_mesh import SECRET
from tests.linux.test_soak import Clock, clock

__all__ = ["clock"]

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="there is no fourhop-aodvd: `make linux` builds it")


def test_packets_wait_for_their_route_and_traffic_alone_keeps_it(emulate: Starter) -> None:
    needs("ping", "ip")
    with daemons(emulate, hops=3) as mesh:
        mesh.start(*range(4))
        time.sleep(2)
        ping = mesh.net.run("n0", "ping", "-c", "3", "-i", "0.2", "n3").stdout
        assert " 0% packet loss" in ping, "the first one waited in the daemon"
        assert "ttl=62" in ping
        assert f"{address(3)} via {address(1)} dev mesh0 proto 142" in mesh.kernel(0)
        mesh.wait(lambda: mesh.routes(0).get(address(3), {}).get("used", False), 5, "traffic that is seen")
        route = mesh.routes(0)[address(3)]
        assert (route["next_hop"], route["hops"], route["used"]) == (address(1), 3, True)
        assert address(0) in mesh.routes(1)[address(3)]["precursors"]
        requests = mesh.show(0)["counters"]["rreq_originated"]
        assert " 0% packet loss" in mesh.net.run("n0", "ping", "-c", "8", "-i", "1", "n3").stdout
        assert mesh.show(0)["counters"]["rreq_originated"] == requests, "longer than ACTIVE_ROUTE_TIMEOUT, no search"
        mesh.wait(lambda: address(3) not in mesh.routes(0), 12, "the end of an unused route")
        assert address(3) not in mesh.kernel(0)
        search = next(one for one in mesh.show(0)["searches"] if one["destination"] == address(3))
        assert search["found"] == 1
        assert 0 < search["first_s"] < 5


def test_a_signal_while_it_starts_leaves_no_routes_rules_and_settings(emulate: Starter) -> None:
    needs("ip")
    with daemons(emulate, hops=1) as mesh:

        def system() -> list[str]:
            routes, forwarding = ("ip", "-4", "route", "show", "table", "all"), ("sysctl", "net.ipv4.ip_forward")
            return [mesh.net.run("n0", *words).stdout for words in (("ip", "rule"), routes, forwarding)]

        mesh.net.run("n0", "sysctl", "-w", "net.ipv4.ip_forward=0")
        before, words = system(), (str(PROGRAM), "run", "--config", str(mesh.config(0)))
        for delay in range(0, 60, 5):
            process = mesh.net.start("n0", *words)
            time.sleep(delay / 1000)
            process.terminate()
            said, _ = process.communicate(timeout=LONGEST)
            # Before the daemon has done anything, the signal itself ends the process.
            assert process.returncode in (0, -signal.SIGTERM), said
            assert system() == before, (delay, said)


def test_it_ends_as_if_it_had_not_been_there_and_the_next_cleans_up_after_a_kill(emulate: Starter) -> None:
    needs("ping", "ip")
    with daemons(emulate, hops=1) as mesh:
        net = mesh.net

        def system() -> tuple[str, str, str]:
            names = ("net.ipv4.ip_forward", "net.ipv4.conf.mesh0.rp_filter", "net.ipv4.conf.mesh0.accept_redirects")
            rules, routes = (
                net.run("n0", "ip", *words).stdout for words in (("rule",), ("-4", "route", "show", "table", "all"))
            )
            return rules, routes, net.run("n0", "sysctl", *names).stdout

        net.run("n0", "sysctl", "-w", "net.ipv4.ip_forward=0", "net.ipv4.conf.mesh0.accept_redirects=1")
        before = system()
        mesh.start(0, 1)
        mesh.processes[0].send_signal(signal.SIGHUP)
        assert net.run("n0", "ping", "-c", "2", "-i", "0.3", "n1").returncode == 0
        assert "lookup 142" in system()[0]
        assert "net.ipv4.ip_forward = 1" in system()[2]
        assert "SIGHUP ignored" in mesh.end(0)
        assert system() == before
        kept = json.loads(mesh.state_file(0).read_text(encoding="utf-8"))
        assert kept["variables"] == []
        mesh.start(0, keep=True)
        state = mesh.show(0)
        assert state["seqno"] == kept["seqno"], "numbers go on, exactly"
        assert not state["quiet"]
        mesh.wait(lambda: address(1) in mesh.kernel(0), 10, "a route")
        mesh.end(0, "KILL")
        assert "lookup 142" in system()[0], "a killed daemon cleans nothing up"
        kept = json.loads(mesh.state_file(0).read_text(encoding="utf-8"))
        assert kept["seqno"] > state["seqno"], "ahead of what was sent"
        mesh.start(0, keep=True)
        assert system()[0].count("lookup 142") == 1
        said = mesh.end(0)
        assert "a daemon was killed: removed" in said
        assert system() == before
        mesh.start(0, keep=True)
        assert "stop it first" in mesh.clean(0).stderr, "not under a daemon that runs"
        mesh.end(0, "KILL")
        assert mesh.clean(0).returncode == 0
        assert system() == before
        again = mesh.clean(0).stdout
        assert again == "removed 0 routes and rules, restored 0 variables\n"


def test_a_second_start_changes_nothing_beside_a_running_daemon(emulate: Starter) -> None:
    needs("ping", "ip")
    with daemons(emulate, hops=1) as mesh:
        mesh.start(0, 1)
        mesh.wait(lambda: address(1) in mesh.kernel(0), 10, "a route")
        before = mesh.net.run("n0", "ip", "route", "show", "table", "all").stdout
        copy = mesh.folder / "copy.toml"
        text = mesh.config(0).read_text(encoding="utf-8")
        copy.write_text(text.replace(".sock", ".copy.sock").replace(".json", ".copy.json"), encoding="utf-8")
        second = mesh.net.run("n0", str(PROGRAM), "run", "--config", str(copy))
        assert second.returncode == 2
        assert "fourhop-aodvd already runs in this network namespace (process " in second.stderr
        assert mesh.net.run("n0", "ip", "route", "show", "table", "all").stdout == before
        assert mesh.net.run("n0", "ping", "-c", "2", "-i", "0.3", "n1").returncode == 0


def test_routes_and_rules_that_another_program_flushes_come_back(emulate: Starter) -> None:
    needs("ping", "ip")
    with daemons(emulate, hops=1) as mesh:
        mesh.start(0, 1)
        net = mesh.net
        mesh.wait(lambda: address(1) in mesh.kernel(0), 10, "a route")

        def system() -> tuple[str, str]:
            rules, routes = (
                net.run("n0", "ip", *words).stdout for words in (("rule",), ("route", "show", "table", "142"))
            )
            return rules, "".join(sorted(routes.splitlines(keepends=True)))

        before = system()
        assert "lookup 142" in before[0]
        losses = (
            ("ip", "route", "flush", "table", "142"),
            ("ip", "rule", "del", "lookup", "142"),
            ("ip", "link", "set", "aodv0", "down"),
        )
        for number, words in enumerate(losses):
            restored = mesh.show(0)["daemon"]["restored"]
            assert restored >= number
            assert net.run("n0", *words).returncode == 0

            def is_restored(before: int = restored) -> bool:
                return bool(mesh.show(0)["daemon"]["restored"] > before)

            mesh.wait(is_restored, 30, " ".join(words))
            assert system() == before, words
        assert net.run("n0", "ping", "-c", "2", "-i", "0.3", "n1").returncode == 0
        assert mesh.show(0)["refused"].get("own-address", 0) == 0, "own broadcasts are not refused: they are own"
        assert "restored (" in mesh.end(0)


def test_a_first_start_keeps_quiet_for_delete_period(emulate: Starter) -> None:
    with daemons(emulate, hops=1) as mesh:
        mesh.start(1)
        mesh.start(0, keep=True)
        assert mesh.show(0)["quiet"]
        time.sleep(3)
        assert address(0) not in mesh.routes(1)
        assert mesh.show(0)["daemon"]["kept_back"] > 0
        waited = mesh.wait(lambda: address(0) in mesh.routes(1), 20, "the end of DELETE_PERIOD")
        assert waited + 3 > 8
        assert mesh.show(0)["refused"] == {}, "the neighbour's HELLO messages are none of what is refused"
        assert "silent for 15 s: " in mesh.end(0)


def test_a_broken_link_is_reported_backwards_and_what_comes_back_is_found(emulate: Starter) -> None:
    """A node that is killed and comes back."""
    needs("ping")
    with daemons(emulate, hops=3) as mesh:
        mesh.start(*range(4))
        time.sleep(2)
        net = mesh.net
        net.start("n0", "ping", "-i", "0.2", "-w", "40", "n3")
        mesh.wait(lambda: address(3) in mesh.routes(0), 10, "a route")
        mesh.end(2, "KILL")
        net.run("n2", "ip", "link", "set", "mesh0", "down")
        mesh.wait(lambda: address(3) not in mesh.routes(0), 10, "an error")
        mesh.wait(lambda: mesh.show(1)["counters"]["rerr_sent"] >= 1, 5, "the error as it is counted")
        mesh.wait(lambda: mesh.show(0)["counters"]["rerr_received"] >= 1, 5, "the error where it ended")
        net.run("n2", "ip", "link", "set", "mesh0", "up")
        mesh.start(2, keep=True)
        mesh.wait(lambda: address(3) in mesh.routes(0), 20, "the way back")
        assert " 0% packet loss" in net.run("n0", "ping", "-c", "3", "-i", "0.2", "n3").stdout


def test_errors_say_what_to_do(emulate: Starter) -> None:
    with daemons(emulate, hops=1) as mesh:
        config = mesh.config(0)
        config.write_text(config.read_text(encoding="utf-8").replace("mesh0", "mesh7"), encoding="utf-8")
        done = mesh.net.run("n0", str(PROGRAM), "check", "--config", str(config))
        assert done.returncode == 2
        assert 'interfaces: found "mesh7", allowed: a device of this machine' in done.stderr
        done = mesh.net.run("n0", str(PROGRAM), "run", "--config", str(config))
        assert (done.returncode, 'interfaces: found "mesh7"' in done.stderr) == (2, True), done.stderr
        done = mesh.net.run("n1", str(PROGRAM), "check", "--config", str(mesh.config(0)))
        assert "address: found 10.0.0.1, which is not an address of this machine" in done.stderr
        done = mesh.net.run("n1", str(PROGRAM), "run", "--config", str(mesh.config(0)))
        assert (done.returncode, "error: address: found" in done.stderr) == (2, True)
        done = mesh.net.run("n0", str(PROGRAM), "check", "--config", str(mesh.config(0)))
        assert (done.returncode, "10.0.0.1 over mesh0" in done.stdout) == (0, True), done.stderr
        mesh.start(0)
        again = mesh.net.run("n0", str(PROGRAM), "run", "--config", str(mesh.config(0)))
        assert "but another daemon listens there" in again.stderr
        assert re.search(
            r"destination +next hop",
            mesh.net.run("n0", str(PROGRAM), "routes", "--control", str(mesh.control(0))).stdout,
        )


def test_check_finds_what_run_would_refuse(emulate: Starter) -> None:
    with daemons(emulate, hops=1) as mesh:
        config = mesh.config(0, tables='[signal]\nsource = "monitor"\nmonitor = "mon7"\n')
        text = config.read_text(encoding="utf-8").replace('user = "root"', 'user = "nobody7"')
        keys = f'[authentication]\nsign_with = 1\nkeys = [{{ id = 1, file = "{mesh.folder}/none" }}]\n'
        config.write_text(text + keys, encoding="utf-8")
        done = mesh.net.run("n0", str(PROGRAM), "check", "--config", str(config))
        assert done.returncode == 2
        for words in (
            'signal.monitor: found "mon7", allowed: a device of this machine',
            "authentication.keys: ",
            "user nobody7: this machine has no such user",
        ):
            assert words in done.stderr, done.stderr


def test_an_interface_that_goes_is_a_problem_and_one_that_is_made_again_ends_it(tmp_path: Path) -> None:
    needs("ip")
    if os.geteuid() != 0:
        pytest.skip("needs root")
    space, control, file = f"fourhop-t{os.getpid()}", tmp_path / "control", tmp_path / "aodvd.toml"
    file.write_text(
        'address = "10.0.0.1"\ninterfaces = ["mesh0"]\nmesh = ["10.0.0.0/9"]\n[signal]\nsource = "none"\n'
        f'[system]\nuser = "root"\ncontrol = "{control}"\nstate = "{tmp_path}/state"\n',
        encoding="utf-8",
    )

    def inside(words: str) -> None:
        subprocess.run(["ip", *words.split()], check=True, timeout=LONGEST)

    def made() -> None:
        inside(f"-n {space} link add mesh0 type veth peer name far")
        inside(f"-n {space} address add 10.0.0.1/32 dev mesh0")
        inside(f"-n {space} link set far up")
        inside(f"-n {space} link set mesh0 up")

    def has(problems: list[str]) -> bool:
        words = [str(PROGRAM), "routes", "--json", "--control", str(control)]
        said = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST, check=False).stdout
        return bool(said) and json.loads(said)["problems"] == problems

    inside(f"netns add {space}")
    try:
        made()
        words = ["ip", "netns", "exec", space, str(PROGRAM), "run", "--config", str(file)]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as daemon:
            try:
                for change, problems in (
                    ("set lo up", []),
                    ("set mesh0 down", ["device mesh0 is down"]),
                    ("set mesh0 up", []),
                    ("delete mesh0", ["device mesh0 has disappeared"]),
                ):
                    inside(f"-n {space} link {change}")
                    deadline = time.monotonic() + LONGEST
                    while not has(problems):
                        assert daemon.poll() is None, daemon.communicate()
                        assert time.monotonic() < deadline, change
                        time.sleep(0.1)
                made()
                said = daemon.communicate(timeout=LONGEST)[1]
            finally:
                daemon.kill()
        assert daemon.returncode == 2
        assert "error: mesh0 was removed and is back: restart the daemon" in said
    finally:
        inside(f"netns delete {space}")


def test_a_disk_that_is_full_ends_no_routing(emulate: Starter, clock: Clock) -> None:
    needs("ping")
    with daemons(emulate, hops=1, before=clock.words) as mesh:
        (mesh.folder / "key").write_bytes(SECRET)
        mesh.more = f'[authentication]\nsign_with = 1\nkeys = [{{ id = 1, file = "{mesh.folder}/key" }}]\n'
        mesh.start(0, 1)
        mesh.ping(0, 1, 3)
        # Blocks the temporary file that replaces the state file.
        obstacle = mesh.state_file(0).with_suffix(".new")
        obstacle.mkdir()
        before = mesh.state_file(0).read_bytes()
        # Two hours later the time in the file has passed, so the file must be written again.
        clock.step(7_200)
        mesh.wait(lambda: mesh.show(0)["daemon"]["unwritten"] > 0, LONGEST, "a file that cannot be written")
        assert "cannot write the numbers that a restart needs" in mesh.show(0)["problems"][0]
        mesh.ping(0, 1, 3)
        assert mesh.state_file(0).read_bytes() == before
        obstacle.rmdir()
        mesh.wait(lambda: mesh.show(0)["problems"] == [], LONGEST, "a file that is written again")
        assert mesh.state_file(0).read_bytes() != before


def test_the_state_is_shown_in_a_terminal(emulate: Starter) -> None:
    needs("ping")
    with daemons(emulate, hops=2) as mesh:
        mesh.start(0, 1, 2)
        mesh.net.run("n0", "ping", "-c", "1", "-W", "5", "n2")
        shown = subprocess.Popen(
            [str(PROGRAM), "top", "--control", str(mesh.control(0))], stdout=subprocess.PIPE, text=True
        )
        time.sleep(2.5)
        shown.terminate()
        said, _ = shown.communicate(timeout=LONGEST)
        assert shown.returncode == 0, "a signal is how it ends"
        assert said.count(address(2)) >= 2, "each second a picture, with the route"
        assert (
            address(1)
            in subprocess.run(
                [str(PROGRAM), "neighbours", "--control", str(mesh.control(0))],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )


def test_the_manual_page_is_that_of_the_program() -> None:
    said = subprocess.run([str(PROGRAM), "manual"], capture_output=True, text=True, timeout=LONGEST, check=True).stdout
    assert said == (ROOT / "packaging" / "fourhop-aodvd.8").read_text(encoding="utf-8"), "`make docs` writes it"
