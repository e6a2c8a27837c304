#!/usr/bin/env python3
"""Draw the comparison of all systems as one picture, from what `fourhop reproduce comparison` kept.

    scripts/comparison_picture.py report/figures/comparison/side_by_side.json OUT.png [--profile standard]

Four tables in colour: goodput, fairness, round trip and frames radiated for a kilobyte, a row for each transport, a
column for each network. Blue is better than NewReno on the same network, orange worse, the paler the nearer.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from pathlib import Path

from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

BASE = "NewReno"
# Title, column of the table, is more better, the ratio at which the colour is full, how a value is written.
PANELS = (
    ("goodput (kbit/s)", 1, True, 2.0, "{:.0f}"),
    ("Jain's fairness index", 2, True, 1.5, "{:.2f}"),
    ("round trip (ms)", 3, False, 8.0, "{:.0f}"),
    ("frames radiated for a kB", 5, False, 1.3, "{:.1f}"),
)
# The blue and the orange of Okabe and Ito (2008), with white between them.
SCALE = LinearSegmentedColormap.from_list("worse to better", ["#D55E00", "#FFFFFF", "#0072B2"])
NUMBER = re.compile(r"-?[0-9][0-9.,]*")


def mean(text: str) -> float:
    """The mean at the beginning of a cell such as "114 [97.5, 130] kbit/s"; nan if there is none."""
    found = NUMBER.match(text)
    return float(found[0].replace(",", "")) if found else math.nan


def shade(value: float, base: float, more_is_better: bool, full: float) -> float:
    """From 0, worse than `base`, to 1, better."""
    if not (value > 0.0 and base > 0.0):
        return 0.5
    gain = math.log(value / base) / math.log(full) * (1.0 if more_is_better else -1.0)
    return 0.5 + 0.5 * max(-1.0, min(1.0, gain))


def draw(tables: dict[str, list[list[str]]]) -> Figure:
    """The picture of the tables, by network: in each row a transport and what was measured."""
    networks = list(tables)
    transports = [row[0] for row in tables[networks[0]]]
    cells = {(network, row[0]): row for network, rows in tables.items() for row in rows}
    figure = Figure(figsize=(13.0, 8.2), layout="constrained")
    for place, (title, column, more_is_better, full, shape) in enumerate(PANELS):
        axes = figure.add_subplot(2, 2, place + 1)
        values = [[mean(cells[network, name][column]) for network in networks] for name in transports]
        base = values[transports.index(BASE)]
        shades = [[shade(v, b, more_is_better, full) for v, b in zip(row, base, strict=True)] for row in values]
        axes.imshow(shades, cmap=SCALE, vmin=0.0, vmax=1.0, aspect="auto")
        for y, row in enumerate(values):
            for x, value in enumerate(row):
                dark = abs(shades[y][x] - 0.5) > 0.38
                text = "" if math.isnan(value) else shape.format(value)
                axes.text(x, y, text, ha="center", va="center", fontsize=9, color="white" if dark else "black")
        axes.set_title(title, fontsize=11, loc="left")
        axes.set_xticks(range(len(networks)), [name.replace(", ", "\n") for name in networks], fontsize=8.5)
        axes.set_yticks(range(len(transports)), transports if place % 2 == 0 else [], fontsize=9)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return figure


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--profile", default="standard", choices=("ns2", "standard"))
    given = parser.parse_args()
    charts = json.loads(given.figure.read_text(encoding="utf-8"))["profiles"][given.profile]["charts"]
    tables = {chart["caption"].split(":")[0]: chart["rows"] for chart in charts if chart["kind"] == "table"}
    draw(tables).savefig(given.out, dpi=110)


if __name__ == "__main__":
    main()
