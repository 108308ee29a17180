"""Constants of an enum by the texts that fastjson2 takes for their names.

Besides its name a constant has its ordinal, as decimal digits.  In a name letter case does not
matter, nor do underscores, hyphens and blanks, each of which is skipped unless the same character
follows or the name ends with it (Java: ``JSONReader.getNameHashCodeLCase``).
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
    """Makes the function that finds the ordinal of a constant.

    Args:
        names: of the constants, in order.

    Returns:
        A function from a text to an index of ``names``; None where Java finds no constant either.
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
