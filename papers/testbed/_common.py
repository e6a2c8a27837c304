"""What the studies of the testbed share."""

from __future__ import annotations

from collections.abc import Mapping

PAPER = "Gupta, Wormsbecker, Williamson, MASCOTS 2004"

PACED: Mapping[str, str] = {"reno": "Reno", "rbp-reno": "RBP"}
"""Transports that are compared, with their labels."""
