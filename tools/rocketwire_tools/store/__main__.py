"""The command ``rocketwire-store``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rocketwire_tools.cli.file_program import run_program
from rocketwire_tools.store.cli import parser

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, or those of the process; returns the exit status."""
    return run_program(parser, argv, extra="store")


if __name__ == "__main__":
    sys.exit(main())
