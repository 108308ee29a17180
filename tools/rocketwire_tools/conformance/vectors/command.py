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
    """Run ``vectors``; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="rocketwire-conformance vectors",
        description="Write the golden vectors as JSON lines, for codecs in any language to test themselves.",
    )
    parser.add_argument("--export", required=True, type=Path, metavar="DIR", help="made if need be")
    args = parser.parse_args(words)
    try:
        count = export(args.export)
    except (NoVectorsError, OSError) as error:
        print(f"no vectors: {error}", file=sys.stderr)
        return FAILED
    print(f"{count} vectors in {args.export}; {args.export / 'README.md'} says how to read them")
    return PASSED
