from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypedDict, final, type_check_only

__all__ = [
    "Run",
    "build",
    "can_run",
    "catalog",
    "check",
    "flows_without_path",
    "keys_meant",
    "largest_scenario",
    "names",
    "ns2",
    "places",
    "quantity",
    "reference",
    "schema",
    "series_columns",
    "survey",
    "tables",
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

def version() -> str: ...
def series_columns() -> list[tuple[str, str]]: ...
def tables() -> str: ...
def build() -> str: ...
def names() -> str: ...
def largest_scenario() -> int: ...
def schema() -> str: ...
def catalog() -> str: ...
def reference() -> str: ...
def check(
    text: str,
    file: str = "<text>",
    overrides: Sequence[str] = ...,
    format: Literal["toml", "json"] = "toml",
    given_by: str = "--set",
) -> str: ...
def ns2(
    text: str,
    file: str = "<text>",
    transport: str | None = None,
    duration: str | None = None,
    overrides: Sequence[str] = ...,
) -> str: ...
def keys_meant(scenario_json: str, key: str) -> list[str]: ...
def can_run(scenario_json: str, seed: int) -> None: ...
def flows_without_path(scenario_json: str, seed: int) -> list[str]: ...
def quantity(text: str) -> tuple[str, str, str, float]: ...
def to_toml(scenario_json: str) -> str: ...
def survey(scenario_json: str, seed: int) -> str: ...
def places(scenario_json: str, seed: int, times_s: Sequence[float]) -> list[list[tuple[float, float]]]: ...

@final
class Run:
    def __new__(
        cls,
        scenario_json: str,
        seed: int,
        pcap_dir: Path | None = None,
        series_dir: Path | None = None,
        paced_udp: tuple[int, int, int] | None = None,
        pcap_merged: bool = False,
        pcap_lost: bool = False,
        trace: tuple[str, int | None, int | None, list[str] | None, list[str] | None, int | None] | None = None,
    ) -> Run: ...
    def poll(self, timeout_s: float) -> str | None: ...
    def simulated_s(self) -> float: ...
    def stop(self) -> None: ...
