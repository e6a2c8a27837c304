"""How a pacing transport works, shown on one flow: its measurements, its interval, its sending times.

For TCP-AP: round-trip times, the four-hop delay derived from them, their variation, the interval between segments that
follows from both, and the window that limits all this. Formulas: docs/tcp-ap.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from fourhop.errors import FourhopError

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from fourhop.scenario import Scenario

STEPS = 400
"""Samples of a run, unless the scenario sets `sample_every`."""

# Panels from cause to effect: column, label, scale factor, unit.
_PANELS = (
    ("rtt_s", "round trip", 1e3, "ms"),
    ("delay_s", "n-hop delay", 1e3, "ms"),
    ("variation", "cov", 1.0, ""),
    ("pacing_interval_s", "interval", 1e3, "ms"),
    ("cwnd_segments", "window", 1.0, "segments"),
    ("goodput_bps", "goodput", 1e-3, "kbit/s"),
)


@dataclass(frozen=True)
class Explanation:
    """One flow of one run over time."""

    flow: str
    transport: str
    seed: int
    goodput_bps: float
    """Over the measured part of the run, as `fourhop.run` reports it with this seed."""
    series: pl.DataFrame
    """Rows of `Result.series` of this flow; docs/results.md has the columns."""
    others: tuple[tuple[str, float, float], ...]
    """The other flows: name, start and end in s."""

    @property
    def medians(self) -> dict[str, float]:
        """The median over time of each available quantity, in the units of the figure."""
        return {
            column: scale * cast(float, self.series[column].median())
            for column, _, scale, _ in _PANELS
            if self.series[column].null_count() < self.series.height
        }

    def to_dict(self) -> dict[str, object]:
        """The object of `explain --json`: the flow, its goodput in bit/s, and medians over time in base units."""
        scales = {column: scale for column, _, scale, _ in _PANELS}
        return {
            "flow": self.flow,
            "transport": self.transport,
            "seed": self.seed,
            "goodput_bps": self.goodput_bps,
            "medians": {column: median / scales[column] for column, median in self.medians.items()},
        }

    @property
    def stretched(self) -> float | None:
        """Median interval over median n-hop delay; `None` without a delay."""
        medians = self.medians
        return medians["pacing_interval_s"] / medians["delay_s"] if "delay_s" in medians else None

    @property
    def text(self) -> str:
        """Goodput and the medians in a few lines."""
        medians = self.medians
        goodput = f"goodput {self.goodput_bps / 1e3:.1f} kbit/s"
        lines = [f"{self.flow} ({self.transport}), seed {self.seed}: {goodput}; medians over time:"]
        for column, label, _, unit in _PANELS:
            # The median of its samples is not the goodput: traffic that arrives in bursts has a low median.
            if column in medians and column != "goodput_bps":
                lines.append(f"  {label:<12} {medians[column]:10.4g} {unit}".rstrip())
        if self.stretched is not None:
            lines.append(f"  median interval / median n-hop delay: {self.stretched:.2f}")
            lines.append("  at each moment: interval = (1 + 2 cov) × n-hop delay")
        return "\n".join(lines)

    def figure(self) -> Figure:
        """The quantities over time in stacked panels, from round trips to goodput."""
        from fourhop import style

        shown = [panel for panel in _PANELS if panel[0] in self.medians]
        made, first = style.figure(6.4, 0.6 + 1.15 * len(shown))
        first.remove()
        axes = made.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        for index, (place, (column, label, scale, unit)) in enumerate(zip(axes, shown, strict=True)):
            place.spines[["top", "right"]].set_visible(False)
            place.grid(axis="y", color="0.88", linewidth=0.6)
            place.set_axisbelow(True)
            for _, since, until in self.others:
                place.axvspan(since, until, color="0.93", linewidth=0.0)
            dots = column == "rtt_s"
            place.plot(
                self.series["time_s"].to_numpy(),
                self.series[column].cast(float).to_numpy() * scale,
                color=style.OKABE_ITO[index % len(style.OKABE_ITO)],
                linestyle="none" if dots else "-",
                marker="." if dots else "",
                markersize=2.5,
                linewidth=1.1,
                drawstyle="default" if column == "goodput_bps" else "steps-post",
            )
            place.set_ylabel(f"{label}\n({unit})" if unit else label, fontsize=9)
            place.set_ylim(bottom=0.0)
        axes[-1].set_xlabel("time (s)")
        made.align_ylabels(list(axes))
        return made

    def save(self, path: str | Path) -> Path:
        """Write the figure; the suffix decides the format: `.png`, `.svg` or `.pdf`.

        Raises `FourhopError` for another suffix, or if it cannot be written.
        """
        from fourhop import plots

        return plots.write(self.figure(), path)


def explain(scenario: Scenario | str | Path, *, flow: str | None = None, seed: int | None = None) -> Explanation:
    """Run a scenario once and explain one flow in detail.

    Args:
        scenario: The scenario, or the name of its file; without `sample_every` it is sampled 400 times.
        flow: Name of the flow; the first paced one if not given.
        seed: Seed of the run; the scenario's own if not given.

    Returns:
        The goodput of the flow in bit/s, its time series, and a figure of them.

    Raises:
        FourhopError: there is no such flow, or none over TCP.

    >>> import fourhop
    >>> seen = fourhop.explain(fourhop.Scenario.chain(hops=4, transport="tcp-ap", duration="10s"))
    >>> seen.medians["pacing_interval_s"] > seen.medians["delay_s"]
    True
    """
    import polars as pl

    from fourhop.quantity import seconds
    from fourhop.runner import run
    from fourhop.scenario import Scenario

    scenario = Scenario.of(scenario)
    scenario.require_flows()
    resolved = scenario.resolved
    if resolved.get("sample_every", "none") == "none":
        scenario = scenario.with_(sample_every=f"{max(1, round(1e3 * scenario.duration_s / STEPS))}ms")
    result = run(scenario, seed=seed)
    flows = {row["flow"]: row["transport"] for row in result.flows.iter_rows(named=True)}
    series = result.series
    if flow is None:
        paced = series.filter(pl.col("pacing_interval_s").is_not_null())["flow"].unique(maintain_order=True)
        over_tcp = [name for name, transport in flows.items() if transport not in ("udp", "ping")]
        if not over_tcp:
            raise FourhopError("no flow uses TCP: choose a scenario with a TCP flow")
        flow = paced[0] if len(paced) else over_tcp[0]
    elif flow not in flows:
        raise FourhopError(f"flow: found {flow!r}, allowed: {', '.join(flows)}")
    elif flows[flow] in ("udp", "ping"):
        raise FourhopError(f"flow: {flow!r} uses {flows[flow]}: choose a flow over TCP")
    listed = resolved.get("flows", [])
    others = tuple(
        (each["name"], seconds(each["start"]), _end(each.get("stop", "none"), scenario.duration_s))
        for each in listed
        if each["name"] != flow
    )
    mine = series.filter(pl.col("flow") == flow).sort("time_s")
    return Explanation(flow, flows[flow], result.seeds[0], result.goodput(flow).mean, mine, others)


def _end(stop: str, duration_s: float) -> float:
    from fourhop.quantity import seconds

    return duration_s if stop == "none" else seconds(stop)
