"""The report: every figure that was reproduced, its checks and what is behind it; an overview, and a page for each paper."""

from fourhop.report.build import build

__all__ = ["build"]
