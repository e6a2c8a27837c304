"""The `fourhop` program; its commands are in `commands.py`."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Entry point of the `fourhop` script."""
    # Searching for reference cycles after imports takes a twentieth of a short command, and frees nothing.
    gc.set_threshold(50_000, 10, 10)
    try:
        try:
            from fourhop.cli.commands import app

            app()
        finally:
            sys.stdout.flush()
            # The same is true of the search at interpreter exit.
            gc.freeze()
    except KeyboardInterrupt:
        # Before the command has started, or while printing: there is nothing to keep.
        sys.exit(130)
    except OSError as error:
        # Keep the interpreter from writing the failed output again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = error.filename or "standard output"
        print(f"error: {where}: cannot be written: {error.strerror or error}", file=sys.stderr)
        sys.exit(1)
