"""When a difference of a stream of frames is explained."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, cast

from tests.fuzz.streams import cut
from tests.fuzz.trials import Difference

if TYPE_CHECKING:
    from tests.fuzz.trials import Trial


def inside_stream(trial: Trial, found: Difference) -> tuple[str, Trial, Difference] | None:
    """The same difference as one of a frame's header, if it is inside one."""
    if trial.about == "frame":
        return ("json-header", "binary-header")[trial.data[4]], trial, found
    if found.path[:1] != ("commands",) or len(found.path) < 3:
        return None
    frame = cut(trial.data)[0][int(found.path[1])]
    alone = dataclasses.replace(trial, data=frame, about="frame")
    return inside_stream(alone, dataclasses.replace(found, path=found.path[2:]))


def behind_bad(trial: Trial, found: Difference) -> bool:
    if found.path != ("behind",):
        return False
    return found.ours == [] and cast("dict[str, Any]", trial.ours)["open"] is False


def bad_so_far(trial: Trial, found: Difference) -> bool:
    if found != Difference(("open",), java=True, ours=False):
        return False
    rest = cut(trial.data)[1]
    return len(rest) < 4 + int.from_bytes(rest[:4], "big", signed=True)
