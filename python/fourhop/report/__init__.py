"""The report of reproduced figures with their checks and data: an overview, and a page for each paper."""

from fourhop.report.build import build, build_worlds

__all__ = ["build", "build_worlds"]
