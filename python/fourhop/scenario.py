"""Scenarios in Python: the same keys as in TOML, checked by the same code.

A `Scenario` is immutable. Every constructor and every builder method passes the whole description to the simulator's
checker, so an unknown key, a missing unit or a node out of range raises a `ScenarioError` where it is written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from fourhop import _core
from fourhop.errors import FourhopError, ScenarioError
from fourhop.facts import Facts
from fourhop.plain import leaves, plain, read, to_json, to_toml, whole
from fourhop.quantity import seconds

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fourhop.size import Size

Quantity = str
"""A number with its unit: `"2Mbps"`, `"200m"`, `"40ms"`, `"1460B"`."""

WITH = "with_"
"""Name of the keys of `Scenario.with_` in error messages."""

_OF_SWEEPS = {"scenario", "variants", "over", "zipped"}
"""Keys that only sweep files have."""


class Scenario:
    """A wireless network, its traffic and its measurements.

    Build one with `chain`, `parallel_chains`, `cross`, `grid`, `random` or `positions`, or read one with `from_toml`
    or `from_ns2`; refine it with `flow` and `with_`. docs/scenario.md lists every key.

    >>> scenario = Scenario.chain(hops=4, transport="newreno").with_(**{"radio.rate": "11Mbps"})
    >>> scenario.resolved["radio"]["rate"]
    '11Mbps'
    """

    __slots__ = ("_facts", "_file", "_format", "_given_by", "_overrides", "_resolved_json", "_text")

    def __init__(
        self,
        text: str,
        file: str = "<scenario>",
        *,
        format: Literal["toml", "json"] = "toml",
        overrides: Sequence[str] = (),
        given_by: str = "--set",
    ) -> None:
        """Read a scenario from text and check it.

        Args:
            text: The scenario.
            file: Name of the text in error messages.
            format: Format of the text.
            overrides: Keys to change, such as `"radio.rate=11Mbps"`.
            given_by: Name of the overrides in error messages.

        Raises:
            ScenarioError: A key or value is not allowed; the error lists every problem.
        """
        self._text = text
        self._file = file
        self._format: Literal["toml", "json"] = format
        self._overrides = tuple(overrides)
        self._given_by = given_by
        self._resolved_json = _core.check(text, file, self._overrides, format, given_by)
        self._facts: Facts | None = None

    @classmethod
    def of(cls, given: Scenario | str | Path) -> Scenario:
        """Return `given` if it is a scenario; otherwise read the file of that name.

        A file whose name ends in `.txt` is a node-and-flow list (`from_ns2`), any other is TOML (`from_toml`).
        """
        if isinstance(given, Scenario):
            return given
        return cls.from_ns2(given) if Path(given).suffix == ".txt" else cls.from_toml(given)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Scenario:
        """Return the scenario with these keys; nested dicts are TOML's tables. Raises `ScenarioError`."""
        return cls(to_json(document), format="json")

    @classmethod
    def from_toml(cls, path: str | Path, *, overrides: Sequence[str] = ()) -> Scenario:
        """Read a scenario file and return the scenario.

        Args:
            path: The TOML file.
            overrides: Keys to change, such as `"radio.rate=11Mbps"`.

        Raises:
            ScenarioError: A key or value is not allowed; each problem names file, line and key.
            FourhopError: The file cannot be read, or is a sweep.
        """
        try:
            return cls(read(Path(path)), str(path), overrides=overrides)
        except ScenarioError as error:
            if any(problem["key"] in _OF_SWEEPS and problem["file"] == str(path) for problem in error.problems):
                raise FourhopError(f"{path}: this is a sweep: run it with `fourhop sweep`") from None
            raise

    @classmethod
    def from_ns2(
        cls,
        path: str | Path,
        *,
        transport: str | None = None,
        duration: Quantity | None = None,
        overrides: Sequence[str] = (),
    ) -> Scenario:
        """Read a node-and-flow list of a comparison with ns-2 (`rate`, `window`, `node x y`, `flow ...`).

        Args:
            path: The list; its coordinates are in metres.
            transport: Transport of its TCP flows, `newreno` if not given.
            duration: Simulated time, such as `"100s"`.
            overrides: Keys to change, such as `"radio.rate=11Mbps"`.

        Returns:
            The scenario, with the profile `ns2`.

        Raises:
            ScenarioError: A line or an override is not allowed.
            FourhopError: The file cannot be read.
        """
        text = read(Path(path))
        return cls(_core.ns2(text, str(path), transport, duration, tuple(overrides)), str(path), format="json")

    @classmethod
    def chain(cls, hops: int, *, transport: str = "newreno", spacing: Quantity = "200m", **keys: Any) -> Scenario:
        """Return a chain: `hops + 1` nodes in a line, with one flow from the first to the last.

        Args:
            hops: Number of links, 1 or more.
            transport: Transport of the flow (`catalog()["transports"]` lists them).
            spacing: Distance between neighbours, such as `"200m"`.
            keys: Keys and sections of a scenario, in every constructor: `duration="100s"`, `profile="standard"`,
                `radio={"rate": "11Mbps"}`. The duration is 100 s and the profile `ns2` if not given.

        Raises:
            ScenarioError: A key or value is not allowed, in every constructor.

        >>> Scenario.chain(hops=2).name
        'chain-2'
        """
        return cls._made(f"chain-{whole(hops)}", {"kind": "chain", "hops": hops, "spacing": spacing}, transport, keys)

    @classmethod
    def parallel_chains(
        cls,
        hops: int | Sequence[int],
        *,
        transport: str = "newreno",
        spacing: Quantity = "200m",
        separation: Quantity = "400m",
        **keys: Any,
    ) -> Scenario:
        """Return parallel chains with one flow along each.

        Args:
            hops: Number of links of both chains, or a list with one number per chain.
            transport: Transport of the flows.
            spacing: Distance between neighbours in a chain.
            separation: Distance between chains.
            keys: As in `chain`.

        >>> Scenario.parallel_chains(hops=[4, 10]).name
        'parallel-chains-4-10'
        """
        several = isinstance(hops, Sequence) or hasattr(hops, "__len__")
        lengths = [whole(each) for each in hops] if several else [whole(hops)]  # type: ignore[union-attr]
        topology = {
            "kind": "parallel-chains",
            "hops": lengths if several else lengths[0],
            "spacing": spacing,
            "separation": separation,
        }
        return cls._made("-".join(["parallel-chains", *map(str, lengths)]), topology, transport, keys)

    @classmethod
    def cross(cls, hops: int, *, transport: str = "newreno", spacing: Quantity = "200m", **keys: Any) -> Scenario:
        """Return two chains that cross in their middle node, with one flow along each.

        Args:
            hops: Number of links of each chain, an even number.
            transport: Transport of the flows.
            spacing: Distance between neighbours.
            keys: As in `chain`.

        >>> Scenario.cross(hops=4).name
        'cross-4'
        """
        return cls._made(f"cross-{whole(hops)}", {"kind": "cross", "hops": hops, "spacing": spacing}, transport, keys)

    @classmethod
    def grid(
        cls, columns: int, rows: int, *, transport: str = "newreno", spacing: Quantity = "200m", **keys: Any
    ) -> Scenario:
        """Return a grid, numbered row by row, with one flow along each row and each column.

        Args:
            columns: Nodes in a row.
            rows: Nodes in a column.
            transport: Transport of the flows.
            spacing: Distance between neighbours.
            keys: As in `chain`.

        >>> Scenario.grid(columns=3, rows=3).name
        'grid-3x3'
        """
        topology = {"kind": "grid", "columns": columns, "rows": rows, "spacing": spacing}
        return cls._made(f"grid-{whole(columns)}x{whole(rows)}", topology, transport, keys)

    @classmethod
    def random(
        cls,
        nodes: int,
        *,
        width: Quantity,
        height: Quantity,
        pairs: int = 1,
        transport: str = "newreno",
        **keys: Any,
    ) -> Scenario:
        """Return a connected network of nodes placed at random in a rectangle, with flows between random pairs.

        Every seed draws a different network; set `topology.seed` to fix it.

        Args:
            nodes: Number of nodes.
            width: Width of the rectangle, such as `"600m"`.
            height: Height of the rectangle.
            pairs: Number of flows.
            transport: Transport of the flows.
            keys: As in `chain`.

        >>> Scenario.random(nodes=20, width="600m", height="600m", pairs=2).name
        'random-20'
        """
        topology = {"kind": "random", "nodes": nodes, "width": width, "height": height}
        return cls._made(f"random-{whole(nodes)}", topology, transport, keys, pairs)

    @classmethod
    def positions(cls, positions: Sequence[tuple[Quantity, Quantity]], **keys: Any) -> Scenario:
        """Return a network with each node at a given position.

        Args:
            positions: `(x, y)` per node with units, such as `("200m", "0m")`.
            keys: As in `chain`; give the traffic by `flows=[{"from": 0, "to": 1, "transport": "newreno"}]`.

        >>> places = [("0m", "0m"), ("200m", "0m")]
        >>> flows = [{"from": 0, "to": 1, "transport": "newreno"}]
        >>> Scenario.positions(places, flows=flows).name
        'positions-2'
        """
        topology = {"kind": "positions", "positions": [list(place) for place in positions]}
        return cls._made(f"positions-{len(positions)}", topology, None, keys)

    @classmethod
    def coordinates(cls, coordinates: Sequence[tuple[float, float]], **keys: Any) -> Scenario:
        """Return a network with each node at its latitude and longitude.

        Args:
            coordinates: `(latitude, longitude)` per node, in degrees (WGS 84).
            keys: As in `positions`.

        >>> places = [(52.5163, 13.3777), (52.5180, 13.3777)]
        >>> flows = [{"from": 0, "to": 1, "transport": "newreno"}]
        >>> Scenario.coordinates(places, flows=flows).resolved["topology"]["positions"][1]
        ['0m', '189.171m']
        """
        topology = {"kind": "coordinates", "coordinates": [list(place) for place in coordinates]}
        return cls._made(f"positions-{len(coordinates)}", topology, None, keys)

    @classmethod
    def _made(
        cls,
        name: str,
        topology: dict[str, Any],
        transport: str | None,
        keys: dict[str, Any],
        pairs: int | None = None,
    ) -> Scenario:
        """Build a scenario from its parts; `keys` refine the constructor's settings, section by section."""
        document: dict[str, Any] = {"name": name, "profile": "ns2", "duration": "100s", "topology": topology}
        if transport is not None and "flows" not in keys:
            document["traffic"] = {"transport": transport} | ({} if pairs is None else {"pairs": pairs})
        for key, value in keys.items():
            section = document.get(key)
            if isinstance(section, dict) and isinstance(value, Mapping):
                document[key] = {**section, **value}
            else:
                document[key] = value
        return cls.from_dict(document)

    def wired(
        self,
        gateways: Sequence[int | str],
        nodes: Sequence[str],
        *,
        wires: Sequence[tuple[str, str] | Mapping[str, Any]] = (),
        **keys: Any,
    ) -> Scenario:
        """Return this scenario with gateways to the wired Internet, and named hosts and routers behind them.

        Args:
            gateways: Nodes of the topology, by number, `"first"`, `"last"` or `"random"`. Wires and flows name them
                `gateway-1`, `gateway-2`, ...
            nodes: Names of wired hosts and routers.
            wires: Links, each a pair of names, or a mapping with `ends` and options of the link. If not given, the
                nodes form a line and every gateway is linked to the first.
            keys: Options of all links: `rate="100Mbps"`, `delay="1ms"`, `queue=100` (packets). The rate is 10 Mbit/s
                and the delay 40 ms if not given.

        >>> scenario = Scenario.chain(hops=4).wired(["last"], ["R1", "R2", "B"])
        >>> scenario = scenario.flow(0, "B", transport="newreno")
        >>> [" - ".join(wire["ends"]) for wire in scenario.resolved["wires"]]
        ['gateway-1 - R1', 'R1 - R2', 'R2 - B']
        """
        document = self._document()
        document["wired"] = {"gateways": list(gateways), "nodes": list(nodes), **keys}
        document.pop("wires", None)
        if wires:
            document["wires"] = [dict(wire) if isinstance(wire, Mapping) else {"ends": list(wire)} for wire in wires]
        return self._again(to_json(document), "json", self._overrides)

    def flow(self, src: int | str, dst: int | str, *, transport: str, **keys: Any) -> Scenario:
        """Return this scenario with one more flow. The first flow you add replaces the constructor's traffic.

        Args:
            src: Source node, by number or name.
            dst: Destination node, by number or name.
            transport: Its transport.
            keys: Keys of a flow: `app="transfer"`, `size="1MB"`, `start="10s"`.

        >>> Scenario.chain(hops=4).flow(0, 4, transport="newreno").flow(4, 0, transport="newreno").flow_count
        2
        """
        document = self._document()
        document.pop("traffic", None)
        flow = {"from": src, "to": dst, "transport": transport, **keys}
        document["flows"] = [*document.get("flows", []), flow]
        # An override of the removed traffic would bring half of it back.
        kept = [each for each in self._overrides if each.split("=")[0].split(".")[0].strip() != "traffic"]
        return self._again(to_json(document), "json", kept)

    def with_(self, **keys: object) -> Scenario:
        """Return this scenario with keys changed.

        Args:
            keys: Keys by their path, or sections as in the constructors. `transport` is that of every TCP flow;
                `flows[*].KEY` is `KEY` of every entry of `flows`.

        >>> Scenario.chain(hops=4).with_(**{"tcp.window": 8}, duration="50s", radio={"rate": "11Mbps"}).duration_s
        50.0
        """
        changes = [f"{path}={to_toml(value)}" for path, value in leaves(plain(keys))]
        return self._again(self._text, self._format, [*self._overrides, *changes], WITH)

    def overridden(self, overrides: Sequence[str]) -> Scenario:
        """Return this scenario with keys changed, written as for `--set`: `["radio.rate=11Mbps"]`."""
        return self._again(self._text, self._format, [*self._overrides, *overrides], "--set") if overrides else self

    def _again(
        self, text: str, format: Literal["toml", "json"], overrides: Sequence[str], given_by: str | None = None
    ) -> Scenario:
        return Scenario(text, self._file, format=format, overrides=overrides, given_by=given_by or self._given_by)

    def _document(self) -> dict[str, Any]:
        """The text as tables."""
        if self._format == "json":
            document: dict[str, Any] = json.loads(self._text)
            return document
        import tomllib

        return tomllib.loads(self._text)

    def check(self, *, seed: int | None = None) -> None:
        """Build the network of the run with `seed`, and raise the errors that `fourhop.run` would raise.

        Raises:
            ScenarioError: The scenario cannot run.

        >>> Scenario.chain(hops=2).check()
        """
        _core.can_run(self._resolved_json, self.seed if seed is None else seed)

    def flows_without_path(self, *, seed: int | None = None) -> list[str]:
        """Return one line of text per flow without a path of radio links, with its name and the gap in metres.

        Such flows deliver nothing. The list stops after the first few; `fourhop.run` warns about them.

        >>> far = Scenario.chain(hops=2, spacing="300m")
        >>> far.flows_without_path()[0].split(":")[:2]
        ['flow-1', ' no path of links from node 0 to node 2']
        """
        return _core.flows_without_path(self._resolved_json, self.seed if seed is None else seed)

    def places(self, times_s: Sequence[float], *, seed: int | None = None) -> pl.DataFrame:
        """Return the positions of the nodes at each of `times_s` (seconds, ascending).

        One row per (time, node): `time_s`, `node`, `x_m`, `y_m` in metres.

        >>> Scenario.chain(hops=1).places([0.0]).rows()
        [(0.0, 0, 0.0, 0.0), (0.0, 1, 200.0, 0.0)]
        """
        import polars as pl

        found = _core.places(self._resolved_json, self.seed if seed is None else seed, times_s)
        rows = [(t, n, x, y) for t, nodes in zip(times_s, found, strict=True) for n, (x, y) in enumerate(nodes)]
        schema = {"time_s": pl.Float64(), "node": pl.Int64(), "x_m": pl.Float64(), "y_m": pl.Float64()}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def draw(self, *, seed: int | None = None, size: Size | None = None, ax: Axes | None = None) -> Figure:
        """Draw the network at the start of a run: nodes, links coloured by margin (dB), walls and flows, in metres.

        Args:
            seed: Seed of the run; the scenario's own if not given.
            size: `column`, `page`, `slide`, or width and height in inches; fits the network if not given.
            ax: Draw into these axes instead, as one part of your own figure.

        Returns:
            The matplotlib figure, which a notebook shows and `savefig` writes.

        Raises:
            FourhopError: The size is not allowed.

        >>> axes, colours = Scenario.chain(hops=2).draw().axes
        >>> axes.get_xlabel(), colours.get_ylabel()
        ('x (m)', 'link margin (dB)')
        """
        from fourhop.picture import Network

        return Network.of(self._resolved_json, seed).figure(size=size, ax=ax)

    @property
    def resolved_json(self) -> str:
        """The scenario with all defaults, as JSON."""
        return self._resolved_json

    @property
    def resolved(self) -> dict[str, Any]:
        """The scenario with all defaults; a fresh copy each time."""
        return cast(dict[str, Any], json.loads(self._resolved_json))

    @property
    def name(self) -> str:
        """Its name in tables and file names."""
        return self._known.name

    @property
    def seed(self) -> int:
        """Default seed of the first run."""
        return self._known.seed

    @property
    def duration_s(self) -> float:
        """Simulated time in seconds."""
        return self._known.duration_s

    @property
    def last_start_s(self) -> float:
        """Start of the last flow in seconds of simulated time."""
        resolved = self.resolved
        starts = [seconds(str(flow["start"])) for flow in resolved.get("flows", [])]
        if traffic := resolved.get("traffic"):
            starts.append(seconds(traffic["start"]) + seconds(traffic["stagger"]) * (int(traffic["pairs"]) - 1))
        return max(starts, default=0.0)

    @property
    def packets(self) -> int | None:
        """Number of delivered packets after which a run ends; `None` if `duration` ends it."""
        return self._known.packets

    @property
    def records_series(self) -> bool:
        """Whether it records time series."""
        return self._known.records_series

    @property
    def flow_count(self) -> int:
        """Number of flows: pairs of `[traffic]` plus entries of `[[flows]]`."""
        return self._known.flow_count

    @property
    def _known(self) -> Facts:
        if self._facts is None:
            self._facts = Facts.of(self.resolved)
        return self._facts

    def require_flows(self) -> None:
        """Raise `FourhopError` if there is no flow to measure."""
        if self.flow_count == 0:
            raise FourhopError(
                f"{self._file}: flows: missing, allowed: at least one [[flows]], or [traffic]; only `fourhop emulate`, "
                "`draw` and `check` do without"
            )

    def describe(self) -> str:
        """One line: name, shape, traffic, duration and profile."""
        resolved = self.resolved
        traffic = [*filter(None, [resolved.get("traffic")]), *resolved.get("flows", [])]
        transports = ", ".join(dict.fromkeys(str(each["transport"]) for each in traffic))
        flows = "1 flow" if self.flow_count == 1 else f"{self.flow_count or 'no'} flows"
        flows += f" ({transports})" if transports else ""
        shape = resolved["topology"]["kind"]
        return f"{self.name}, {shape}, {flows}, {resolved['duration']}, profile {resolved['profile']}"

    def to_toml(self) -> str:
        """The scenario with all defaults, as TOML that `from_toml` reads back.

        >>> scenario = Scenario.chain(hops=4)
        >>> Scenario(scenario.to_toml()) == scenario
        True
        """
        return _core.to_toml(self._resolved_json)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same once every default is written out."""
        return isinstance(other, Scenario) and self._resolved_json == other._resolved_json

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash(self._resolved_json)

    def __repr__(self) -> str:
        """One line: name, shape, traffic, duration and profile."""
        return f"<Scenario {self.describe()}>"

    def _repr_html_(self) -> str:
        """For a notebook: the line of `describe`, the network as a picture, and the scenario with every default."""
        import base64
        import html
        import io

        from fourhop.picture import MOST_SHOWN, Network

        picture = ""
        network = Network.of(self._resolved_json)
        if len(network.places) <= MOST_SHOWN:
            out = io.BytesIO()
            network.figure().savefig(out, format="svg", metadata={"Date": None})
            # As a separate image, so that its styles and ids do not clash with the rest of the page.
            text = base64.b64encode(out.getvalue()).decode("ascii")
            look = "background:white;max-width:min(100%,44em)"
            picture = f'<img style="{look}" alt="the network" src="data:image/svg+xml;base64,{text}">'
        toml = html.escape(self.to_toml()).replace("\n", "&#10;")
        about = f"<p>{html.escape(self.describe())}<br><small>{network.describe()}</small></p>"
        return f"{about}{picture}<details><summary>every key</summary><pre>{toml}</pre></details>"


def catalog() -> dict[str, dict[str, str]]:
    """Return the names that a scenario can use, by kind (`transports`, ...), each with one line of description.

    >>> "newreno" in catalog()["transports"]
    True
    """
    return {kind: dict(names) for kind, names in json.loads(_core.catalog())}


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file as nested dicts, for editors and validators.

    >>> schema()["type"]
    'object'
    """
    return cast(dict[str, Any], json.loads(_core.schema()))
