"""Write the modules of ``rocketwire.sync`` whose source is a module of ``rocketwire.aio``.

usage: python -m tests.architecture.twins [--check]

Edit the module of ``rocketwire.aio``, and run this. ``--check`` compares, and is a step of
``make lint``. The other modules of both packages wait in different ways: they are not twins.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
RUFF: Final = str(Path(sys.executable).parent / "ruff")
TWINS: Final = ("__init__", "admin", "client", "lite_pull_consumer")
START: Final = "from __future__"
"""The first statement; the docstring before it is the module's own."""
NOTE: Final = "# Written by tests.architecture.twins: edit the module of this name in aio.\n\n"

SUBSTITUTIONS: Final = (
    (r"rocketwire\.aio", "rocketwire.sync"),
    (r"\bAsyncGenerator\b", "Generator"),
    (r"\basync def\b", "def"),
    (r"\bawait ", ""),
    (r"for (\w+) in chunk:\s+yield \1\n", "yield from chunk\n"),
    # aio's clients are opened by their block, those of threads when they are created
    (r"Open nothing yet; (.*open_admin)", r"Open an admin; \1"),
    (r"Open nothing yet; (.*open_client)", r"Open a client; \1"),
    (r"Open nothing yet; (.*_consumer)", r"Open a consumer; \1"),
    (r"(an ``Admin``) with ``async .* it\.", r"\1; the end of its block, or ``close``, closes it."),
    (r"(Open a client) with ``async .* it\.", r"\1; ``close`` or the end of its block closes it."),
    (
        r"a consumer with ``async .* it\.",
        "a lite pull consumer; the end of its block, or ``close``, closes it.",
    ),
)


def write_twin(name: str) -> str:
    source = (ROOT / f"rocketwire/aio/{name}.py").read_text("utf-8")
    head = (ROOT / f"rocketwire/sync/{name}.py").read_text("utf-8").partition(START)[0]
    text = head.replace(NOTE, "") + NOTE + START + source.partition(START)[2]
    for pattern, replacement in SUBSTITUTIONS:
        text = re.sub(pattern, replacement, text)
    for arguments in (["check", "--select", "I", "--fix"], ["format"]):
        command = [
            RUFF,
            *arguments,
            "--quiet",
            "--stdin-filename",
            f"rocketwire/sync/{name}.py",
            "-",
        ]
        ended = subprocess.run(
            command, cwd=ROOT, input=text, stdout=subprocess.PIPE, text=True, check=True
        )
        text = ended.stdout
    return text


def main(*arguments: str) -> None:
    for name in TWINS:
        path, text = ROOT / f"rocketwire/sync/{name}.py", write_twin(name)
        if "--check" not in arguments:
            path.write_text(text, "utf-8")
        elif path.read_text("utf-8") != text:
            sys.exit(f"{path}: is not as its source; run python -m tests.architecture.twins")


if __name__ == "__main__":
    main(*sys.argv[1:])
