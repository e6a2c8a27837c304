"""TCP over multihop 802.11: describe a network, run it, get goodput with confidence intervals.

>>> import fourhop
>>> result = fourhop.run(fourhop.Scenario.chain(hops=3, transport="newreno", duration="10s"), runs=3)
>>> result.summary.columns[:3]
['flow', 'src', 'dst']

Importing the package is cheap: data frames, plots and statistics load on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fourhop import trace as trace
    from fourhop.comparison import Comparison as Comparison
    from fourhop.comparison import Difference as Difference
    from fourhop.comparison import compare as compare
    from fourhop.emulation import Emulation as Emulation
    from fourhop.emulation import emulate as emulate
    from fourhop.errors import FourhopError as FourhopError
    from fourhop.errors import FourhopWarning as FourhopWarning
    from fourhop.errors import IncompleteError as IncompleteError
    from fourhop.errors import ScenarioError as ScenarioError
    from fourhop.errors import SweepInterrupted as SweepInterrupted
    from fourhop.explanation import Explanation as Explanation
    from fourhop.explanation import explain as explain
    from fourhop.result import Result as Result
    from fourhop.runner import Interrupted as Interrupted
    from fourhop.runner import Progress as Progress
    from fourhop.runner import run as run
    from fourhop.scenario import Scenario as Scenario
    from fourhop.scenario import catalog as catalog
    from fourhop.scenario import schema as schema
    from fourhop.search import BestRate as BestRate
    from fourhop.search import Trial as Trial
    from fourhop.search import best_rate as best_rate
    from fourhop.stats import Interval as Interval
    from fourhop.sweeps.describe import Sweep as Sweep
    from fourhop.sweeps.execute import SweepProgress as SweepProgress
    from fourhop.sweeps.execute import sweep as sweep
    from fourhop.sweeps.result import SweepResult as SweepResult

    __version__: str

# The module of each public name, imported on first access.
_HOME = {
    "BestRate": "fourhop.search",
    "Comparison": "fourhop.comparison",
    "Difference": "fourhop.comparison",
    "Trial": "fourhop.search",
    "best_rate": "fourhop.search",
    "Emulation": "fourhop.emulation",
    "Explanation": "fourhop.explanation",
    "FourhopError": "fourhop.errors",
    "FourhopWarning": "fourhop.errors",
    "IncompleteError": "fourhop.errors",
    "Interrupted": "fourhop.runner",
    "Interval": "fourhop.stats",
    "Progress": "fourhop.runner",
    "Result": "fourhop.result",
    "Scenario": "fourhop.scenario",
    "ScenarioError": "fourhop.errors",
    "catalog": "fourhop.scenario",
    "compare": "fourhop.comparison",
    "emulate": "fourhop.emulation",
    "explain": "fourhop.explanation",
    "run": "fourhop.runner",
    "schema": "fourhop.scenario",
    "Sweep": "fourhop.sweeps.describe",
    "SweepInterrupted": "fourhop.errors",
    "SweepProgress": "fourhop.sweeps.execute",
    "SweepResult": "fourhop.sweeps.result",
    "sweep": "fourhop.sweeps.execute",
}

__all__ = [
    "BestRate",
    "Comparison",
    "Difference",
    "Emulation",
    "Explanation",
    "FourhopError",
    "FourhopWarning",
    "IncompleteError",
    "Interrupted",
    "Interval",
    "Progress",
    "Result",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "SweepInterrupted",
    "SweepProgress",
    "SweepResult",
    "Trial",
    "best_rate",
    "catalog",
    "compare",
    "emulate",
    "explain",
    "run",
    "schema",
    "sweep",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return importlib.import_module("fourhop._core").version()
    if name == "trace":
        return importlib.import_module("fourhop.trace")
    if name not in _HOME:
        raise AttributeError(f"module 'fourhop' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, "__version__", "trace"})
