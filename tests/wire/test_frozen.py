"""Frozen values by the hundred, beside those of the standard library."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.messages.route import BrokerData, QueueData
from rocketwire.wire.frozen import compile_constructors, dataclass

if TYPE_CHECKING:
    from collections.abc import Callable


def declared(decorator: Callable[..., Any]) -> tuple[Any, Any, Any]:
    @decorator(frozen=True, slots=True, kw_only=True)
    class Base:
        """What others begin with."""

        number: int
        text: str | None = None

    @decorator(frozen=True, slots=True, kw_only=True)
    class Derived(Base):
        """It goes on."""

        many: list[int] = dataclasses.field(default_factory=list[int])
        hidden: int = dataclasses.field(default=7, repr=False, compare=False)

    @decorator(frozen=True, slots=True, kw_only=True)
    class Empty:
        """Nothing."""

    return Base, Derived, Empty


def declared_with_a_constructor(decorator: Callable[..., Any]) -> Any:
    @decorator(frozen=True, slots=True, init=False)
    class Named:
        """It has a constructor of its own."""

        name: str
        hidden: str = dataclasses.field(default="", repr=False)

        def __init__(self, name: str, hidden: str = "") -> None:
            object.__setattr__(self, "name", name)
            object.__setattr__(self, "hidden", hidden)

    return Named


OURS = declared(dataclass)
THEIRS = declared(dataclasses.dataclass)


def test_a_class_may_have_a_constructor_of_its_own() -> None:
    for cls in map(declared_with_a_constructor, (dataclass, dataclasses.dataclass)):
        one = cls("a", hidden="b")
        assert repr(one).endswith("Named(name='a')")
        assert one == cls("a", "b") != cls("a")
        assert hash(one) == hash(cls("a", "b"))
        assert dataclasses.replace(one, name="c") == cls("c", "b")
        assert [*inspect.signature(cls).parameters] == ["name", "hidden"]
        assert cls.__match_args__ == ("name", "hidden")
        assert copy(one) == one
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.name = "c"


def test_they_are_made_printed_and_compared_as_those_of_the_standard_library() -> None:
    for classes in (OURS, THEIRS):
        base, derived, empty = classes
        one = derived(number=1, many=[2])
        assert repr(one).endswith("Derived(number=1, text=None, many=[2])")
        assert one == derived(number=1, many=[2], hidden=8)
        assert one != derived(number=1, text="a", many=[2])
        assert one != base(number=1)
        assert derived(number=1).many is not derived(number=1).many
        assert hash(base(number=1)) == hash(base(number=1, text=None))
        assert empty() == empty()
        assert len({empty(), empty()}) == 1
        assert repr(empty()).endswith("Empty()")
        assert dataclasses.replace(one, number=5).number == 5
        assert dataclasses.asdict(one) == {"number": 1, "text": None, "many": [2], "hidden": 7}
        assert copy(one) == deepcopy(one) == one


def test_what_they_refuse_is_refused_as_by_those_of_the_standard_library() -> None:
    for base, _, empty in (OURS, THEIRS):
        with pytest.raises(
            TypeError, match=r"Base.__init__\(\) missing 1 required keyword-only argument: 'number'"
        ):
            base()
        with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
            base(number=1, other=2)
        with pytest.raises(TypeError, match="positional argument"):
            base(1)
        with pytest.raises(TypeError):
            empty(1)
        one = base(number=1)
        with pytest.raises(
            dataclasses.FrozenInstanceError, match="cannot assign to field 'number'"
        ):
            one.number = 2
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'number'"):
            del one.number
        with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
            one.other = 2
        assert not hasattr(one, "__dict__")


def test_their_signatures_name_what_they_are_made_of() -> None:
    for ours, theirs in zip(OURS, THEIRS, strict=True):
        mine, other = (inspect.signature(each).parameters.values() for each in (ours, theirs))
        assert [each.name for each in mine] == [each.name for each in other]
        assert [each.kind for each in mine] == [each.kind for each in other]
    assert inspect.signature(OURS[0]).parameters["text"].default is None


def test_constructors_are_compiled_at_first_use_or_all_at_once() -> None:
    one, other, _ = declared(dataclass)
    late = one.__init__.__code__
    assert other.__init__.__code__ is late

    one(number=1)
    made = one.__init__
    compile_constructors()

    assert one.__init__ is made
    assert other.__init__.__code__ is not late
    assert other(number=1).many == []


def test_they_can_be_pickled() -> None:
    queue = QueueData(broker_name="a", read_queue_nums=4)
    broker = BrokerData(broker_name="a", broker_addrs={0: "b:1"})

    assert pickle.loads(pickle.dumps((queue, broker))) == (queue, broker)  # noqa: S301  # our own


def test_only_frozen_classes_with_slots_and_keyword_arguments_are_made() -> None:
    with pytest.raises(TypeError, match="only frozen classes"):
        dataclass(frozen=False, slots=True, kw_only=True)
