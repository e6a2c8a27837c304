#!/usr/bin/env python3
"""Draw the comparison of all systems as one picture, from the stored runs of `fourhop reproduce comparison`.

    scripts/comparison_picture.py report OUT.png [--profile standard] [--study side_by_side]

writes OUT.png, and the numbers in it as OUT.json, from which a test draws it again. The study may be `modern_mesh`.

Four coloured tables: goodput, fairness, age at delivery and frames radiated per kilobyte (on today's mesh, the round
trip and the packets in a frame), with one row per transport and one column per network. Blue is better than NewReno, or
CUBIC, on the same network, orange worse, and paler is closer; a grey number differs by less than the interval of its
difference, which is paired by seed. Missing runs are computed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from fourhop.study import Cells, Sample, execute, find

PAPERS = Path(__file__).resolve().parent.parent / "papers"


def study(name: str) -> types.ModuleType:
    """The module of a study of the comparison."""
    find.load(PAPERS, f"comparison/{name}")
    return importlib.import_module(f"fourhop_papers.comparison.{name}")


side_by_side, modern_mesh = study("side_by_side"), study("modern_mesh")
# The blue and the orange of Okabe and Ito (2008), with white between them.
SCALE = LinearSegmentedColormap.from_list("worse to better", ["#D55E00", "#FFFFFF", "#0072B2"])


@dataclass(frozen=True)
class Panel:
    """One of the tables."""

    title: str
    of: Callable[[Cells], Sample]
    more_is_better: bool
    full: float
    """The ratio to NewReno at which the colour is fully saturated."""
    shape: str
    """Format of a value."""

    def shade(self, ours: Sample, base: Sample) -> float | None:
        """From 0, worse than `base`, to 1, better; `None` if the interval of the difference includes zero."""
        difference = ours - base
        low, high = difference.low, difference.high
        if low is None or high is None or low <= 0.0 <= high or not (ours.mean > 0.0 and base.mean > 0.0):
            return None
        gain = math.log(ours.mean / base.mean) / math.log(self.full) * (1.0 if self.more_is_better else -1.0)
        return 0.5 + 0.5 * max(-1.0, min(1.0, gain))


PANELS = (
    Panel("goodput (kbit/s)", Cells.goodput, True, 2.0, "{:.0f}"),
    Panel("Jain's fairness index", Cells.fairness, True, 1.5, "{:.2f}"),
    Panel("age of a byte at delivery (ms)", lambda cell: cell.measure(side_by_side.age), False, 8.0, "{:.0f}"),
    Panel("frames radiated per kB", lambda cell: cell.measure(side_by_side.cost), False, 1.3, "{:.1f}"),
)


def _modern(network: str, name: str) -> str:
    """The variant for a network: if senders do not know the mesh, the gateway paces for them."""
    return "gap-short" if (network, name) == ("gateway", "ap") else name


@dataclass(frozen=True)
class Subject:
    """The subject of a picture."""

    networks: Mapping[str, str]
    labels: Mapping[str, str]
    base: str
    panels: tuple[Panel, ...]
    variant: Callable[[str, str], str]
    """The transport that replaces another one on a network."""
    sweep: str


SIDE_BY_SIDE = Subject(
    side_by_side.NETWORKS,
    # Those that run on every network.
    {name: side_by_side.LABELS[name] for name in side_by_side.on("chain")},
    "newreno",
    PANELS,
    lambda _, name: name,
    "all_of_them",
)
MODERN_MESH = Subject(
    modern_mesh.NETWORKS,
    {
        name: "TCP-AP; gateway: TCP-GAP" if name == "ap" else modern_mesh.LABELS[name]
        for name in modern_mesh.on("chain")
    },
    modern_mesh.BASE,
    (
        PANELS[0],
        PANELS[1],
        Panel("round trip, 95th percentile (ms)", modern_mesh.longest, False, 8.0, "{:.0f}"),
        Panel("packets in a frame", modern_mesh.in_a_frame, True, 8.0, "{:.1f}"),
    ),
    _modern,
    "today",
)
SUBJECTS = {"side_by_side": SIDE_BY_SIDE, "modern_mesh": MODERN_MESH}


Table = Mapping[tuple[str, str], Sample]
"""Samples by network and transport."""


def tables(cells: Mapping[tuple[str, str], Cells], subject: Subject = SIDE_BY_SIDE) -> list[Table]:
    """Measurements of the cells, one table per panel."""
    return [{key: panel.of(cell) for key, cell in cells.items()} for panel in subject.panels]


def plain(made: list[Table]) -> list[dict[str, list[list[float | None]]]]:
    """The tables as plain values for a file: the seeds and values of each cell; missing values are null."""

    def number(value: float) -> float | None:
        return None if math.isnan(value) else float(f"{value:.6g}")

    return [
        {f"{n}/{t}": [list(of.units), [number(value) for value in of.values]] for (n, t), of in table.items()}
        for table in made
    ]


def read(kept: list[dict[str, list[list[float | None]]]]) -> list[Table]:
    """The tables from a file."""

    def sample(seeds: list[float | None], values: list[float | None]) -> Sample:
        return Sample(tuple(math.nan if each is None else each for each in values), tuple(seeds))

    return [{(key.split("/")[0], key.split("/")[1]): sample(*of) for key, of in table.items()} for table in kept]


def names(made: list[Table], subject: Subject = SIDE_BY_SIDE) -> tuple[dict[str, str], dict[str, str]]:
    """The networks and transports of the tables, with their display names."""
    networks = {network: subject.networks[network] for network, _ in made[0]}
    networks = {name: shown[0].upper() + shown[1:] for name, shown in networks.items()}
    return networks, {name: subject.labels[name] for _, name in made[0]}


def draw(
    made: list[Table], networks: Mapping[str, str], labels: Mapping[str, str], subject: Subject = SIDE_BY_SIDE
) -> Figure:
    """The picture of the tables, with networks and transports under their display names."""
    base, base_label = subject.base, subject.labels[subject.base].removeprefix("kernel ").split()[0]
    figure = Figure(figsize=(13.4, 8.6), layout="constrained")
    for place, panel in enumerate(subject.panels):
        axes = figure.add_subplot(2, 2, place + 1)
        samples = made[place]
        shades = [[panel.shade(samples[n, t], samples[n, base]) for n in networks] for t in labels]
        colours = [[0.5 if shade is None else shade for shade in row] for row in shades]
        image = axes.imshow(colours, cmap=SCALE, vmin=0.0, vmax=1.0, aspect="auto")
        for y, transport in enumerate(labels):
            for x, network in enumerate(networks):
                mean, shade = samples[network, transport].mean, shades[y][x]
                colour = "black"
                if shade is None and transport != base:
                    colour = "0.45"
                elif shade is not None and abs(shade - 0.5) > 0.38:
                    colour = "white"
                text = "" if math.isnan(mean) else panel.shape.format(mean)
                axes.text(x, y, text, ha="center", va="center", fontsize=9, color=colour)
        axes.set_title(panel.title, fontsize=11, loc="left")
        axes.set_xticks(range(len(networks)), [name.replace(", ", "\n") for name in networks.values()], fontsize=8.5)
        axes.set_yticks(range(len(labels)), list(labels.values()) if place % 2 == 0 else [], fontsize=9)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        worse, better = ("÷", "×") if panel.more_is_better else ("×", "÷")
        bar = figure.colorbar(image, ax=axes, fraction=0.03, pad=0.02, ticks=[0.0, 0.5, 1.0])
        bar.set_ticklabels(
            [f"{worse} {panel.full:g}\nworse", base_label, f"{better} {panel.full:g}\nbetter"], fontsize=8
        )
        bar.outline.set_visible(False)
    runs = max(len(sample.values) for sample in made[0].values())
    figure.supxlabel(
        f"Colours: the ratio to {base_label} on the same network. Grey on white: no difference shown, as the 95 % "
        f"interval of the difference, paired by seed over {runs} runs, includes zero.",
        fontsize=9,
    )
    return figure


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="folder that `fourhop reproduce` wrote")
    parser.add_argument("out", type=Path)
    parser.add_argument("--profile", default="standard", choices=("ns2", "standard"))
    parser.add_argument("--study", default="side_by_side", choices=tuple(SUBJECTS))
    given = parser.parse_args()
    subject = SUBJECTS[given.study]
    (found,) = find.load_all(PAPERS, [f"comparison/{given.study}"])
    jobs = execute.jobs(found, quick=False)
    (job,) = (job for job in jobs if job.profile == given.profile and job.name == subject.sweep)
    measured = Cells.of(execute.run(job, given.report))
    every = [(network, name) for network in subject.networks for name in subject.labels]
    cells = {(n, t): measured.where(variant=f"{n}/{subject.variant(n, t)}") for n, t in every}
    made = tables(cells, subject)
    kept = json.dumps(plain(made), separators=(",", ":"), allow_nan=False)
    given.out.with_suffix(".json").write_text(kept + "\n", encoding="utf-8")
    save(made, given.out, subject)


def save(made: list[Table], out: Path, subject: Subject = SIDE_BY_SIDE) -> None:
    """Draw the tables into a file."""
    draw(made, *names(made, subject), subject).savefig(out, dpi=110)


if __name__ == "__main__":
    main()
