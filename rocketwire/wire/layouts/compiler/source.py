"""Source text of a generated function, line by line, and the constants that its lines use."""

from __future__ import annotations


class Source:
    """The body of one function.

    Attributes:
        lines: the lines, indented.
        constants: expressions of the constants that the lines use, by name.
        computed: variables with a computed value, and the expression of that value.
    """

    def __init__(self, prefix: str = "") -> None:
        """Args: prefix: start of the constants' names, because several functions share a module."""
        self._prefix = prefix
        self.lines: list[str] = []
        self.constants: dict[str, str] = {}
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

    def fresh(self, stem: str) -> str:
        """A variable name that is not used yet."""
        self._count += 1
        return f"{stem}{self._count}"

    def constant(self, stem: str, expression: str) -> str:
        """The name of a new constant.

        Args:
            stem: start of its name.
            expression: its source; may use the imports of ``fused``.
        """
        name = self.fresh(f"{self._prefix}{stem}")
        self.constants[name] = expression
        return name

    def function(self, head: str, tail: str) -> str:
        """The whole text: constants, first line of the function, body, last line."""
        constants = (f"{name} = {expression}" for name, expression in self.constants.items())
        return "\n".join((*constants, head, *self.lines, tail, ""))
