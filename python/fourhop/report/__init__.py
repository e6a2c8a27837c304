"""The report: figures that were measured again, checks, what is behind them; an overview, a page for each paper."""

from fourhop.report.build import build, build_worlds

__all__ = ["build", "build_worlds"]
