"""The code of the guides to clients runs, from the first block to the last."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

GUIDES = Path(__file__).parents[3] / "docs" / "guide"


def run(guide: Path) -> tuple[int, dict[str, Any]]:
    """Run the blocks of a guide; returns how many there were, and the names they defined."""
    text = guide.read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "guide"}
    for block in blocks:
        exec(compile(block, str(guide), "exec"), names)
    return len(blocks), names


def test_the_code_of_the_guide_to_clients_runs() -> None:
    number, names = run(GUIDES / "client.md")

    assert number >= 10
    assert {"push", "iterate", "ordered", "orders", "transfer", "everywhere"} <= names.keys()


def test_the_code_of_the_guide_to_operators_calls_runs() -> None:
    number, names = run(GUIDES / "admin.md")

    assert number >= 6
    assert {"create", "start_over", "what_became_of", "browse", "admit"} <= names.keys()
