"""The command ``rocketwire-conformance vectors --export DIR``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rocketwire_tools.conformance.arguments import FAILED, PASSED
from rocketwire_tools.conformance.vectors.vectors import NoVectorsError, export

if TYPE_CHECKING:
    from collections.abc import Sequence


def vectors(words: Sequence[str]) -> int:
    """Run ``vectors`` and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="rocketwire-conformance vectors",
        description="Write the golden vectors as JSON lines, for tests of codecs in any language.",
    )
    parser.add_argument(
        "--export",
        required=True,
        type=Path,
        metavar="DIR",
        help="output folder; created if missing",
    )
    args = parser.parse_args(words)
    try:
        count = export(args.export)
    except (NoVectorsError, OSError) as error:
        print(f"no vectors: {error}", file=sys.stderr)
        return FAILED
    print(f"{count} vectors in {args.export}; see {args.export / 'README.md'} for the format")
    return PASSED
