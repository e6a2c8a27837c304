"""A picture of a network: numbered nodes, links coloured by margin, walls, flows as arrows, coordinates in metres.

It shows the network at the start of the run with one seed, with shadowing, walls, measured losses and antennas, but
without fading. A link is one that static routes use (docs/radio.md).
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from fourhop import _core, style
from fourhop.quantity import metres
from fourhop.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fourhop.size import Size

_WIDTH_IN = 6.8
_HEIGHTS_IN = (2.6, 7.0)
"""Minimum and maximum height of the picture."""
_LABELLED = 60
"""Maximum number of nodes for large numbers."""
_NAMED_FLOWS = 7
"""Maximum number of flows with their own colour and legend entry; if there are more, those with the same hop count
share them."""
_HOPS = ("#F5B041", "#EB7A27", "#D1382C", "#A31F67", "#6A2C91", "#1F1147")
"""Colours of flows by hop count, from 1 on, from light to dark; longer flows have the last one."""
_LETTER_PT = 0.62
"""Approximate width of a letter relative to the font size; legends must not be cut off."""
_NAME_PT = 6.0
"""Font size of node names."""
_BEND = 0.22
"""Twice the height of an arrow's arc, as a share of its length."""
_SCALES_DB = (10.0, 20.0)
"""Minimum and maximum of the upper end of the margin scale."""

MOST_SHOWN = 300
"""Maximum number of nodes for which a notebook shows the picture of a scenario automatically."""

Place = tuple[float, float]


@dataclass(frozen=True)
class Network:
    """The network of a run at its start."""

    seed: int
    places: list[Place]
    """Coordinates of the nodes with radios, in metres."""
    links: dict[tuple[int, int], float]
    """Link margin in dB for each usable direction: power received at the second node above the minimum for a link."""
    flows: list[dict[str, Any]]
    """`name`, `from`, `to` (node numbers; `None` for a node without a radio) and `transport`."""
    gateways: list[int]
    walls: list[tuple[list[Place], str]]
    """Corners in metres, and the loss through the wall as written in the scenario."""
    names: dict[int, str] = field(default_factory=dict)
    """Names of nodes with radios, if given."""

    @classmethod
    def of(cls, scenario_json: str, seed: int | None = None) -> Network:
        """The network of a resolved scenario in JSON, in the run with `seed`; by default the scenario's own seed."""
        resolved = json.loads(scenario_json)
        seed = resolved["seed"] if seed is None else seed
        found = json.loads(_core.survey(scenario_json, seed))
        walls = [
            ([(metres(x), metres(y)) for x, y in wall["corners"]], wall["loss"]) for wall in resolved.get("walls", [])
        ]
        return cls(
            seed,
            [(x, y) for x, y in found["positions"]],
            {(link["from"], link["to"]): link["margin_db"] for link in found["links"]},
            found["flows"],
            found["gateways"],
            walls,
            {
                each["node"]: each["name"]
                for each in resolved.get("nodes", [])
                if isinstance(each["node"], int) and each["node"] < len(found["positions"]) and "name" in each
            },
        )

    @property
    def pairs(self) -> dict[tuple[int, int], tuple[float, bool]]:
        """Linked nodes: the smaller margin in dB, and whether both directions work; then the lower number is first."""
        both = {
            (a, b): (min(db, self.links[b, a]), True)
            for (a, b), db in self.links.items()
            if a < b and (b, a) in self.links
        }
        alone = {(a, b): (db, False) for (a, b), db in self.links.items() if (b, a) not in self.links}
        return {**both, **alone}

    def describe(self) -> str:
        """Number of nodes, links and flows, and the seed."""
        one_way = sum(not both for _, both in self.pairs.values())
        parts = [
            count(len(self.places), "node"),
            count(len(self.pairs), "link") + (f", {one_way} of them one-way" if one_way else ""),
            count(len(self.flows), "flow"),
        ]
        return f"{', '.join(parts)}; seed {self.seed}"

    def figure(self, *, size: Size | None = None, ax: Axes | None = None) -> Figure:
        """Draw the picture in a size that fits the network, or in `size`, or into the axes `ax` of another figure.

        Raises `FourhopError` for a size that is not allowed.
        """
        arrows = self._arrows()
        shown = [self.places, *(corners for corners, _ in self.walls), [arrow.top for arrow in arrows]]
        xs, ys = zip(*itertools.chain(*shown), strict=True)
        wide, high = max(xs) - min(xs), max(ys) - min(ys)
        margin = 0.08 * max(wide, high, 1e-3)
        rows = math.ceil(len(dict.fromkeys(arrow.label for arrow in arrows)) / _columns(arrows, _WIDTH_IN))
        least, most = _HEIGHTS_IN
        height = 0.78 * _WIDTH_IN * (high + 2.0 * margin) / (wide + 2.0 * margin) + 0.9 + 0.2 * rows
        if ax is None:
            from fourhop import size as sizes

            fitting = (_WIDTH_IN, min(max(height, least), most))
            made, axes = style.figure(*(fitting if size is None else sizes.inches(size)))
        else:
            made, axes = cast("Figure", ax.get_figure(root=True)), style.empty(ax)
        axes.grid(visible=False)
        axes.set_aspect("equal")
        axes.set_xlim(min(xs) - margin, max(xs) + margin)
        axes.set_ylim(min(ys) - margin, max(ys) + margin)
        axes.set_xlabel("x (m)")
        axes.set_ylabel("y (m)")
        self._draw_walls(axes)
        self._draw_links(made, axes)
        self._draw_nodes(axes)
        self._draw_flows(made if ax is None else None, axes, arrows)
        self._draw_names(made, axes)
        return made

    def _arrows(self) -> list[_Arrow]:
        """Flows with a radio at either end. An end without one is drawn at the gateway nearest to the other end."""
        arrows: list[_Arrow] = []
        many = len(self.flows) > _NAMED_FLOWS
        paths = self._hops() if many else {}
        for index, flow in enumerate(self.flows):
            ends = (flow["from"], flow["to"])
            radios = [end for end in ends if end is not None]
            if not radios:
                continue
            here = self.places[radios[0]]
            nearest = min(self.gateways, default=radios[0], key=lambda gateway: math.dist(self.places[gateway], here))
            here_to = [nearest if end is None else end for end in ends]
            a, b = (self.places[end] for end in here_to)
            names = ["wired" if end is None else str(end) for end in ends]
            label = f"{flow['name']}: {names[0]} to {names[1]}, {flow['transport']}"
            colour = style.OKABE_ITO[index % len(style.OKABE_ITO)]
            if many:
                hops = paths[here_to[0]].get(here_to[1])
                colour = "0.45" if hops is None else _HOPS[min(max(hops, 1), len(_HOPS)) - 1]
                label = _hops_label(hops)
            arrows.append(_Arrow(a, b, _BEND if index % 2 else -_BEND, colour, label))
        if many:
            counts = Counter(arrow.label for arrow in arrows)
            arrows = [replace(arrow, label=f"{arrow.label} ({counts[arrow.label]})") for arrow in arrows]
            arrows.sort(key=lambda arrow: arrow.label)
        return arrows

    def _hops(self) -> dict[int, dict[int, int]]:
        """For each end of a flow and each gateway: minimum number of links to every reachable node."""
        beside: dict[int, list[int]] = {node: [] for node in range(len(self.places))}
        for a, b in self.links:
            beside[a].append(b)
        starts = {end for flow in self.flows for end in (flow["from"], flow["to"]) if end is not None}
        found = {}
        for start in sorted(starts | set(self.gateways)):
            hops, edge = {start: 0}, [start]
            for node in edge:
                for other in beside[node]:
                    if other not in hops:
                        hops[other] = hops[node] + 1
                        edge.append(other)
            found[start] = hops
        return found

    def _draw_walls(self, axes: Axes) -> None:
        for corners, loss in self.walls:
            axes.plot(*zip(*corners, strict=True), color="0.6", linewidth=3.5, solid_capstyle="butt", zorder=1)
            (ax, ay), (bx, by) = max(itertools.pairwise(corners), key=lambda piece: math.dist(*piece))
            axes.annotate(
                loss,
                ((ax + bx) / 2.0, (ay + by) / 2.0),
                ha="center",
                va="center",
                fontsize=7,
                color="0.3",
                bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"},
                zorder=2,
            )

    def _draw_links(self, made: Figure, axes: Axes) -> None:
        import matplotlib
        from matplotlib.cm import ScalarMappable
        from matplotlib.collections import LineCollection
        from matplotlib.colors import ListedColormap, Normalize

        margins = [db for db, _ in self.pairs.values()]
        if not margins:
            return
        # From light for the weakest links to dark, in an order that colour-blind readers see too. The lightest end of
        # the map would vanish on white. If flows are coloured by hop count, links are grey.
        name, low, high = ("Greys", 0.2, 0.75) if len(self.flows) > _NAMED_FLOWS else ("viridis_r", 0.1, 1.0)
        steps = [low + (high - low) * step / 255.0 for step in range(256)]
        colours = ListedColormap(matplotlib.colormaps[name](steps))
        top = min(max(_SCALES_DB[0], *margins), _SCALES_DB[1])
        norm = Normalize(0.0, top)
        for both, dashes in ((True, "solid"), (False, (0, (3, 2)))):
            chosen = {pair: db for pair, (db, has_both) in self.pairs.items() if has_both is both}
            lines = LineCollection(
                [[self.places[a], self.places[b]] for a, b in chosen],
                colors=[colours(norm(db)) for db in chosen.values()],
                linewidths=1.8 if len(self.places) <= _LABELLED else 0.7,
                linestyles=[dashes],
                zorder=3,
            )
            axes.add_collection(lines)
        bar = made.colorbar(
            ScalarMappable(norm, colours),
            ax=axes,
            fraction=0.04,
            pad=0.02,
            extend="max" if max(margins) > top else "neither",
        )
        one_way = any(not both for _, both in self.pairs.values())
        bar.set_label("link margin (dB)" + ("\ndashed: one way only" if one_way else ""))
        bar.outline.set_visible(False)

    def _draw_nodes(self, axes: Axes) -> None:
        few = len(self.places) <= _LABELLED
        gateways = set(self.gateways)
        for shape, numbers in (("o", set(range(len(self.places))) - gateways), ("s", gateways)):
            axes.scatter(
                [self.places[number][0] for number in numbers],
                [self.places[number][1] for number in numbers],
                s=210 if few else 60,
                marker=shape,
                facecolor="white",
                edgecolor="black",
                linewidth=1.0 if few else 0.5,
                zorder=6,
            )
        for number, place in enumerate(self.places):
            axes.annotate(str(number), place, ha="center", va="center", fontsize=8 if few else 4.5, zorder=7)

    def _draw_flows(self, made: Figure | None, axes: Axes, arrows: list[_Arrow]) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import FancyArrowPatch

        for arrow in arrows:
            patch = FancyArrowPatch(
                arrow.start,
                arrow.end,
                connectionstyle=f"arc3,rad={arrow.bend}",
                arrowstyle="-|>",
                mutation_scale=12,
                shrinkA=8,
                shrinkB=8,
                color=arrow.colour,
                linewidth=1.6,
                zorder=5,
            )
            axes.add_patch(patch)
        shown = {arrow.label: arrow.colour for arrow in arrows}
        handles = [Line2D([], [], color=colour, linewidth=1.6, label=label) for label, colour in shown.items()]
        if made is not None:
            columns = _columns(arrows, made.get_figwidth())
            made.legend(handles=handles, loc="outside upper left", ncols=columns, frameon=False, fontsize=8)
        else:
            axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, fontsize=8)

    def _draw_names(self, made: Figure, axes: Axes) -> None:
        """Draw names beside nodes where they cover no node or other name; gateways and ends of flows come first."""
        if not self.names:
            return
        # The layout determines the size of a metre.
        made.draw_without_rendering()
        points = 72.0 / made.dpi
        positions = [tuple(points * each for each in axes.transData.transform(place)) for place in self.places]
        radius = 7.5 if len(self.places) <= _LABELLED else 4.0
        taken = [(x - radius, y - radius, x + radius, y + radius) for x, y in positions]
        box = axes.get_window_extent()
        edges = (points * box.x0, points * box.y0, points * box.x1, points * box.y1)
        ends = {end for flow in self.flows for end in (flow["from"], flow["to"])}
        for node in sorted(self.names, key=lambda node: (node not in self.gateways, node not in ends, node)):
            half, high, (x, y) = (
                0.5 * _NAME_PT * _LETTER_PT * len(self.names[node]),
                0.5 * _NAME_PT + 0.5,
                positions[node],
            )
            beside, above = radius + half + 2.0, radius + high
            for cx, cy in ((0.0, -above), (0.0, above), (beside, 0.0), (-beside, 0.0)):
                words = (x + cx - half, y + cy - high, x + cx + half, y + cy + high)
                inside = edges[0] <= words[0] and edges[1] <= words[1] and words[2] <= edges[2] and words[3] <= edges[3]
                if inside and not any(_overlap(words, other) for other in taken):
                    taken.append(words)
                    axes.annotate(
                        self.names[node],
                        self.places[node],
                        xytext=(cx, cy),
                        textcoords="offset points",
                        ha="center",
                        va="center",
                        fontsize=_NAME_PT,
                        bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "alpha": 0.75, "edgecolor": "none"},
                        zorder=8,
                    )
                    break


@dataclass(frozen=True)
class _Arrow:
    start: Place
    end: Place
    bend: float
    colour: str
    label: str

    @property
    def top(self) -> Place:
        """The point of the arc farthest from the straight line."""
        (ax, ay), (bx, by) = self.start, self.end
        return ((ax + bx) / 2.0 + self.bend / 2.0 * (by - ay), (ay + by) / 2.0 - self.bend / 2.0 * (bx - ax))


def _hops_label(hops: int | None) -> str:
    if hops is None:
        return "flows without a path"
    longest = len(_HOPS)
    return f"flows of {longest} or more hops" if hops >= longest else f"flows of {count(max(hops, 1), 'hop')}"


def _columns(arrows: list[_Arrow], width_in: float) -> int:
    """Number of legend columns that are sure to fit."""
    longest = max((len(arrow.label) for arrow in arrows), default=0)
    return max(1, min(3, int(72.0 * width_in / (8.0 * _LETTER_PT * longest + 44.0))))


_Box = tuple[float, float, float, float]


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
