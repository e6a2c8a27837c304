"""The page of `fourhop view` in a browser: drawings agree with the tables; by keys, narrow, dark, as a link."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fourhop import Scenario, run
from fourhop.view import Blobs, Tables, write
from tests import view_trace
from tests.browser import CHROMIUM, Chromium
from tests.view_page import browser, exported, fills, page, redrawn, show, words
from tests.view_trace import MS

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

__all__ = ["browser", "page"]


def test_time_lines_show_each_frame_state_and_loss(browser: Chromium, page: Path) -> None:
    show(browser, page, "from=0&to=50000000&t=12000000")
    svg, shown = exported(browser, "lanes")
    assert shown == {"mode": "frames", "frames": 3, "losses": 1, "states": 3}
    assert fills(svg, "#0072B2") == 3, "frames of the flow in its colour"
    assert words(svg).count("DATA") == 3
    assert "collision" not in words(svg)[0]
    show(browser, page, "from=0&to=2500000000&t=0")
    assert exported(browser, "lanes")[1]["frames"] == 4
    assert not browser.complaints


def test_tiles_are_what_is_drawn_at_once(browser: Chromium, page: Path) -> None:
    show(browser, page, "from=5000000&to=45000000&t=6000000")
    same = browser.js(
        """(() => {
          const canvas = document.querySelector('#lanes canvas');
          const { width, height } = canvas;
          const tiled = canvas.getContext('2d').getImageData(0, 0, width, height).data;
          const second = document.createElement('canvas');
          [second.width, second.height] = [width, height];
          const context = second.getContext('2d', { alpha: false });
          fourhop.lanes.draw(fourhop.pen(context, width, height));
          const whole = context.getImageData(0, 0, width, height).data;
          let other = 0;
          for (let at = 0; at < tiled.length; at += 4) {
            if (Math.abs(tiled[at] - whole[at]) + Math.abs(tiled[at + 1] - whole[at + 1]) > 96) other++;
          }
          return [other, width * height];
        })()"""
    )
    assert same[0] < same[1] * 2e-3, "but for edges that fall between two pixels"


def test_the_map_shows_who_sends_where_nodes_are_and_what_is_lost(browser: Chromium, page: Path) -> None:
    show(browser, page, "from=0&to=50000000&t=13000000&speed=0.01")
    svg, shown = exported(browser, "map")
    assert shown["frames"] == [1]
    assert shown["losses"] == 0
    assert [place[0] for place in shown["places"][:4]] == [0, 200, 400, 500]
    assert {"DATA", "12 dB", "receives 250 m", "node-2"} <= set(words(svg))
    assert "R1" not in words(svg), "a host on a wire is nowhere on the map"
    show(browser, page, "from=0&to=50000000&t=17000000&speed=0.01")
    svg, shown = exported(browser, "map")
    assert (shown["frames"], shown["losses"]) == ([], 1)
    assert "collision" in words(svg)
    show(browser, page, "t=500000000")
    assert exported(browser, "map")[1]["places"][3] == [500, 50], "half way"


def test_the_sequence_diagram_follows_the_path(browser: Chromium, page: Path) -> None:
    show(browser, page, "from=0&to=50000000&t=40000000")
    svg, shown = exported(browser, "sequence")
    assert shown == {"path": [0, 1, 2], "arrows": 3, "lost": 1, "wired": 0}
    assert words(svg) == ["node-0", "node-1", "node-2"]


def test_plots_show_what_the_sender_knew(browser: Chromium, page: Path) -> None:
    show(browser, page, "from=0&to=2500000000&t=0")
    plots = browser.js("fourhop.plots.plots().map(plot => [plot.id, plot.lines.map(line => line.value)])")
    found = dict(plots)
    assert found["window"][0] == [2, 1]
    assert found["queue"] == [[1, 0]]
    bin_s = 0.05
    assert max(found["goodput"][0]) == pytest.approx(1460 * 8 / bin_s / 1000)
    svg, _ = exported(browser, "plots")
    assert "Window (segments)" in words(svg)
    assert browser.js("document.querySelectorAll('#charts canvas').length") == len(plots)


def test_buttons_step_to_losses_drops_time_outs_and_routes(browser: Chromium, page: Path) -> None:
    show(browser, page, "from=0&to=2500000000&t=0")
    for step, time, said in (
        ("loss", 16 * MS + 667, "Loss at node-1, 0.016001 s: collision, file </script>."),
        ("drop", 1600 * MS, "Drop at node-1, 1.600000 s: data-retry-limit, file </script>."),
        ("route", 1700 * MS, "Route change at node-0, 1.700000 s."),
        ("timeout", 2000 * MS, "Timeout at node-0, 2.000000 s, file </script>."),
    ):
        browser.js(f"document.querySelector('[data-step={step}]').click()")
        browser.wait(f"fourhop.model.t === {time}")
        assert browser.js("document.getElementById('say').textContent") == said
        redrawn(browser)
    browser.js("document.querySelector('[data-step=timeout]').click()")
    browser.wait("document.getElementById('say').textContent === 'No later timeout in this trace.'")


def test_details_are_headers_way_and_delay(browser: Chromium, page: Path) -> None:
    show(browser, page, "from=0&to=50000000&t=31000000&frame=3")
    browser.wait("document.getElementById('facts').textContent.includes('Path')")
    facts = browser.js("document.getElementById('facts').innerText")
    for line in (
        "DATA from node-1 to node-2", "wlan.fc.type_subtype\n0x0020, data", "wlan.seq\n7", "wlan.duration\n300 µs",
        "ip.src\nnode-0", "tcp.seq_raw\n1", "tcp.len\n1460 bytes", "node-2\treceived\t-60.0 dBm", "node-0\toverheard",
        "Total 28.5 ms: 3.5 ms in queues, 25 ms for medium access. Longest at node-0: 18.5 ms",
    ):  # fmt: skip
        assert line in facts, facts
    show(browser, page, "from=0&to=50000000&t=1600000000&packet=2")
    browser.wait("document.getElementById('facts').textContent.includes('dropped: data-retry-limit')")


def test_everything_is_done_by_keys(browser: Chromium, page: Path) -> None:
    show(browser, page, "from=0&to=50000000&t=0")
    browser.js("document.activeElement.blur()")

    def typed(key: str) -> None:
        browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
        browser.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    browser.press("ArrowRight")
    assert browser.js("fourhop.model.t") == 500_000
    typed("+")
    assert browser.js("fourhop.model.to - fourhop.model.from") == 25 * MS
    typed("0")
    assert browser.js("fourhop.model.to") == 2500 * MS
    typed("L")
    browser.wait(f"fourhop.model.t === {16 * MS + 667}")
    typed(".")
    browser.wait("fourhop.model.selected?.id === 3")
    assert browser.js("fourhop.model.t") == 30 * MS, "the loss was at node 1: its next frame"
    typed("p")
    browser.wait("fourhop.model.selected?.kind === 'packet'")
    browser.press("ArrowDown")
    assert browser.js("fourhop.model.node") == 2
    typed("o")
    assert browser.js("fourhop.model.only") is True
    typed("b")
    assert browser.js("document.documentElement.dataset.scheme") == "dark"
    typed("b")
    typed("]")
    assert browser.js("fourhop.model.speed") == 0.1
    browser.press("Space")
    browser.wait(f"fourhop.model.t > {60 * MS}")
    browser.press("Space")
    assert browser.js("fourhop.model.playing") is False
    browser.press("End")
    assert browser.js("fourhop.model.t") == 2500 * MS
    typed("?")
    assert browser.js("document.getElementById('keys').open") is True
    browser.js("document.getElementById('keys').close()")
    for what in ("#map canvas", "#lanes canvas", "#flow", "#facts"):
        browser.tab_to(f"it === document.querySelector('{what}')")
    assert not browser.complaints


def test_an_address_brings_the_same_view_again(browser: Chromium, page: Path) -> None:
    show(browser, page, "from=0&to=50000000&t=0")
    browser.js(
        "fourhop.model.nodes = [1, 2]; fourhop.model.only = true; fourhop.model.speed = 0.001;"
        f"fourhop.model.selected = {{kind: 'frame', id: 3}}; fourhop.model.seek({31 * MS})"
    )
    browser.wait("location.hash.includes('frame=3')")
    address = browser.js("location.hash")
    before = browser.js("JSON.stringify(fourhop.model)")
    show(browser, page, address)
    assert browser.js("JSON.stringify(fourhop.model)") == before
    assert exported(browser, "lanes")[1]["frames"] == 1, "one of the two nodes sends in this span"
    show(browser, page, "from=x&to=-1&t=1e99&flow=77&nodes=99,a&speed=3")
    assert browser.js("[fourhop.model.t, fourhop.model.flow, fourhop.model.nodes]") == [2500 * MS, 0, None]


@pytest.mark.parametrize("dark", [False, True])
def test_a_telephone_shows_map_and_plots(browser: Chromium, page: Path, dark: bool) -> None:
    show(browser, page, "from=0&to=50000000&t=12000000", width=400, height=800, dark=dark)
    assert browser.js("document.documentElement.scrollWidth") <= 400
    assert browser.js("document.querySelector('#map canvas').clientWidth") > 340
    assert browser.js("document.querySelector('#charts canvas').clientWidth") > 340
    assert browser.js("document.querySelector('#lanes canvas').clientWidth") == 0
    back = browser.js("getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(20, 23, 28)") is dark
    corner = browser.js("[...document.querySelector('#map canvas').getContext('2d').getImageData(1, 1, 1, 1).data]")
    assert corner[:3] == ([27, 31, 38] if dark else [255, 255, 255])
    assert not browser.complaints


def test_a_telephone_shows_the_panels_that_an_address_asks_for(browser: Chromium, page: Path) -> None:
    show(browser, page, "from=0&to=50000000&t=12000000&show=lanes,sequence", width=400, height=800)
    for panel, wide in (("map", False), ("lanes", True), ("sequence", True), ("plots", False)):
        assert (browser.js(f"document.getElementById('{panel}').getBoundingClientRect().width") > 340) is wide
    assert browser.js("document.documentElement.scrollWidth") <= 400
    assert exported(browser, "lanes")[1]["frames"] == 3


def test_what_is_saved_is_a_picture(browser: Chromium, page: Path) -> None:
    show(browser, page, "from=0&to=50000000&t=12000000")
    for what in ("map", "lanes", "sequence", "plots"):
        svg, _ = exported(browser, what)
        assert svg.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(svg)) > 5
    size = browser.js(
        "window.size = null; fourhop.controls.pngOf('lanes').then(async (blob) => {"
        "const bitmap = await createImageBitmap(blob); window.size = [bitmap.width, bitmap.height, blob.type]})"
    )
    browser.wait("window.size !== null")
    size = browser.js("window.size")
    assert size[0] == 2 * browser.js("document.getElementById('plots').clientWidth")
    assert size[2] == "image/png"


def test_a_name_from_a_trace_is_never_taken_for_code(browser: Chromium, page: Path) -> None:
    show(browser, page)
    assert browser.js("document.getElementById('title').innerHTML") == "made &lt;b&gt;by&lt;/b&gt; hand"
    assert "file </script>" in browser.js("document.getElementById('legend').innerText")


def test_numbers_on_the_page_are_those_of_the_tables(browser: Chromium, page: Path) -> None:
    show(browser, page, "from=0&to=2500000000&t=0")
    frames = pl.DataFrame(view_trace.ROWS["frames"], schema=view_trace.SCHEMAS["frames"], orient="row")
    assert f"{len(frames)} frames" in browser.js("document.getElementById('about').textContent")


def test_aggregates_and_what_answers_them_have_marks_of_their_own(browser: Chromium, tmp_path: Path) -> None:
    chain = Scenario.chain(hops=2, transport="newreno", duration="2s").with_(profile="standard", **{"radio.phy": "ht"})
    run(chain.with_(**{"radio.rate": "65Mbps"}), trace=tmp_path / "trace")
    frames = pl.read_parquet(tmp_path / "trace" / "frames.parquet")
    write(Blobs(Tables(tmp_path / "trace")), tmp_path / "page.html")
    show(browser, tmp_path / "page.html")
    legend = browser.js("document.getElementById('legend').innerText")
    assert all(name in legend for name in ("aggregate", "block ACK", "BA request"))
    shapes = browser.js("['27 × DATA', 'BLOCK ACK', 'BA REQUEST', 'ACK', 'RTS', 'BABEL', 'DATA'].map(fourhop.shape)")
    assert shapes == ["stack", "ring", "hollow", "circle", "up", "diamond", "square"]
    for row, name in [
        (frames.filter((pl.col("mpdus") > 1) & (pl.col("content") == "tcp-data")).row(3, named=True), "× DATA"),
        (frames.filter(pl.col("kind") == "block-ack").row(3, named=True), "BLOCK ACK"),
    ]:
        middle = (row["start_ns"] + row["end_ns"]) // 2
        show(browser, tmp_path / "page.html", f"from={middle - MS}&to={middle + MS}&t={middle}")
        wanted = f"{row['mpdus']} {name}" if row["mpdus"] else name
        assert any(text.startswith(wanted) for text in words(exported(browser, "map")[0])), wanted
    assert not browser.complaints
