"""The page of `fourhop view` compared with the tables of runs: every frame, position and value drawn."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fourhop import Scenario, run
from fourhop.trace import Request
from fourhop.view import Blobs, Server, Tables, write
from fourhop.view.live import Live
from tests import view_trace
from tests.browser import CHROMIUM, Chromium
from tests.conftest import ROOT, Command
from tests.test_view import serving
from tests.view_page import LABELS, browser, exported, page, redrawn, show, words
from tests.view_trace import MS

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

__all__ = ["browser", "page"]


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulator traces of a chain on which frames collide and of a moving network."""
    folder = tmp_path_factory.mktemp("traced")
    chain = Scenario.chain(hops=6, transport="newreno", duration="6s")
    run(chain, trace=folder / "chain")
    run(ROOT / "scenarios" / "random-waypoint.toml", trace=Request(folder / "moving", end="4s"))
    for name in ("chain", "moving"):
        write(Blobs(Tables(folder / name)), folder / f"{name}.html")
    return folder


def test_what_is_drawn_of_a_run_is_what_its_tables_say(browser: Chromium, traced: Path) -> None:
    frames, receptions, mac = (
        pd.read_parquet(traced / "chain" / f"{name}.parquet") for name in ("frames", "receptions", "mac")
    )
    for begin, end in ((0, 6000 * MS), (2000 * MS, 2400 * MS), (3017 * MS + 1, 3017 * MS + 90_001)):
        show(browser, traced / "chain.html", f"from={begin}&to={end}&t={begin}")
        shown = exported(browser, "lanes")[1]
        assert shown["mode"] == "frames"
        assert shown["frames"] == ((frames.start_ns < end) & (frames.end_ns >= begin)).sum()
        meant = receptions.merge(frames[["frame", "dst"]], left_on=["frame", "node"], right_on=["frame", "dst"])
        lost = meant[~meant.fate.isin(["received", "overheard"])]
        assert shown["losses"] == ((lost.end_ns >= begin) & (lost.end_ns < end)).sum()
        drawn = mac[mac.state != "transmitting"]
        assert shown["states"] == ((drawn.start_ns >= begin) & (drawn.start_ns <= end)).sum()
    assert (receptions.fate == "collision").sum() > 20, "a chain of six hops has collisions"
    assert not browser.complaints


def test_each_instant_of_the_map_is_what_the_tables_say(browser: Chromium, traced: Path) -> None:
    frames = pd.read_parquet(traced / "chain" / "frames.parquet")
    show(browser, traced / "chain.html", "from=2000000000&to=2400000000")
    busiest = frames[(frames.start_ns > 2000 * MS) & (frames.start_ns < 2400 * MS)].start_ns
    several = 0
    for at in (busiest + 1).tolist()[::7]:
        browser.js(f"fourhop.model.seek({at})")
        on_air = frames[(frames.start_ns <= at) & (frames.end_ns > at)].frame.tolist()
        assert sorted(exported(browser, "map")[1]["frames"]) == sorted(on_air)
        several += len(on_air) > 1
    assert several > 3, "some send at once"


def test_nodes_are_where_the_tables_say(browser: Chromium, traced: Path) -> None:
    positions = pd.read_parquet(traced / "moving" / "positions.parquet")
    assert positions.groupby("node").x_m.nunique().max() > 5, "they move"
    show(browser, traced / "moving.html")
    for at in (0, 1234 * MS, 3900 * MS):
        browser.js(f"fourhop.model.seek({at})")
        places = exported(browser, "map")[1]["places"]
        for node, way in positions.groupby("node"):
            for axis, column in enumerate(("x_m", "y_m")):
                assert places[node][axis] == pytest.approx(np.interp(at, way.time_ns, way[column]), abs=1e-6)


def test_plots_have_each_value_of_the_sender(browser: Chromium, traced: Path) -> None:
    tcp = pd.read_parquet(traced / "chain" / "tcp.parquet")
    show(browser, traced / "chain.html")
    plots = dict(browser.js("fourhop.plots.plots().map(plot => [plot.id, plot.lines.map(line => line.value)])"))
    sender = tcp[(tcp.flow == 0) & (tcp.end == "sender")]
    assert plots["window"][0] == sender.cwnd_segments.dropna().tolist()
    assert plots["rtt"][1] == pytest.approx((sender.srtt_ns.dropna() / 1e6).tolist())
    queues = pd.read_parquet(traced / "chain" / "queues.parquet")
    longest = queues[queues.queue == "interface"].packets.max()
    assert max(max(line) for line in plots["queue"]) == longest


def test_a_scenario_is_run_and_shown(fourhop: Command, chain: Path, tmp_path: Path, browser: Chromium) -> None:
    made = fourhop("view", chain, "--html", "page.html", "--set", "duration=2s", "--seed", "3")
    assert made.returncode == 0, made.stderr
    show(browser, tmp_path / "page.html")
    assert browser.js("fourhop.trace.head.span[1]") == 2000 * MS
    assert browser.js("fourhop.trace.head.seed") == 3
    assert browser.js("document.title") == "chain · fourhop view"


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_headers_are_what_tshark_reads(fourhop: Command, chain: Path, tmp_path: Path, browser: Chromium) -> None:
    made = fourhop("run", chain, "--set", "duration=2s", "--trace", "trace", "--pcap", "captures")
    assert made.returncode == 0, made.stderr
    made = fourhop("view", "trace", "--html", "page.html")
    assert made.returncode == 0, made.stderr
    frames = pd.read_parquet(tmp_path / "trace" / "frames.parquet")
    names = [
        *("wlan.fc.type_subtype", "wlan.duration", "wlan.seq", "wlan.fc.retry"),
        *("ip.len", "tcp.seq_raw", "tcp.ack_raw", "tcp.len"),
    ]
    # At its sender, a frame's timestamp is the instant at which it begins.
    command = ["tshark", "-n", "-r", str(tmp_path / "captures" / "node-1.pcap"), "-T", "fields"]
    command += [word for name in ("frame.time_epoch", *names) for word in ("-e", name)]
    read = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in read.stdout.splitlines()]
    said = {round(float(row[0]) * 1e9): dict(zip(names, row[1:], strict=True)) for row in rows}
    show(browser, tmp_path / "page.html")
    sent = frames[frames.node == 1]
    for kind, content in (
        ("rts", "tcp-data"),
        ("cts", "tcp-data"),
        ("ack", "tcp-data"),
        ("data", "tcp-data"),
        ("data", "tcp-ack"),
    ):
        frame = sent[(sent.kind == kind) & (sent.content == content)].iloc[3]
        browser.js(f"location.hash = 'from=0&to=50000000&t={frame.start_ns}&frame={frame.frame}'")
        browser.wait(f"document.getElementById('facts').innerText.includes('frame.number\\n{frame.frame}\\n')")
        shown = dict(itertools.pairwise(browser.js("document.getElementById('facts').innerText").splitlines()))
        theirs = said[int(frame.start_ns)]
        # For frames without data, the page omits fields that are always 0.
        compared = [name for name in names if theirs[name] and (kind == "data" or name in shown)]
        assert {"wlan.fc.type_subtype", "wlan.duration"} <= set(compared)
        assert ("tcp.seq_raw" in compared) == (kind == "data")
        for name in compared:
            ours = shown[name].split()[0].rstrip(",")
            value = {"False": "0", "True": "1"}.get(theirs[name], theirs[name])
            assert int(ours, 0) == int(value, 0), name


def test_the_first_view_shows_something_in_every_panel(
    fourhop: Command, chain: Path, tmp_path: Path, browser: Chromium
) -> None:
    made = fourhop("view", chain, "--html", "page.html", "--set", "duration=3s", "--set", "traffic.start=2s")
    assert made.returncode == 0, made.stderr
    show(browser, tmp_path / "page.html")
    first = browser.js("fourhop.trace.head.opens.from")
    assert first >= 2000 * MS
    assert browser.js("fourhop.model.from") < first < browser.js("fourhop.model.t") < browser.js("fourhop.model.to")
    redrawn(browser)
    shown = exported(browser, "map")[1]
    assert shown["frames"] == [browser.js("fourhop.model.selected.id")], "a frame with data is on its way"
    assert exported(browser, "sequence")[1]["arrows"] > 0
    assert browser.js("document.getElementById('facts').innerText").startswith("SYN from")
    assert browser.js("fourhop.plots.plots().length") > 0


def test_the_strip_of_the_whole_run_is_dragged_and_moved_by_keys(browser: Chromium, traced: Path) -> None:
    show(browser, traced / "chain.html")
    browser.wait("fourhop.trace.overview !== null")
    box = browser.js(
        "(({x, y, width, height}) => [x, y, width, height])(document.getElementById('run').getBoundingClientRect())"
    )
    left, width = box[0] + 74, box[2] - 74

    def drag(*parts: float) -> None:
        for kind, part in zip(
            ("mousePressed", *["mouseMoved"] * (len(parts) - 2), "mouseReleased"), parts, strict=True
        ):
            at = {"x": left + part * width, "y": box[1] + box[3] / 2}
            browser.call("Input.dispatchMouseEvent", type=kind, **at, button="left", buttons=1, clickCount=1)

    end = browser.js("fourhop.model.span[1]")
    for to in (0.75, 0.25):
        drag(0.5, to, to)
        assert browser.js("fourhop.model.t") == pytest.approx(to * end, rel=0.01)
        assert browser.js("fourhop.model.from") < to * end < browser.js("fourhop.model.to"), "the other panels go along"
    browser.js("document.getElementById('run').focus()")
    browser.press("ArrowRight")
    assert browser.js("fourhop.model.t") == pytest.approx(0.26 * end, rel=0.01)
    assert browser.js("document.getElementById('run').getAttribute('role')") == "slider"
    redrawn(browser)
    assert float(browser.js("document.getElementById('run').getAttribute('aria-valuenow')")) == pytest.approx(
        0.26 * end / 1e9, rel=0.01
    )
    sending = browser.js("[...fourhop.trace.overview.activity(600).sending]")
    frames = pd.read_parquet(traced / "chain" / "frames.parquet")
    share = (frames.end_ns - frames.start_ns).sum() / end
    assert sum(sending) / 600 == pytest.approx(share, rel=0.05), "how many nodes send on average"


@pytest.mark.parametrize("pressed", ["[data-step=loss]", "#in", "#only"])
def test_space_plays_after_something_was_clicked_and_presses_what_tab_has_reached(
    browser: Chromium, traced: Path, pressed: str
) -> None:
    show(browser, traced / "chain.html")
    box = browser.js(f"(({{x, y}}) => [x, y])(document.querySelector('{pressed}').getBoundingClientRect())")
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=box[0] + 5, y=box[1] + 5, button="left", clickCount=1)
    redrawn(browser)
    browser.press("Space")
    assert browser.js("fourhop.model.playing")
    browser.press("Space")
    assert not browser.js("fourhop.model.playing")
    browser.js(f"document.querySelector('{pressed}').focus(); window.pressed = 0")
    browser.js(f"document.querySelector('{pressed}').addEventListener('click', () => window.pressed++)")
    browser.press("Space")
    assert browser.js("[window.pressed, fourhop.model.playing]") == [1, False]


@pytest.fixture(scope="module")
def mesh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mesh of 25 nodes with long names, 22 downloads from the Internet and one upload."""
    folder = tmp_path_factory.mktemp("mesh")
    text = 'profile = "standard"\nduration = "2s"\n[topology]\nkind = "grid"\nrows = 5\ncolumns = 5\nspacing = "100m"\n'
    text += '[routing]\nprotocol = "static"\n[wired]\ngateways = [12]\nnodes = ["internet"]\n'
    text += "".join(f'[[nodes]]\nnode = {node}\nname = "house-of-family-{node}"\n' for node in range(25))
    others = [node for node in range(25) if node != 12]
    ends = [(str(others[23]), '"internet"')] + [('"internet"', str(node)) for node in others[:22]]
    text += "".join(
        f'[[flows]]\nname = "flow of {at}"\nfrom = {source}\nto = {to}\nstart = "{50 * at}ms"\ntransport = "newreno"\n'
        for at, (source, to) in enumerate(ends)
    )
    run(Scenario(text), trace=folder / "mesh")
    return write(Blobs(Tables(folder / "mesh")), folder / "mesh.html")


def test_several_losses_at_a_node_have_one_reason(browser: Chromium, traced: Path) -> None:
    frames, receptions = (pd.read_parquet(traced / "chain" / f"{name}.parquet") for name in ("frames", "receptions"))
    meant = receptions.merge(frames[["frame", "dst"]], left_on=["frame", "node"], right_on=["frame", "dst"])
    lost = meant[~meant.fate.isin(["received", "overheard"])].sort_values("end_ns")
    after = lost.end_ns.max()
    show(browser, traced / "chain.html", f"from=0&to={6000 * MS}&t={after}&speed=10")
    svg, shown = exported(browser, "map")
    recent = set(lost.fate)
    reasons = [text for text in words(svg) if text in recent]
    assert shown["losses"] > len(reasons) >= 1
    assert len(reasons) <= 7, "one for each node at most"


def test_a_download_is_shown_from_the_internet_to_its_node(browser: Chromium, mesh: Path) -> None:
    show(browser, mesh)
    names = browser.js("fourhop.trace.head.nodes.map(node => node.name)")
    for flow, ends in ((0, ("house-of-family-24", "internet")), (1, ("internet", "house-of-family-0"))):
        browser.js(f"fourhop.model.flow = {flow}; fourhop.model.window(0, {900 * MS})")
        redrawn(browser)
        shown = exported(browser, "sequence")[1]
        path = [names[node] for node in shown["path"]]
        assert (path[0], path[-1]) == ends
        assert "house-of-family-12" in path, "through the gateway"
        assert len(path) >= 3
        assert shown["arrows"] > 5
        assert shown["wired"] > 5, "what is on the wire is drawn, too"


def test_the_map_of_a_mesh_has_its_links_and_routes_and_no_node_that_is_not_there(
    browser: Chromium, mesh: Path
) -> None:
    for width in (1280, 400):
        show(browser, mesh, width=width)
        svg, shown = exported(browser, "map")
        assert "internet" not in words(svg)
        assert shown["links"] == browser.js("fourhop.trace.head.links.length") > 20
        assert shown["route"][-1] == 12, "up to the gateway"
        boxes = browser.js(LABELS)
        assert len(boxes) == len(shown["names"]) >= 4
        for (left, top, right, bottom), other in itertools.combinations(boxes, 2):
            # Two points: boxes leave room for letters that extend below the line.
            apart = right <= other[0] or other[2] <= left or bottom <= other[1] + 2 or other[3] <= top + 2
            assert apart, "names do not overlap"


def test_of_many_flows_those_with_the_same_hops_share_a_colour(browser: Chromium, mesh: Path, traced: Path) -> None:
    show(browser, mesh)
    items = [text.strip() for text in browser.js("document.getElementById('legend').innerText").splitlines()]
    groups = [text for text in items if text.startswith("flows of ")]
    counts = [int(text[text.index("(") + 1 : -1]) for text in groups]
    assert sum(counts) == 23, "the legend names all"
    assert 2 <= len(groups) <= 6
    hops = browser.js("fourhop.trace.head.flows.map((_, at) => fourhop.trace.paths.ofFlow(at, 2e9).length - 2)")
    first = next(at for at, count in enumerate(hops) if count == 1)
    colours = browser.js("fourhop.trace.head.flows.map((_, at) => fourhop.colour(at))")
    assert all((colours[at] == colours[first]) == (count == 1) for at, count in enumerate(hops))
    show(browser, traced / "chain.html")
    assert "flow-1" in browser.js("document.getElementById('legend').innerText"), "few flows have their names"


def test_a_large_trace_is_read_as_it_is_looked_at(browser: Chromium, tmp_path: Path) -> None:
    network = Scenario.random(nodes=100, width="1300m", height="1300m", pairs=8, duration="4s", transport="newreno")
    run(network, trace=tmp_path)
    it = Blobs(Tables(tmp_path))
    frames = pd.read_parquet(tmp_path / "frames.parquet")
    with serving(Server(it)) as server:
        browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=1200, deviceScaleFactor=1, mobile=False)
        browser.js("window.before = true")
        browser.call("Page.navigate", url=f"{server.address}#from=0&to=4000000000")
        browser.wait("!window.before && !!window.fourhop && fourhop.lanes.shown.mode === 'parts'")
        assert it.count > 10, "several spans"
        picture = "document.querySelector('#lanes canvas').getContext('2d').getImageData(0, 20, 1200, 700).data"
        blue = f"(() => {{ const data = {picture}; let sum = 0; for (let at = 0; at < data.length; at += 4) "
        blue += "sum += data[at] === 0 && data[at + 1] === 114 && data[at + 2] === 178; return sum })()"
        assert browser.js(blue) > 500, "parts of time in which nodes send"
        begin = int(frames.start_ns.median())
        for end in (begin + 30 * MS, begin + 300_000):
            browser.js(f"fourhop.model.window({begin}, {end}); fourhop.model.seek({begin})")
            browser.wait("fourhop.lanes.shown.mode === 'frames'")
            redrawn(browser)
            shown = exported(browser, "lanes")[1]
            assert shown["frames"] == ((frames.start_ns < end) & (frames.end_ns >= begin)).sum()
        browser.js("document.getElementById('plots').scrollIntoView()")
        browser.wait("document.querySelectorAll('#charts canvas').length >= 3")
    assert all(each.startswith(f"asked the network for {server.address}") for each in browser.complaints)
    browser.complaints.clear()


def test_a_live_view_goes_on_with_the_emulation(browser: Chromium, tmp_path: Path) -> None:
    folder = view_trace.write(tmp_path, numbered="000001", until_ns=100 * MS, complete=False)
    with serving(Server(None, live=Live(folder))) as server:
        browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
        browser.js("window.before = true")
        browser.call("Page.navigate", url=server.address)
        browser.wait("!window.before && !!window.fourhop && fourhop.model.follow")
        browser.wait("fourhop.trace.tcp.rows === 3")
        assert browser.js("fourhop.model.span") == [0, 36 * MS + 667]
        shown = "document.getElementById('what').value = 'lanes'; fourhop.controls.picture(); fourhop.lanes.shown"
        browser.wait(f"(() => {{ {shown}; return fourhop.lanes.shown.frames === 3 }})()")
        view_trace.write(folder, numbered="000002", since_ns=100 * MS, complete=True)
        browser.wait("fourhop.model.t === 2400000000")
        # Copies of frames are loaded by a separate request.
        both = "fourhop.lanes.shown.frames === 4 && fourhop.lanes.shown.losses === 1"
        browser.wait(f"(() => {{ {shown}; return {both} }})()")
        assert browser.js("fourhop.trace.tcp.rows") == 4
        browser.wait("document.getElementById('say').textContent.includes('has ended')")
    browser.complaints.clear()
