"""``Play``: one case being carried out against one target."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketwire_tools.conformance.names import Names
    from rocketwire_tools.conformance.steps import Step


class CaseFailedError(Exception):
    """The target did something that the case does not accept; the text says what."""


class Play:
    """The primitives of ``Call`` steps.

    Attributes:
        names: the names of this run.
    """

    names: Names

    async def run(self, *steps: Step) -> None:
        """Carry out steps, as if they stood in the case.

        Raises:
            CaseFailedError: something else came than was acceptable.
        """
        raise CaseFailedError(f"{len(steps)} steps cannot be carried out")

    def fail(self, reason: str) -> None:
        """End the case as failed.

        Raises:
            CaseFailedError: always.
        """
        raise CaseFailedError(reason)
