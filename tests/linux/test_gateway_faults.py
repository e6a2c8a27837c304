"""`fourhop-gateway` when it is killed, stopped, started twice, or loses its rules.

Every test has its own three namespaces, a host, the router with the gateway, and a node of the mesh, and sends to
nobody else.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.linux.border import (
    GAP,
    PROGRAM,
    Border,
    border,
    end,
    program,
    shortest,
)
from tests.linux.conftest import LONGEST, needs

__all__ = ["border"]


def test_when_it_is_killed_traffic_flows_and_the_next_start_cleans_up(border: Border) -> None:
    process = border.gateway()
    with ThreadPoolExecutor(1) as threads:
        transfer = threads.submit(border.transfer, 6_000_000)
        border.wait(lambda state: state["totals"]["waited"] > 0, "packets that wait")
        process.kill()
        # After TCP's retransmissions, the rest passes at once.
        assert transfer.result() < shortest(6_000_000)
    assert border.rules() != "", "nobody was there to take them away"
    process = border.gateway()
    assert border.rules().count("-A FORWARD") <= 4
    end(process)
    assert border.rules() == ""


def test_a_signal_while_it_starts_leaves_no_rules(border: Border) -> None:
    config = border.file()
    for delay in range(0, 120, 10):
        process = border.start("gate", PROGRAM, "run", "--config", config)
        time.sleep(delay / 1000)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=LONGEST)[1]
        # Before the gateway has done anything, the signal itself ends the process.
        assert process.returncode in (0, -signal.SIGTERM), said
        assert border.rules() == "", (delay, said)


def test_a_second_start_and_clean_are_refused_beside_a_running_gateway(border: Border) -> None:
    process = border.gateway()
    rules = border.rules()
    second = border.run("gate", PROGRAM, "run", "--config", border.folder / "gateway.toml")
    clean = border.run("gate", PROGRAM, "clean")
    for done in (second, clean):
        assert done.returncode == 2, done.stdout
        assert f"already runs in this network namespace (process {process.pid})" in done.stderr
    assert border.rules() == rules
    assert border.transfer(1_000_000) > shortest(1_000_000), "the first goes on pacing"
    # `clean` leaves other network namespaces alone.
    assert border.run("host", PROGRAM, "clean").returncode == 0
    end(process)
    assert border.run("gate", PROGRAM, "clean").returncode == 0


def test_a_user_who_cannot_clean_hears_so(border: Border) -> None:
    needs("setpriv")
    # Other users may not be able to read the folder in which the program was built.
    copy = Path(shutil.copy(PROGRAM, border.folder))
    nobody = ("setpriv", "--reuid=65533", "--regid=65533", "--clear-groups")
    done = border.run("gate", *nobody, copy, "clean")
    assert done.returncode == 2, done.stdout
    # If a service has run here, the lock refuses; otherwise the rules do.
    assert "run this as root" in done.stderr


def test_a_user_who_takes_its_name_first_stops_nothing(border: Border) -> None:
    needs("setpriv")
    script = "import socket, time; s = socket.socket(socket.AF_UNIX); s.bind('\\0fourhop-gateway'); s.listen(); "
    script += "print('has it', flush=True); time.sleep(60)"
    nobody = ("setpriv", "--reuid=65533", "--regid=65533", "--clear-groups")
    squatter = border.start("gate", *nobody, sys.executable, "-c", script)
    assert squatter.stdout is not None
    assert squatter.stdout.readline() == "has it\n", squatter.communicate()
    process = border.gateway()
    second = border.run("gate", PROGRAM, "run", "--config", border.folder / "gateway.toml")
    assert f"already runs in this network namespace (process {process.pid})" in second.stderr
    end(process)


def test_rules_that_another_program_flushes_come_back(border: Border) -> None:
    border.gateway()
    assert border.transfer(300_000) > shortest(300_000)
    before = border.rules()
    for times in (1, 2):
        for tables in ("iptables", "ip6tables"):
            border.run("gate", tables, "-t", "mangle", "-F")
            border.run("gate", tables, "-t", "mangle", "-X")
        border.run("gate", "nft", "flush", "ruleset")

        def has_restored(state: dict[str, Any], least: int = times) -> bool:
            return bool(state["totals"]["rules_restored"] >= least)

        border.wait(has_restored, "the rules")
        assert border.rules() == before
        assert border.transfer(300_000) > shortest(300_000)
    state = border.status()
    assert (state["state"], state["problems"]) == ("healthy", [])
    assert program("status", "--socket", border.socket).returncode == 0


def test_it_is_not_called_healthy_while_nothing_comes_to_its_queue(border: Border) -> None:
    border.gateway()
    assert border.status()["state"] == "idle"
    shown = program("status", "--socket", border.socket).stdout
    assert "no packet has reached the queue" in shown
    assert "healthy" not in shown


def test_it_is_impaired_while_a_device_of_the_mesh_is_down(border: Border) -> None:
    border.gateway()
    for state, problems in (("down", ["device mesh0 is down"]), ("up", [])):
        assert border.run("gate", "ip", "link", "set", "mesh0", state).returncode == 0
        border.wait(lambda status, problems=problems: status["problems"] == problems, state)  # type: ignore[misc]


def guards(process: subprocess.Popen[str]) -> list[int]:
    """The gateway's guards, without the short-lived programs that read the rules."""
    threads = Path(f"/proc/{process.pid}/task").iterdir()
    children = [int(pid) for thread in threads for pid in (thread / "children").read_text().split()]
    return [pid for pid in children if words(pid)[1:] == ["guard"]]


def words(pid: int) -> list[str]:
    """The command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").rstrip("\0").split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return []


def test_a_stopped_gateway_holds_nothing_up_and_goes_on_pacing_afterwards(border: Border) -> None:
    process = border.gateway()
    with ThreadPoolExecutor(1) as threads:
        # 12 s of pacing, stopped for most of them: queued packets leave, too.
        transfer = threads.submit(border.transfer, 6_000_000)
        border.wait(lambda state: state["totals"]["waited"] > 0, "packets that wait")
        process.send_signal(signal.SIGSTOP)
        # At most two seconds until packets pass; the rest is for a busy machine.
        assert transfer.result() < shortest(6_000_000)
    assert border.transfer(1_000_000) < shortest(1_000_000)
    process.send_signal(signal.SIGCONT)
    # The kernel forwards at most 64 kB as one packet; at least 17 belong to the second transfer.
    state = border.wait(lambda state: state["totals"]["overload"] > 1_000_000 // 65_536, "packets that passed unpaced")
    assert state["totals"]["given_up"] == 1
    assert border.transfer(1_000_000) > shortest(1_000_000), "it has its queues again"
    after = border.status()
    assert after["state"] == "healthy"
    assert after["totals"]["overload"] == border.status()["totals"]["overload"], "pacing counts nothing"
    assert "packets passed unpaced: this program was too slow, or did not run" in end(process)
    assert border.rules() == ""


def test_ordinary_traffic_is_no_overload(border: Border) -> None:
    border.gateway()
    for sizes in (300_000, 1_000_000):
        assert border.transfer(sizes) > shortest(sizes)
    # Rules whose counters start again count nothing twice.
    border.run("gate", "iptables", "-t", "filter", "-F")
    border.wait(lambda state: state["totals"]["rules_restored"] > 0, "the rules")
    assert border.transfer(300_000) > shortest(300_000)
    totals = border.status()["totals"]
    assert totals["overload"] == 0
    assert totals["packets"] > 1_600_000 // 1_448


def test_what_a_killed_gateway_holds_passes(border: Border) -> None:
    # The sender's whole window waits in the gateway.
    process = border.gateway(pace=f'{GAP}\nsojourn = "none"')
    (guard,) = guards(process)
    queues = Path(f"/proc/{guard}/net/netfilter/nfnetlink_queue")
    with ThreadPoolExecutor(1) as threads:
        transfer = threads.submit(border.transfer, 6_000_000)
        deadline = time.monotonic() + LONGEST
        waiting, again, since = 0, 0, time.monotonic()
        # Until the sender has learned that round trips are long: at first its timeouts mistake waiting for loss.
        while waiting < 50 or time.monotonic() < since + 1.5:
            assert time.monotonic() < deadline, (waiting, again)
            assert not transfer.done(), (waiting, again)
            time.sleep(0.05)
            if (now := border.retransmitted("host")) != again:
                again, since = now, time.monotonic()
            waiting = max(int(line.split()[2]) for line in queues.read_text().splitlines())
        process.kill()
        transfer.result()
    # The kernel would drop all packets queued for a process that ends. A busy machine causes some retransmissions.
    assert border.retransmitted("host") - again < waiting / 2
    process = border.gateway()
    assert border.transfer(300_000) > shortest(300_000)
    # Without its guard, the gateway keeps running and starts another one.
    (guard,) = guards(process)
    os.kill(guard, signal.SIGKILL)
    deadline = time.monotonic() + LONGEST
    while guards(process) in ([], [guard]):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert border.transfer(300_000) > shortest(300_000)
