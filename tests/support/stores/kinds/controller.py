"""``controller``: as ``plain``, in a group whose master a controller elects (5.x)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.java.controller import JavaController
from tests.support.stores.kinds import dledger, plain
from tests.support.stores.recording import record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stores.truth import Truth


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    topics = tuple(plain.TOPICS)
    with JavaController(folder / "home-controller", version=release) as controller:
        options = {"enableControllerMode": "true", "controllerAddr": controller.address}
        return record(folder, release, "controller", dledger.fill, options=options, topics=topics)
