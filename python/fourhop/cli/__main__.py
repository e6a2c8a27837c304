"""`python -m fourhop.cli`, the same as `fourhop`."""

from fourhop.cli import main

main()
