"""Streams, standard and processor of common routers, by the name that they report (`fourhop/data/routers`).

The processor's clock rate determines the cost of a packet. The scale comes from one kind of router: the AR9344 at 560
MHz of Battlemesh v11 sends TCP at 60 Mbit/s at most, where the air would carry more (docs/mesh.md). We think that
others differ only in their clock rate; processors with several cores or of another architecture do more.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

CYCLES = 106_000
"""Processor cycles per packet: 190 us at 560 MHz."""


@dataclass(frozen=True)
class Router:
    """A model, or several similar ones."""

    words: tuple[str, ...]
    """Parts of names that identify it, in lower case."""
    name: str
    streams_24: int | None
    streams_5: int | None
    standard_5: str
    """`n` or `ac`."""
    processor: str
    mhz: int
    source: str

    @property
    def packet_cost_us(self) -> int:
        """Processor time per packet, in microseconds."""
        return round(CYCLES / self.mhz)

    def streams(self, band: str) -> int | None:
        """Streams at 2.4 or 5 GHz; `None` without a radio in that band."""
        return self.streams_24 if band == "2.4" else self.streams_5


@cache
def models() -> tuple[Router, ...]:
    """All routers, in the order in which their words are searched."""
    text = resources.files("fourhop").joinpath("data/routers/models.csv").read_text(encoding="utf-8")
    return tuple(
        Router(
            tuple(row["words"].split("|")),
            row["name"],
            int(row["streams_24"]) if row["streams_24"] else None,
            int(row["streams_5"]) if row["streams_5"] else None,
            row["standard_5"],
            row["processor"],
            int(row["mhz"]),
            row["source"],
        )
        for row in csv.DictReader(text.splitlines())
    )


def find(model: str) -> Router | None:
    """The router that reports this name."""
    plain = " ".join(model.lower().split())
    return next((router for router in models() if any(word in plain for word in router.words)), None)


def usual_streams(routers: Iterable[Router], band: str) -> int | None:
    """The most common number of streams in a band."""
    known = [streams for router in routers if (streams := router.streams(band)) is not None]
    return max(sorted(set(known)), key=known.count) if known else None
