#!/usr/bin/env python3
"""Write the tables of columns in docs/results.md as the simulator declares them.

    scripts/result_columns.py [--check]

The columns of the table `flows` are written between `<!-- columns: flows -->` and `<!-- end -->`. With `--check`,
writes nothing, and exits with 1 if something would change.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from fourhop import columns

PAGE = Path(__file__).resolve().parent.parent / "docs" / "results.md"
PART = re.compile(r"(<!-- columns: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def current(text: str) -> str:
    """The page with its tables as declared."""
    return PART.sub(lambda part: f"{part[1]}{columns.markdown(part[2])}{part[3]}", text)


def main() -> int:
    """Write the page, or check whether it is current."""
    written = PAGE.read_text(encoding="utf-8")
    wanted = current(written)
    if "--check" in sys.argv[1:]:
        return int(written != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
