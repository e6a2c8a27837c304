"""`fourhop run`: run a scenario and show its measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from click import echo

from fourhop.cli import common, tracing
from fourhop.cli.options import Option

if TYPE_CHECKING:
    from fourhop.result import Result


def command(
    file: common.File,
    seed: Annotated[
        int | None, Option(metavar="N", help="Seed of the first run; the next runs use the next seeds.")
    ] = None,
    runs: Annotated[int | None, Option(metavar="N", help="Independent replications.")] = None,
    precision: Annotated[
        str | None,
        Option(metavar="SHARE", help="Instead of --runs: add runs until the interval is this narrow, such as 5%."),
    ] = None,
    precision_of: Annotated[
        Literal["aggregate", "flows"],
        Option(help="Goodput that --precision refers to: of all flows together, or of each flow."),
    ] = "aggregate",
    max_runs: Annotated[int, Option(metavar="N", help="Maximum number of runs for --precision.")] = 100,
    set_: common.Set = None,
    json: common.Json = False,
    csv: common.Csv = False,
    out: Annotated[
        Path | None, common.out("DIR", "Write Parquet tables, the scenario, seeds and version into this folder.")
    ] = None,
    pcap: Annotated[
        Path | None, Option(metavar="DIR", help="Write packet captures into this folder, one file per node.")
    ] = None,
    pcap_merged: Annotated[
        bool, Option("--pcap-merged", help="With --pcap: write one pcapng file with an interface per node.")
    ] = False,
    pcap_lost: Annotated[
        bool, Option("--pcap-lost", help="With --pcap: include frames lost to collisions and noise, with a bad FCS.")
    ] = False,
    trace: tracing.Folder = None,
    trace_from: tracing.From = None,
    trace_to: tracing.To = None,
    trace_nodes: tracing.Nodes = None,
    trace_flows: tracing.Flows = None,
    perfetto: Annotated[
        Path | None, Option(metavar="FILE", help="Write the trace of one run to this file, for Perfetto's viewer.")
    ] = None,
    jobs: Annotated[int | None, Option(metavar="N", help="Parallel runs; default: one per core.")] = None,
    transport: common.Transport = None,
    duration: common.Duration = None,
) -> None:
    """Run a scenario: a table per flow with 95 % intervals, or one JSON object."""
    with common.errors():
        from fourhop.errors import IncompleteError
        from fourhop.runner import Interrupted, run

        common.one_of(json=json, csv=csv)
        traced = tracing.request(trace, trace_from, trace_to, trace_nodes, trace_flows, perfetto, runs, precision)
        scenario = common.load(file, set_, transport, duration)
        from fourhop.cli.display import Display

        code = 0
        failure: BaseException | None = None
        result: Result | None
        try:
            with Display() as display:
                result = run(
                    scenario,
                    runs,
                    seed,
                    precision,
                    jobs,
                    display.update,
                    out,
                    pcap,
                    precision_of=precision_of,
                    max_runs=max_runs,
                    pcap_merged=pcap_merged,
                    pcap_lost=pcap_lost,
                    trace=traced.request,
                )
        except Interrupted as stop:
            code, failure, result = common.INTERRUPTED, stop.__cause__, stop.result
            if result is None:
                common.say(str(stop))
        except IncompleteError as stop:
            code, failure, result = common.INCOMPLETE, stop, stop.result
        if result is not None:
            _show(result, json=json, csv=csv)
            if result.note is not None:
                common.say(f"note: {result.note}")
            if out is not None and (not isinstance(failure, IncompleteError) or failure.saved):
                common.say(f"written: {out}")
            if pcap is not None:
                common.say(f"captures: {pcap}")
            traced.finish()
        if failure is not None:
            common.tell(failure)
        if code:
            raise common.Exit(code)


def _show(result: Result, *, json: bool, csv: bool) -> None:
    if json:
        echo(result.to_json())
    elif csv:
        echo(result.to_csv(), nl=False)
    else:
        from fourhop.cli import tables

        tables.show(result)
