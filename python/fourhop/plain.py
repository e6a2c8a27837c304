"""Scenarios as text: Python values as JSON and TOML, and reading files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fourhop import _core
from fourhop.errors import FourhopError


def plain(value: Any) -> Any:
    """Convert a value to JSON types: numpy numbers and arrays to Python's, tuples to lists."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple | range) else value


def whole(number: Any) -> Any:
    """Convert `4.0` to `4`; leave anything else as it is, for the simulator to judge."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def to_json(document: Mapping[str, Any]) -> str:
    """A document as JSON. Raises `FourhopError` for values that JSON cannot represent."""
    try:
        return json.dumps(plain(document))
    except TypeError as error:
        raise FourhopError(
            f"scenario: {error}, allowed: strings, numbers, booleans, and lists and tables of them"
        ) from None


def leaves(keys: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and value of every key, descending into tables."""
    for key, value in keys.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def to_toml(value: object) -> str:
    """A plain value as TOML. Strings, numbers, booleans and lists are written as in JSON, tables are not."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {to_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(to_toml, value)) + "]"
    return to_json({"value": value})[len('{"value": ') : -1]


def read(path: Path) -> str:
    """Read a text file. Raises `FourhopError` if it cannot be read or is too large to be a scenario."""
    try:
        if (size := path.stat().st_size) > _core.largest_scenario():
            raise FourhopError(f"{path}: found {size} bytes, allowed: at most {_core.largest_scenario()}")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise FourhopError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise FourhopError(f"{path}: not UTF-8 text at byte {error.start}; convert it to UTF-8") from None
