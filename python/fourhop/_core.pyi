from collections.abc import Sequence
from typing import Literal, TypedDict, final, type_check_only

__all__ = [
    "Batch",
    "BestRate",
    "ScenarioError",
    "build",
    "catalog",
    "check",
    "largest_scenario",
    "ns2",
    "places",
    "reference",
    "schema",
    "series_columns",
    "to_toml",
    "version",
]

@type_check_only
class Problem(TypedDict):
    file: str
    line: int | None
    column: int | None
    key: str
    found: str
    allowed: str
    hint: str | None

class ScenarioError(ValueError):
    problems: list[Problem]

def version() -> str: ...
def series_columns() -> list[tuple[str, str]]: ...
def build() -> str: ...
def largest_scenario() -> int: ...
def schema() -> str: ...
def catalog() -> str: ...
def reference() -> str: ...
def check(
    text: str, file: str = "<text>", overrides: Sequence[str] = ..., format: Literal["toml", "json"] = "toml"
) -> str: ...
def ns2(
    text: str,
    file: str = "<text>",
    transport: str | None = None,
    duration: str | None = None,
    overrides: Sequence[str] = ...,
) -> str: ...
def to_toml(scenario_json: str) -> str: ...
def places(scenario_json: str, seed: int, times_s: Sequence[float]) -> list[list[tuple[float, float]]]: ...

@final
class Batch:
    def __new__(
        cls,
        scenario_json: str,
        seeds: Sequence[int],
        jobs: int = 1,
        pcap_dir: str | None = None,
        series_dir: str | None = None,
    ) -> Batch: ...
    def poll(self, timeout_s: float) -> tuple[int, str] | None: ...
    def progress(self) -> list[tuple[int, float]]: ...
    def is_finished(self) -> bool: ...
    def stop(self) -> None: ...

@final
class BestRate:
    def __new__(
        cls,
        scenario_json: str,
        flow: int,
        payload_bytes: int,
        from_bps: int,
        to_bps: int,
        loss_bound: float,
        trials: int,
        seeds: Sequence[int],
    ) -> BestRate: ...
    def poll(self, timeout_s: float) -> str | None: ...
    def stop(self) -> None: ...
