"""Moving nodes: scenarios, and the same movement files in ns-2.35."""

from __future__ import annotations

import math
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import pytest

import fourhop

HEAD = 'profile = "ns2"\nduration = "60s"\n[[flows]]\nfrom = 0\nto = 1\ntransport = "newreno"\n[mobility]\n'

# Commands that setdest does not write: in mid-movement, out of order, several at one instant, at speed 0, very slow.
AWKWARD = """\
# five nodes
$node_(0) set X_ 10.0
$node_(0) set Y_ 10.0
$node_(0) set Z_ 0.0
$node_(1) set X_ 300.5
$node_(1) set Y_ 20.25
$node_(2) set X_ 1.0
$node_(2) set Y_ 600.0
$node_(3) set X_ 400.0
$node_(3) set Y_ 400.0
$node_(4) set X_ 5.0
$node_(4) set Y_ 5.0
$god_ set-dist 0 1 2
$ns_ at 20.0 "$node_(0) setdest 10.0 600.0 12.5"
$ns_ at 2.0 "$node_(0) setdest 500.0 10.0 8.0"
$ns_ at 35.123456789 "$node_(0) setdest 300.0 300.0 0.0"
$ns_ at 41.0 "$node_(0) setdest 300.0 300.0 30.0"
$ns_ at 5.0 "$node_(1) setdest 600.0 20.25 3.0"
$ns_ at 5.0 "$node_(1) setdest 300.5 400.0 7.0"
$ns_ at 5.0 "$god_ set-dist 0 1 3"
$ns_ at 0.0 "$node_(2) setdest 600.0 1.0 19.75"
$ns_ at 45.0 "$node_(2) setdest 600.0 1.0 5.0"
$ns_ at 1.0 "$node_(3) setdest 400.0 400.0 10.0"
$ns_ at 30.0 "$node_(3) setdest 401.0 399.0 0.001"
"""

NS2 = """\
set ns_ [new Simulator]
$ns_ trace-all [open /dev/null w]
set god_ [create-god NODES]
set topo [new Topography]
$topo load_flatgrid 670 670
$ns_ node-config -adhocRouting DumbAgent -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \\
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \\
    -channel [new Channel/WirelessChannel] -topoInstance $topo \\
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
for {set i 0} {$i < NODES} {incr i} {
    set node_($i) [$ns_ node]
    $node_($i) random-motion 0
}
source "FILE"
proc show {} {
    global ns_ node_
    for {set i 0} {$i < NODES} {incr i} {
        $node_($i) log-movement
        puts [format "at %.6f %d %.6f %.6f" [$ns_ now] $i [$node_($i) set X_] [$node_($i) set Y_]]
    }
}
for {set t 0} {$t < 120} {incr t} { $ns_ at [expr $t * 0.5 + 0.0371] show }
$ns_ at 60 "exit 0"
$ns_ run
"""


def movement(path: Path) -> fourhop.Scenario:
    return fourhop.Scenario(f'{HEAD}model = "ns2"\nfile = "{path.name}"\n', str(path.with_name("scenario.toml")))


def setdest(options: str) -> str:
    tool = shutil.which("setdest")
    if tool is None:
        pytest.skip("setdest of ns-2 is not installed")
    # Its exit code is whatever is left in a register.
    return subprocess.run([tool, *options.split()], capture_output=True, text=True, check=False).stdout


FILES = {
    "awkward": lambda: AWKWARD,
    "setdest-1": lambda: setdest("-v 1 -n 20 -p 2 -M 20 -t 60 -x 670 -y 670"),
    "setdest-2": lambda: setdest("-v 2 -n 20 -s 1 -m 1 -M 20 -t 60 -P 1 -p 2 -x 670 -y 670"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_movement_file_means_in_ns2_what_it_means_here(name: str, tmp_path: Path) -> None:
    ns = shutil.which("ns")
    if ns is None:
        pytest.skip("ns-2 (Debian package ns2) is not installed")
    path = tmp_path / "moves.tcl"
    path.write_text(FILES[name](), encoding="utf-8")
    scenario = movement(path)
    nodes = scenario.places([0.0]).height
    script = tmp_path / "show.tcl"
    script.write_text(NS2.replace("NODES", str(nodes)).replace("FILE", str(path)), encoding="utf-8")
    output = subprocess.run([ns, str(script)], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    lines = [line.split()[1:] for line in output.splitlines() if line.startswith("at ")]
    theirs = {(float(t), int(node)): (float(x), float(y)) for t, node, x, y in lines}
    assert len(theirs) == 120 * nodes
    ours = scenario.places(sorted({t for t, _ in theirs}))
    apart = {(t, node): math.dist((x, y), theirs[t, node]) for t, node, x, y in ours.iter_rows()}
    assert apart.keys() == theirs.keys()
    worst = max(apart, key=apart.__getitem__)
    assert apart[worst] < 0.01, f"at (s, node) {worst}: {apart[worst]} m"
    assert len(set(theirs.values())) > 60, "nodes move"


RECORDED = Path(str(resources.files("fourhop"))) / "data" / "ns2"


def test_setdest_files_of_the_package_have_the_places_that_ns2_recorded() -> None:
    """Ten files, twelve instants each, rounded to a millimetre; `fourhop validate ns2` moves its nodes by them."""
    theirs: dict[str, dict[tuple[float, int], tuple[float, float]]] = {}
    for line in (RECORDED / "places.csv").read_text(encoding="utf-8").splitlines()[1:]:
        name, time, node, x, y = line.split(",")
        theirs.setdefault(name, {})[float(time), int(node)] = (float(x), float(y))
    assert len(theirs) == 10
    for name, places in theirs.items():
        ours = movement(RECORDED / "scenarios" / f"{name}.tcl").places(sorted({time for time, _ in places}))
        assert ours.height == len(places) == 12 * 20
        assert max(math.dist((x, y), places[time, node]) for time, node, x, y in ours.iter_rows()) < 0.01


def test_a_plain_scenario_may_name_a_movement_file(tmp_path: Path) -> None:
    (tmp_path / "moves.tcl").write_text(AWKWARD, encoding="utf-8")
    plain = tmp_path / "plain.txt"
    plain.write_text("rate 2\nmovement moves.tcl\nflow 0 1 0\n", encoding="utf-8")
    scenario = fourhop.Scenario.from_ns2(plain, duration="10s")
    assert scenario.places([3.5]).equals(movement(tmp_path / "moves.tcl").places([3.5]))
    plain.write_text("rate 2\nmovement moves.tcl\nnode 1 1\nflow 0 1 0\n", encoding="utf-8")
    with pytest.raises(fourhop.ScenarioError, match=r"plain\.txt:2:10: movement: .* allowed: one of the two"):
        fourhop.Scenario.from_ns2(plain)


def test_a_resolved_scenario_needs_no_movement_file(tmp_path: Path) -> None:
    path = tmp_path / "moves.tcl"
    path.write_text(AWKWARD, encoding="utf-8")
    scenario = movement(path)
    path.unlink()
    again = fourhop.Scenario(scenario.to_toml())
    times = [0.0, 3.5, 41.25]
    assert again.places(times).equals(scenario.places(times))
    assert fourhop.run(again.with_(duration="10s")).flows.height == 1


def test_errors_of_a_movement_file_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "moves.tcl"
    path.write_text("$node_(0) set X_ 1\n$node_(0) set Y_ up\n", encoding="utf-8")
    with pytest.raises(fourhop.ScenarioError, match=r'moves\.tcl:2:18: mobility\.file: found "up", allowed: a place'):
        movement(path)
