"""Frozen values, compared with those of the standard library."""

import dataclasses
import inspect
import pickle
from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import FrozenInstanceError, replace
from functools import partial
from typing import Any, ClassVar

import pytest

from rocketwire.messages.route import BrokerData, QueueData
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire.wire.values.drafts import build_constructor
from rocketwire.wire.values.frozen import compile_constructors, dataclass, declared_fields


def declare_classes(decorator: Callable[..., Any]) -> tuple[Any, Any, Any]:
    @decorator(frozen=True, slots=True, kw_only=True)
    class Base:
        """The base class of others."""

        number: int
        text: str | None = None

    @decorator(frozen=True, slots=True, kw_only=True)
    class Derived(Base):
        """A further member."""

        numbers: list[int] = dataclasses.field(default_factory=list[int])
        hidden: int = dataclasses.field(default=7, repr=False, compare=False)

    @decorator(frozen=True, slots=True, kw_only=True)
    class Empty:
        """Nothing."""

    return Base, Derived, Empty


def declare_constructor(decorator: Callable[..., Any]) -> Any:
    @decorator(frozen=True, slots=True, init=False)
    class Named:
        """It has a constructor of its own."""

        name: str
        hidden: str = dataclasses.field(default="", repr=False)

        def __init__(self, name: str, hidden: str = "") -> None:
            object.__setattr__(self, "name", name)
            object.__setattr__(self, "hidden", hidden)

    return Named


OURS = declare_classes(dataclass)
THEIRS = declare_classes(dataclasses.dataclass)


def test_a_class_may_have_a_constructor_of_its_own() -> None:
    for cls in map(declare_constructor, (dataclass, dataclasses.dataclass)):
        value = cls("a", hidden="b")
        assert repr(value).endswith("Named(name='a')")
        assert value == cls("a", "b") != cls("a")
        assert hash(value) == hash(cls("a", "b"))
        assert dataclasses.replace(value, name="c") == cls("c", "b")
        assert [*inspect.signature(cls).parameters] == ["name", "hidden"]
        assert cls.__match_args__ == ("name", "hidden")
        assert copy(value) == value
        with pytest.raises(dataclasses.FrozenInstanceError):
            value.name = "c"


def test_values_are_made_printed_and_compared_as_of_the_standard_library() -> None:
    for classes in (OURS, THEIRS):
        base, derived, empty = classes
        value = derived(number=1, numbers=[2])
        assert repr(value).endswith("Derived(number=1, text=None, numbers=[2])")
        assert value == derived(number=1, numbers=[2], hidden=8)
        assert value != derived(number=1, text="a", numbers=[2])
        assert value != base(number=1)
        assert derived(number=1).numbers is not derived(number=1).numbers
        assert hash(base(number=1)) == hash(base(number=1, text=None))
        assert empty() == empty()
        assert len({empty(), empty()}) == 1
        assert repr(empty()).endswith("Empty()")
        assert dataclasses.replace(value, number=5).number == 5
        assert dataclasses.asdict(value) == {"number": 1, "text": None, "numbers": [2], "hidden": 7}
        assert copy(value) == deepcopy(value) == value


def test_a_new_class_is_compared_first_or_hashed_first() -> None:
    hashed, _, _ = declare_classes(dataclass)
    first = hashed(number=1)
    assert hash(first) == hash(copy(first))
    assert first == copy(first)

    compared, _, _ = declare_classes(dataclass)
    second = compared(number=1)
    assert second == copy(second)
    assert hash(second) == hash(copy(second)) == hash(first)


def test_invalid_calls_are_refused_as_by_the_standard_library() -> None:
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
        value = base(number=1)
        with pytest.raises(
            dataclasses.FrozenInstanceError, match="cannot assign to field 'number'"
        ):
            value.number = 2
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'number'"):
            del value.number
        with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
            value.other = 2
        assert not hasattr(value, "__dict__")


def test_signatures_name_the_fields() -> None:
    for ours, theirs in zip(OURS, THEIRS, strict=True):
        our_fields, their_fields = (
            inspect.signature(cls).parameters.values() for cls in (ours, theirs)
        )
        assert [field.name for field in our_fields] == [field.name for field in their_fields]
        assert [field.kind for field in our_fields] == [field.kind for field in their_fields]
    assert inspect.signature(OURS[0]).parameters["text"].default is None


def test_constructors_are_compiled_at_first_use_or_all_at_once() -> None:
    first, second, _ = declare_classes(dataclass)
    code = first.__init__.__code__
    assert second.__init__.__code__ is code

    first(number=1)
    constructor = first.__init__
    compile_constructors()

    assert first.__init__ is constructor
    assert second.__init__.__code__ is not code
    assert second(number=1).numbers == []


def test_their_fields_are_those_of_the_standard_library() -> None:
    for ours, theirs in zip(OURS, THEIRS, strict=True):
        our_fields, their_fields = dataclasses.fields(ours), dataclasses.fields(theirs)
        assert [repr(field) for field in our_fields] == [repr(field) for field in their_fields]
        assert (
            [*declared_fields(ours)]
            == [*declared_fields(theirs)]
            == [field.name for field in our_fields]
        )
        assert ours.__slots__ == theirs.__slots__
        assert ours.__match_args__ == theirs.__match_args__
    assert declared_fields(OURS[0])["text"].default is None
    assert declared_fields(OURS[1])["hidden"] is not declared_fields(THEIRS[1])["hidden"]


def test_class_variables_are_no_fields() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class One:
        """A class with a name."""

        java_name: ClassVar[str] = "Outer.One"
        number: int = 1

    assert One.java_name == "Outer.One"
    assert (
        [*declared_fields(One)] == [field.name for field in dataclasses.fields(One)] == ["number"]
    )


def test_the_standard_library_derives_from_them() -> None:
    for decorator in (dataclass, dataclasses.dataclass):
        base, _, _ = declare_classes(decorator)

        @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
        class Derived(base):  # type: ignore[misc,valid-type]  # a variable
            """A further member."""

            size: int = 0

        value = Derived(number=1, size=2)
        assert [*declared_fields(Derived)] == ["number", "text", "size"]
        assert value == dataclasses.replace(Derived(number=1), size=2)
        assert repr(value).endswith("Derived(number=1, text=None, size=2)")


def test_they_are_replaced_as_the_copies_of_python_3_13_are() -> None:
    value = OURS[0](number=1)
    assert value.__replace__(number=2) == OURS[0](number=2)


def test_they_can_be_pickled() -> None:
    queue = QueueData(broker_name="a", read_queue_nums=4)
    broker = BrokerData(broker_name="a", broker_addrs={0: "b:1"})
    assert pickle.loads(pickle.dumps((queue, broker))) == (queue, broker)  # our own


def test_only_frozen_classes_with_slots_and_keyword_arguments_are_made() -> None:
    with pytest.raises(TypeError, match="only frozen classes"):
        dataclass(frozen=False, slots=True, kw_only=True)


@pytest.mark.parametrize("decorator", [dataclass, dataclasses.dataclass])
def test_the_post_init_method_is_called(decorator: Any) -> None:
    calls: list[object] = []

    @decorator(frozen=True, slots=True, kw_only=True)
    class Checked:
        """It looks at its field."""

        number: int = 1

        def __post_init__(self) -> None:
            calls.append(self.number)

    @decorator(frozen=True, slots=True, kw_only=True)
    class Empty:
        """It has none."""

        def __post_init__(self) -> None:
            calls.append("empty")

    checked: Any = Checked
    value = checked(number=2)
    dataclasses.replace(value, number=3)
    Empty()

    assert calls == [2, 3, "empty"]


def test_a_drafted_value_is_an_equal_and_frozen_one_of_its_class() -> None:
    drafted = build_constructor(RemotingCommand)(7, "GO", 1, 2, 3, "r", {"a": "b"}, b"x", 0)
    assert type(drafted) is RemotingCommand
    assert drafted == RemotingCommand(
        code=7,
        language="GO",
        version=1,
        opaque=2,
        flag=3,
        remark="r",
        ext_fields={"a": "b"},
        body=b"x",
        serialize_type=drafted.serialize_type,
    )
    with pytest.raises(FrozenInstanceError):
        drafted.code = 8  # type: ignore[misc]  # it is frozen


def test_a_missing_value_raises() -> None:
    with pytest.raises(TypeError):
        build_constructor(RemotingCommand)(7)


def test_a_message_with_undecoded_properties_equals_any_other() -> None:
    message = StoredMessage(topic="T", body=b"x", properties={"a": "b"}, store_size=97)
    read = partial(decode_stored_messages, encode_stored_message(message))
    pickled = pickle.loads(pickle.dumps(read()))
    for (copied,) in (read(), pickled, copy(read()), deepcopy(read())):
        assert copied == message
    assert repr(read()[0]) == repr(message)
    assert replace(read()[0], flag=7) == replace(message, flag=7)
    assert encode_stored_message(read()[0]) == encode_stored_message(message)
    (decoded,) = read()
    assert decoded.properties is decoded.properties
    with pytest.raises(FrozenInstanceError):
        decoded.properties = None  # type: ignore[misc]  # it is frozen
