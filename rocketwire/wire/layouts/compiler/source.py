"""Source text of a generated function."""

from __future__ import annotations


class Source:
    """The lines of a function's body.

    Attributes:
        lines: the lines, indented.
        computed: variables with a computed value, and the expression of that value.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.computed: dict[str, str] = {}
        self._depth = 1
        self._count = 0

    def line(self, text: str) -> None:
        """Adds a line."""
        self.lines.append("    " * self._depth + text)

    def open(self, text: str) -> None:
        """Adds a line that starts a block."""
        self.line(text)
        self._depth += 1

    def close(self) -> None:
        """Ends the block."""
        self._depth -= 1

    def check(self, condition: str, error: str) -> None:
        """Adds ``raise error`` under a condition."""
        self.open(f"if {condition}:")
        self.line(f"raise {error}")
        self.close()

    def fresh(self, stem: str) -> str:
        """A variable name that is not used yet."""
        self._count += 1
        return f"{stem}{self._count}"
