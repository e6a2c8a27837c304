"""Studies: each is a figure of a paper as one short file, with checks of the paper's statements about it.

`fourhop.study.study` shows a study, docs/add-a-figure.md explains how to add one.

| module | what |
|---|---|
| `study` | the study: its sweeps, charts and checks |
| `cells` | measurements of a sweep, selected by its keys |
| `recent` | cache of time series |
| `estimate` | ratios, differences and slopes with their intervals |
| `claims` | statements compared with intervals, and verdicts |
| `chart` | figures as data |
| `drawing` | how figures are drawn: limits, ticks, colours, marks |
| `draw` | figures as vector graphics |
| `flows` | measures over all flows of a run: fairness, starvation |
| `variants` | a scenario with other transports and keys |
| `worlds` | profiles, and keys on top of them for settings that the papers leave out |
| `find` | studies found in the folder of the papers |
| `looks` | when a study may stop, and the confidence this requires |
| `course` | a study in one world, look after look |
| `execute` | running a study and recording its outcome |
"""

from fourhop.study.cells import Cells, Run
from fourhop.study.chart import (
    Chart,
    Line,
    Measure,
    bars,
    curves,
    groups,
    line,
    lines,
    series,
    shares,
    table,
    table_by,
)
from fourhop.study.claims import (
    Claim,
    about,
    above,
    below,
    between,
    every,
    fair,
    falls,
    most,
    ordered,
    rises,
)
from fourhop.study.estimate import (
    Estimate,
    Sample,
    combine,
    growth,
    peak,
    percent,
    ratio,
    run_by_run,
    share,
    slope,
    trough,
)
from fourhop.study.study import OUR_OWN, STEADY, Check, Data, Profile, Study, Why
from fourhop.study.variants import Variants

__all__ = [
    "OUR_OWN",
    "STEADY",
    "Cells",
    "Chart",
    "Check",
    "Claim",
    "Data",
    "Estimate",
    "Line",
    "Measure",
    "Profile",
    "Run",
    "Sample",
    "Study",
    "Variants",
    "Why",
    "about",
    "above",
    "bars",
    "below",
    "between",
    "combine",
    "curves",
    "every",
    "fair",
    "falls",
    "groups",
    "growth",
    "line",
    "lines",
    "most",
    "ordered",
    "peak",
    "percent",
    "ratio",
    "rises",
    "run_by_run",
    "series",
    "share",
    "shares",
    "slope",
    "table",
    "table_by",
    "trough",
]
