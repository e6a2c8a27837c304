"""The `fourhop` command: its commands are in `commands.py`."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Entry point of the `fourhop` script."""
    # Searching what imports make for cycles takes a twentieth of a short command, and finds nothing to free.
    gc.set_threshold(50_000, 10, 10)
    try:
        try:
            from fourhop.cli.commands import app

            app()
        finally:
            sys.stdout.flush()
            # So does the search with which the interpreter ends.
            gc.freeze()
    except KeyboardInterrupt:
        # Between start and the command, or in the middle of printing: nothing to keep.
        sys.exit(130)
    except OSError as error:
        # Keep the interpreter from writing the failed output again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = error.filename or "standard output"
        print(f"error: {where}: cannot be written: {error.strerror or error}", file=sys.stderr)
        sys.exit(1)
