"""Ask pyright whether the public types of the library are complete (``pyright --verifytypes``).

usage: python -m tests.architecture.public_types

Prints each public name whose type is unknown, or which type checkers could infer differently, and
exits with status 1 if there is one.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

BIN: Final = Path(sys.executable).parent
UNTYPED: Final = "rocketwire.wire.layouts.constructs."
"""Classes that extend those of construct, which has no types."""


def ask_pyright() -> list[dict[str, Any]]:
    pyright = [
        str(BIN / "pyright"),
        "--verifytypes",
        "rocketwire",
        "--ignoreexternal",
        "--outputjson",
    ]
    # pyright asks the first python of the search path for the folders of packages
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    answer = subprocess.run(pyright, env=environment, stdout=subprocess.PIPE, check=False).stdout
    symbols = json.loads(answer)["typeCompleteness"]["symbols"]
    return [symbol for symbol in symbols if symbol["isExported"]]


def main() -> int:
    symbols = ask_pyright()
    incomplete = [
        symbol
        for symbol in symbols
        if symbol["isTypeAmbiguous"] or not symbol["isTypeKnown"]
        if not symbol["name"].startswith(UNTYPED)
    ]
    for symbol in incomplete:
        messages = [diagnostic["message"] for diagnostic in symbol["diagnostics"]]
        # a partially unknown type follows from another name's
        if not all("partially unknown" in message for message in messages):
            print(symbol["name"], *messages, sep="\n  ")
    print(f"{len(symbols)} public names, {len(incomplete)} without a complete type")
    return 1 if incomplete or not symbols else 0


if __name__ == "__main__":
    sys.exit(main())
