"""Named tuples, beside those of the standard library."""

from __future__ import annotations

import pickle
import typing
from typing import Any

import pytest

from rocketwire.policy.retry import Verdict
from rocketwire.wire.values.named import NamedTuple

OURS: Any = NamedTuple


def declared(base: Any) -> Any:
    class Pair(base):  # type: ignore[misc]  # of either
        """Two of a kind."""

        left: int
        right: str | None = None

        @property
        def both(self) -> tuple[int, str | None]:
            """Left and right."""
            return self.left, self.right

    return Pair


CLASSES = [declared(OURS), declared(typing.NamedTuple)]


@pytest.mark.parametrize("pair", CLASSES)
def test_they_are_made_printed_and_compared_as_those_of_the_standard_library(pair: Any) -> None:
    one = pair(1)

    assert one == (1, None) == pair(left=1, right=None)
    assert repr(one) == "Pair(left=1, right=None)"
    assert one.both == (1, None)
    assert one._replace(right="a").right == "a"
    assert one._asdict() == {"left": 1, "right": None}
    assert pair._fields == pair.__match_args__ == ("left", "right")
    assert pair._field_defaults == {"right": None}
    assert pair.__doc__ == "Two of a kind."
    assert pair.__module__ == __name__
    assert pair.__qualname__ == "declared.<locals>.Pair"
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'left'"):
        pair()
    with pytest.raises(AttributeError):
        one.left = 2


def test_their_annotations_stay_as_they_were_written() -> None:
    assert CLASSES[0].__annotations__ == {"left": "int", "right": "str | None"}


def test_they_can_be_pickled() -> None:
    one = Verdict(retry=True, isolate=False, reachable=True)

    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301  # our own
