"""The code of docs/guide/client.md runs, from its first block to its last."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "client.md"


def test_the_code_of_the_guide_runs() -> None:
    blocks = re.findall(
        r"^```python\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    names: dict[str, Any] = {"__name__": "guide"}
    for block in blocks:
        exec(compile(block, str(GUIDE), "exec"), names)  # noqa: S102 - the guide's own code

    assert len(blocks) >= 10
    assert {"push", "iterate", "ordered", "orders", "transfer", "everywhere"} <= names.keys()
