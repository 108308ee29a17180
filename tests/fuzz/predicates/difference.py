"""A difference between both sides, and the texts of its trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.registrations import split, topics_of
from tests.fuzz.trials import Difference, Refusal

if TYPE_CHECKING:
    from tests.fuzz.trials import Trial


def texts_of(trial: Trial) -> list[bytes]:
    """The JSON texts of a trial: a frame's header, a body, or the pieces of a packed registration."""
    if trial.about == "frame":
        return [trial.data[8 : 8 + int.from_bytes(trial.data[5:8], "big")]]
    if trial.about.startswith("packed") and len(trial.data) > 4:
        items = split(trial.data)
        topics = topics_of(items)
        others = [piece for _, piece in (items[0], *items[1 + len(topics) :]) if piece is not None]
        return [*others, *(topic.split(b" ", 5)[-1] for topic in topics)]
    return [trial.data]


def text_of(trial: Trial) -> bytes:
    return texts_of(trial)[0]


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
