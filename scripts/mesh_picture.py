#!/usr/bin/env python3
"""Draw predicted against measured transfers of a mesh, from the stored runs of `fourhop reproduce meshes`.

    scripts/mesh_picture.py report OUT.png

writes OUT.png, and the numbers in it as OUT.json, from which a test draws it again. Each pair of nodes is a dot,
coloured by hops. Both agree on the line; the band is a factor of 1.3 either way.
"""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

from fourhop import style
from fourhop.study import Cells, execute, find

PAPERS = Path(__file__).resolve().parent.parent / "papers"
BAND = 1.3
TICKS = (2, 5, 10, 20, 50)
ENDS = (1.2, 75.0)

Dots = list[tuple[int, float, float]]
"""Hops, measured and predicted Mbit/s."""


def draw(dots: Dots) -> Figure:
    """The picture."""
    figure, axes = style.figure(5.2, 5.0)
    axes.fill_between(
        ENDS, [x / BAND for x in ENDS], [x * BAND for x in ENDS], color="0.92", zorder=1, label=f"off by {BAND} at most"
    )
    axes.plot(ENDS, ENDS, color="0.4", linewidth=1.0, zorder=2)
    for index, hops in enumerate(sorted({hops for hops, _, _ in dots})):
        chosen = [(x, y) for n, x, y in dots if n == hops]
        label = f"{hops} hop{'' if hops == 1 else 's'} ({len(chosen)} pairs)"
        look = {"color": style.OKABE_ITO[index], "marker": "os^D"[index % 4], "linewidth": 0, "alpha": 0.85}
        axes.scatter(*zip(*chosen, strict=True), s=22, label=label, zorder=3, **look)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(FixedLocator(TICKS))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_locator(NullLocator())
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlim(ENDS)
    axes.set_ylim(ENDS)
    axes.set_aspect("equal")
    axes.set_xlabel("measured (Mbit/s)")
    axes.set_ylabel("predicted (Mbit/s)")
    axes.legend(loc="upper left", frameon=False, fontsize=8)
    return figure


def save(dots: Dots, out: Path) -> None:
    """Draw into a file."""
    draw(dots).savefig(out, dpi=130)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="folder that `fourhop reproduce` wrote")
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    (found,) = find.load_all(PAPERS, ["meshes/battlemesh_v11"])
    v11 = importlib.import_module("fourhop_papers.meshes.battlemesh_v11")
    (job,) = (job for job in execute.jobs(found, quick=False) if job.name == "pairs")
    mbps = v11.rates(Cells.of(execute.run(job, given.report)))
    dots = [(int(row["hops"]), float(row["mbps"]), round(mbps[ends], 3)) for ends, row in v11.measured().items()]
    given.out.with_suffix(".json").write_text(json.dumps(dots, separators=(",", ":")) + "\n", encoding="utf-8")
    save(dots, given.out)


if __name__ == "__main__":
    main()
