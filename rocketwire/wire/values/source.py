"""Source text of a generated function, line by line, and the constants that its lines name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class Source:
    """The body of one function.

    Attributes:
        lines: the lines, indented.
        names: expressions of the constants that the lines use, by name.
        sources: variables that were computed from others, and the expression they came from.
    """

    def __init__(self, prefix: str = "") -> None:
        """Args: prefix: what the names of constants begin with, so that several functions share a module."""
        self._prefix = prefix
        self.lines: list[str] = []
        self.names: dict[str, str] = {}
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

    def constant(self, stem: str, expression: str) -> str:
        """A name for a constant that the body uses.

        Args:
            stem: what the name begins with.
            expression: its source; may use ``Struct`` and what else the function's module offers.
        """
        name = self.fresh(f"{self._prefix}{stem}")
        self.names[name] = expression
        return name

    def function(self, head: str, tail: str) -> str:
        """The whole text: the constants, a line that begins the function, the body, and a line that ends it."""
        constants = (f"{name} = {expression}" for name, expression in self.names.items())
        return "\n".join((*constants, head, *self.lines, tail, ""))


def compiled(text: str, function: str, label: str, names: Mapping[str, object]) -> Any:
    """The function that a text of our own defines: the one place where text becomes code.

    Args:
        text: its source.
        function: its name.
        label: shows in tracebacks.
        names: what it may use.
    """
    namespace = dict(names)
    exec(compile(text, f"<{label}>", "exec"), namespace)  # noqa: S102  # never of what was received
    return namespace[function]
