"""Source text of a generated function, line by line, and the values that its lines name."""

from __future__ import annotations

from typing import Any


class Source:
    """The body of one function.

    Attributes:
        lines: the lines, indented.
        names: values that the lines use, by name.
        sources: variables that were computed from others, and the expression they came from.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {}
        self.sources: dict[str, str] = {}
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

    def fresh(self, stem: str) -> str:
        """A variable name that is not used yet."""
        self._count += 1
        return f"{stem}{self._count}"

    def constant(self, stem: str, value: Any) -> str:
        """A name for a value that the body uses."""
        name = self.fresh(stem)
        self.names[name] = value
        return name
