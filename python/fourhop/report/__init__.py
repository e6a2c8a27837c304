"""The report: one page with every figure that was reproduced, its checks and what is behind it."""

from fourhop.report.build import build

__all__ = ["build"]
