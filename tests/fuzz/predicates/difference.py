"""A difference between both sides, and the text of its trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.trials import Difference, Refusal

if TYPE_CHECKING:
    from tests.fuzz.trials import Trial


def text_of(trial: Trial) -> bytes:
    """The JSON text of a trial: a frame's header, or a body."""
    if trial.about == "frame":
        return trial.data[8 : 8 + int.from_bytes(trial.data[5:8], "big")]
    return trial.data


def only_ours(found: Difference, message: str = "") -> bool:
    """Java refuses, saying ``message``; we do not."""
    if not isinstance(found.java, Refusal) or isinstance(found.ours, Refusal):
        return False
    return message in f"{found.java.error}: {found.java.message}"


def only_java(found: Difference, message: str = "") -> bool:
    """We refuse, saying ``message``; Java does not."""
    if not isinstance(found.ours, Refusal) or isinstance(found.java, Refusal):
        return False
    return message in found.ours.message
