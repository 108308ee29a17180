"""Look-up of enum constants by the texts that fastjson2 accepts.

fastjson2 accepts the name and the ordinal as decimal digits.  It ignores letter case, underscores,
hyphens and spaces in a name, but not a character that is repeated or ends the name (Java:
``JSONReader.getNameHashCodeLCase``).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SKIPPED = r"([ _-])(?!\1|\Z)"
_ORDINAL = r"[+-]?[0-9]{1,40}"


def constant_finder(names: Sequence[str]) -> Callable[[str], int | None]:
    """Return a function that looks up a constant.

    Args:
        names: names of the constants, in order.

    Returns:
        A function from a text to an index of ``names``, or None if Java finds no constant.
    """

    @cache
    def by_letters() -> dict[str, int]:
        return {_letters(name): index for index, name in enumerate(names)}

    def index_of(text: str) -> int | None:
        if re.fullmatch(_ORDINAL, text):
            ordinal = int(text)
            return ordinal if 0 <= ordinal < len(names) else None
        return by_letters().get(_letters(text)) if text.isascii() else None

    return index_of


def _letters(name: str) -> str:
    return re.sub(_SKIPPED, "", name).lower()
