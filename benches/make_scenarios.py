"""Writes the scenarios of `compare.py` to scenarios/bench: chains, grids, random networks.

Every file depends only on the constants here. The random networks have the density of 120 nodes in 2500 m x 1000 m; a
network is drawn again if its flows lack a path of the wanted length.

    python3 benches/make_scenarios.py [FOLDER]
"""

import math
import random
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

SPACING_M = 200.0
RANGE_M = 250.0
AREA_M = (2500.0, 1000.0)
NODES = 120

Places = list[tuple[float, float]]
# The two ends of each transfer, and the hops between them.
Flows = list[tuple[int, int, int]]


def neighbours(positions: Places) -> list[list[int]]:
    """The nodes within radio range of each node, found with a grid of cells as wide as the range."""
    cells: dict[tuple[int, int], list[int]] = {}
    for i, (x, y) in enumerate(positions):
        cells.setdefault((int(x // RANGE_M), int(y // RANGE_M)), []).append(i)
    found = []
    for i, (x, y) in enumerate(positions):
        cx, cy = int(x // RANGE_M), int(y // RANGE_M)
        near = (j for dx in (-1, 0, 1) for dy in (-1, 0, 1) for j in cells.get((cx + dx, cy + dy), ()))
        found.append([j for j in near if j != i and math.dist((x, y), positions[j]) <= RANGE_M])
    return found


def hops_from(source: int, links: Sequence[list[int]], limit: float = math.inf) -> dict[int, int]:
    """Hops of the shortest paths from `source`, up to `limit`."""
    hops = {source: 0}
    queue = deque([source])
    while queue:
        node = queue.popleft()
        if hops[node] == limit:
            continue
        for other in links[node]:
            if other not in hops:
                hops[other] = hops[node] + 1
                queue.append(other)
    return hops


def chain(hops: int) -> tuple[Places, Flows]:
    """Nodes in a row, one transfer from end to end."""
    return [(i * SPACING_M, 0.0) for i in range(hops + 1)], [(0, hops, hops)]


def grid(side: int, flows: int, seed: int) -> tuple[Places, Flows]:
    """A square grid: half of the transfers along rows, half along columns, each row and column at most once."""
    draw = random.Random(seed)
    positions = [(column * SPACING_M, row * SPACING_M) for row in range(side) for column in range(side)]
    rows = sorted(draw.sample(range(side), flows // 2))
    columns = sorted(draw.sample(range(side), flows - flows // 2))
    pairs = [(row * side, row * side + side - 1, side - 1) for row in rows]
    pairs += [(column, (side - 1) * side + column, side - 1) for column in columns]
    return positions, pairs


def field(nodes: int, flows: int, shortest: int, longest: int, seed: int) -> tuple[Places, Flows]:
    """Random nodes at the density of `NODES` in `AREA_M`, with transfers.

    These run between nodes `shortest` to `longest` hops apart; no node sends two of them.
    """
    draw = random.Random(seed)
    stretch = math.sqrt(nodes / NODES)
    while True:
        positions = [
            (round(draw.uniform(0, AREA_M[0] * stretch), 1), round(draw.uniform(0, AREA_M[1] * stretch), 1))
            for _ in range(nodes)
        ]
        links = neighbours(positions)
        pairs: Flows = []
        for source in draw.sample(range(nodes), nodes):
            hops = hops_from(source, links, longest)
            ends = [node for node in sorted(hops) if shortest <= hops[node] <= longest]
            if ends:
                end = draw.choice(ends)
                pairs.append((source, end, hops[end]))
            if len(pairs) == flows:
                return positions, pairs


def scenarios() -> Iterator[tuple[str, Callable[[], tuple[Places, Flows]]]]:
    """Name of every file, and the function that makes its content."""
    for hops in (4, 7, 8, 16):
        yield f"chain{hops}", partial(chain, hops)
    yield "grid7", partial(grid, 7, 10, 1)
    yield "grid10", partial(grid, 10, 20, 1)
    yield "random120", partial(field, NODES, 10, 2, 9, 2)
    # Not in the repository: `compare.py` writes it on demand.
    yield "random10000", partial(field, 10_000, 500, 2, 8, 3)


def text(positions: Places, flows: Flows) -> str:
    """The file of a network."""
    lines = [
        f"# Written by benches/make_scenarios.py: {len(positions)} nodes, {len(flows)} transfers.",
        "rate 2",
        "window 64",
    ]
    lines += [f"node {x} {y}" for x, y in positions]
    lines += [f"flow {source} {end} {hops}" for source, end, hops in flows]
    return "\n".join(lines) + "\n"


def write(folder: Path, wanted: str = "") -> None:
    """Write all files into a folder, or the one of that name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, network in scenarios():
        if name == (wanted or name):
            (folder / f"{name}.txt").write_text(text(*network()))


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent / "scenarios" / "bench")
    write(folder)


if __name__ == "__main__":
    main()
