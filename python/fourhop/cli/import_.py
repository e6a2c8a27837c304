"""`fourhop import`: a community's network, or a configuration of wmediumd, as a scenario."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from click import echo

from fourhop.cli import common
from fourhop.cli.options import Argument, Option
from fourhop.text import count

if TYPE_CHECKING:
    from fourhop.community.choose import Part
    from fourhop.wmediumd import Converted


def command(
    files: Annotated[
        list[Path],
        Argument(
            metavar="FILE...",
            help="meshviewer.json; nodes.json with graph.json; hopglass.json; GeoJSON points; CSV of positions; CSV "
            "matrix or list of links. Several files are merged. Or one configuration of wmediumd.",
        ),
    ],
    out: Annotated[
        Path | None, common.out("FILE", "Scenario to write; default: the first FILE's name with .toml.")
    ] = None,
    values: Annotated[
        str | None,
        Option(
            metavar="KIND", help="Values of a matrix or list: snr (dB), etx, loss (dB), tq (0 to 1) or rate (Mbit/s)."
        ),
    ] = None,
    component: Annotated[
        str,
        Option(metavar="N", help="Connected component by number, 1 being the largest; all: every node."),
    ] = "1",
    near: Annotated[str | None, Option(metavar="NODE", help="Only nodes near this one.")] = None,
    hops: Annotated[int, Option(metavar="N", help="With --near: maximum number of hops from that node.")] = 3,
    box: Annotated[
        str | None, Option(metavar="S,W,N,E", help="Only nodes in this box, in degrees (with x and y: metres).")
    ] = None,
    gateway: Annotated[
        list[str] | None, Option(metavar="NODE", help="Node with an Internet connection. May be repeated.")
    ] = None,
    radio: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Radio of all nodes: 11g, 11a, 11n, 11n-5ghz or 11ac; default: by models and rates, else 11g.",
        ),
    ] = None,
    routes: Annotated[
        Path | None, Option(metavar="FILE", help="Routes: a CSV with `node`, `to` and `via`, by name.")
    ] = None,
    mcast_rate: Annotated[
        str | None,
        Option(metavar="RATE", help="Rate of the broadcasts that measured the delivery ratios, such as 6Mbps."),
    ] = None,
    pair: Annotated[
        list[str] | None,
        Option(metavar="FROM:TO", help="Transfer between two nodes, instead of --traffic. May be repeated."),
    ] = None,
    traffic: Annotated[str, Option(metavar="KIND", help="downloads, uploads or web.")] = "downloads",
    flows: Annotated[int, Option(metavar="N", help="Nodes with traffic at the same time.")] = 12,
    unmeasured: Annotated[
        str | None,
        Option(
            metavar="HOW",
            help="Pairs without a measured link: no-link (too weak for one), heard (by distance, without routes), "
            "path-loss (by distance), silent. Default: heard if there are rates, silent without positions, else "
            "no-link.",
        ),
    ] = None,
    set_: common.Set = None,
    json: common.Json = False,
) -> None:
    """Turn the published files of a community network, or a configuration of wmediumd, into a scenario."""
    with common.errors():
        from fourhop import community, store, wmediumd
        from fourhop.community import tables
        from fourhop.community import traffic as traffic_
        from fourhop.errors import FourhopError

        target = out or Path(files[0].with_suffix(".toml").name)
        radios = wmediumd.text_of(files[0])
        if radios is not None:
            community_alone = {
                "--values": values, "--near": near, "--box": box, "--gateway": gateway, "--routes": routes,
                "--mcast-rate": mcast_rate, "--pair": pair, "--unmeasured": unmeasured,
            }  # fmt: skip
            given = [option for option, value in community_alone.items() if value]
            if given or len(files) > 1:
                found = given[0] if given else f"{len(files)} files"
                raise FourhopError(f"{files[0]}: found {found} with a configuration of wmediumd, allowed: that file "
                                   "with --out, --radio, --set and --json")  # fmt: skip
            converted = wmediumd.convert(files[0], radios, radio, tuple(set_ or ()))
            store.replace(target, lambda temporary: temporary.write_text(converted.toml, encoding="utf-8"))
            _show(target, converted, json)
            return
        options = community.Options(
            _part(component, near, hops, box),
            gateway or (),
            radio,
            _one_of("--traffic", traffic, traffic_.TRAFFIC),  # type: ignore[arg-type]
            flows,
            None
            if unmeasured is None
            else _one_of("--unmeasured", unmeasured, ("no-link", "heard", "path-loss", "silent")),  # type: ignore[arg-type]
            set_ or (),
            target.stem,
            () if routes is None else _routes(routes),
            mcast_rate,
            [_ends(text) for text in pair or ()],
        )
        kind = None if values is None else _one_of("--values", values, tables.BOUNDS)
        network = community.read(files, kind)  # type: ignore[arg-type]
        made = community.to_scenario(network, options, ", ".join(file.name for file in files))
        store.replace(target, lambda temporary: temporary.write_text(made.toml, encoding="utf-8"))
    if json:
        echo(json_.dumps({"scenario": str(target), **made.to_dict()}))
        return
    for note in made.notes:
        echo(str(note))
    gateways = ", ".join(made.network.named(made.gateways))
    size = f"{count(len(made.network.nodes), 'node')}, {count(len(made.network.links), 'link')}"
    echo(f"{size}, gateways: {gateways}")
    echo(f"scenario: {target}\nnext: fourhop draw {target}; fourhop whatif {target}")


def _show(target: Path, made: Converted, json: bool) -> None:
    radios = [{"address": address, "node": f"n{n}"} for n, address in enumerate(made.addresses)]
    if json:
        notes = [{"kind": note.kind, "text": note.text} for note in made.notes]
        echo(json_.dumps({"scenario": str(target), "radios": radios, "notes": notes}))
        return
    for note in made.notes:
        echo(str(note))
    echo(f"{count(len(radios), 'radio')}")
    echo(f"scenario: {target}\nnext: {' --map '.join((f'fourhop medium {target}', *made.maps))}")


def _routes(file: Path) -> list[tuple[str, str, str]]:
    from fourhop.community import tables
    from fourhop.errors import FourhopError

    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FourhopError(f"{file}: cannot be read: {error}") from error
    return tables.read_routes(str(file), text)


def _ends(text: str) -> tuple[str, str]:
    from fourhop.errors import FourhopError

    source, mark, target = text.partition(":")
    if not (source and mark and target):
        raise FourhopError(f"--pair: found {text!r}, allowed: FROM:TO, the names of two nodes")
    return source, target


def _part(component: str, near: str | None, hops: int, box: str | None) -> Part:
    from fourhop.community.choose import Part
    from fourhop.errors import FourhopError

    if component != "all" and not (component.isdigit() and int(component) > 0):
        raise FourhopError(f"--component: found {component!r}, allowed: a whole number from 1 on, or all")
    if hops < 1:
        raise FourhopError(f"--hops: found {hops}, allowed: a whole number from 1 on")
    corners = None
    if box is not None:
        try:
            south, west, north, east = map(float, box.split(","))
        except ValueError:
            raise FourhopError(f"--box: found {box!r}, allowed: four numbers, south,west,north,east") from None
        if south >= north or west >= east:
            raise FourhopError(f"--box: found {box!r}, allowed: south below north and west below east")
        corners = (south, west, north, east)
    return Part(None if component == "all" else int(component), near, hops, corners)


def _one_of(option: str, found: str, allowed: object) -> str:
    from fourhop.errors import FourhopError

    names = list(allowed)  # type: ignore[call-overload]
    if found not in names:
        raise FourhopError(f"{option}: found {found!r}, allowed: {', '.join(names)}")
    return found
