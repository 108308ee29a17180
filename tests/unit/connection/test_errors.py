"""Errors name the fault, its place and its side."""

import copy
import pickle
from importlib import import_module
from inspect import isclass
from pkgutil import walk_packages
from typing import Any

import pytest

import rocketwire
from rocketwire import errors

ARGUMENTS: dict[str, tuple[tuple[object, ...], dict[str, object]]] = {
    "NotInTrioError": ((), {}),
    "ClientForkedError": ((), {}),
    "LimitExceededError": (("too deep",), {"declared": 70, "limit": 64, "path": "body"}),
    "FrameTooLargeError": (("too long",), {"declared": 70, "limit": 64}),
    "HeaderTooLargeError": (("too long",), {"declared": 70, "limit": 64, "offset": 3}),
    "UnknownHeaderTypeError": ((2,), {"offset": 3}),
    "RequestTimeoutError": (("b:1", 310, 2.5), {}),
    "SendFailedError": (("T", ("a", "b")), {}),
    "SendManyError": ((["stored", errors.ConnectFailedError("a")],), {}),
    "ResponseError": ((16, "not you", 310, "b:1"), {}),
    "BrokerError": ((16, "not you", 310, "b:1"), {}),
    "SettingNotFoundError": (("b:1", "maxTopics", "7", ("maxGroups",)), {}),
    "UnreadableMessagesError": (("b:1", "T", 2, {2: 5}), {}),
    "NameServerError": ((4711, None, 105, "n:1"), {}),
    "CaptureError": (("one.pcap", 7, "cut"), {}),
}
"""Arguments of the errors that take more than a text."""


def public_errors() -> list[type[Exception]]:
    """All errors that modules of the library, or readers of captures in Spark, define."""
    names = [module.name for module in walk_packages(rocketwire.__path__, "rocketwire.")]
    return [
        member
        for name in ("rocketwire_tools.pcap.errors", *names)
        if "._" not in name and "handshake" not in name
        for member in vars(import_module(name)).values()
        if isclass(member) and issubclass(member, Exception) and member.__module__ == name
        if not member.__name__.startswith("_")
    ]


def pickle_and_load(error: Exception) -> Any:
    return pickle.loads(pickle.dumps(error))


@pytest.mark.parametrize("cls", public_errors())
@pytest.mark.parametrize("duplicate", [pickle_and_load, copy.copy])
def test_every_error_travels_to_another_process(cls: Any, duplicate: Any) -> None:
    arguments, named = ARGUMENTS.get(cls.__name__, (("text",), {}))
    error = cls(*arguments, **named)
    error.__cause__ = error.__cause__ or errors.TopicRouteNotFoundError("T")

    duplicated = duplicate(error)

    assert type(duplicated) is type(error)
    assert (str(duplicated), duplicated.args) == (str(error), error.args)
    assert {**vars(duplicated), "results": None} == {**vars(error), "results": None}
    if isinstance(error, errors.RocketWireError):
        assert str(duplicated.__cause__) == str(error.__cause__)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            errors.DecodeError(
                "negative length", path="header.remark", offset=13, excerpt=b"x" * 20
            ),
            f"header.remark: negative length (at byte 13) [{'78 ' * 15}78]",
        ),
        (errors.EncodeError("too long"), "too long"),
        (
            errors.BrokerError(16, "not you", 310, "b:1"),
            "b:1: request SEND_MESSAGE_V2 (310): NO_PERMISSION (16) not you",
        ),
        (
            errors.NameServerError(4711, None, 105, "n:1"),
            "n:1: request GET_ROUTEINFO_BY_TOPIC (105): code 4711",
        ),
        (errors.BrokerError(1, "", 4711, "b:1"), "b:1: request code 4711: SYSTEM_ERROR (1)"),
        (
            errors.BrokerError(17, "not exist! \r\nSee x\n", 310, "b:1"),
            "b:1: request SEND_MESSAGE_V2 (310): TOPIC_NOT_EXIST (17) not exist! See x",
        ),
        (errors.TopicRouteNotFoundError("T"), "no route of topic T"),
        (errors.BrokerNotFoundError("b"), "no address of broker b"),
        (errors.ClusterNotFoundError("c"), "no master of cluster c is known"),
        (errors.ReplyTimeoutError("7F00"), "no reply to request 7F00 in time"),
        (
            errors.RequestTimeoutError("b:1", 11, 2.5),
            "b:1: no answer to request PULL_MESSAGE (11) within 2.5 s",
        ),
        (
            errors.RequestTimeoutError("b:1", 4711, 4.99796),
            "b:1: no answer to request code 4711 within 5 s",
        ),
    ],
)
def test_an_error_has_a_text(error: Exception, text: str) -> None:
    assert str(error) == text


def test_errors_have_attributes_and_classes() -> None:
    limit = errors.LimitExceededError("too deep", declared=70, limit=64)

    assert (limit.declared, limit.limit) == (70, 64)
    assert errors.UnknownHeaderTypeError(2).header_type == 2
    assert errors.BrokerError(17, "See\nx", 310, "b:1").remark == "See\nx"
    assert issubclass(rocketwire.DecodeError, rocketwire.RemoteProtocolError)
    assert issubclass(rocketwire.EncodeError, rocketwire.LocalProtocolError)
    assert issubclass(errors.BrokerError, errors.ClientError)
    assert issubclass(errors.RequestTimeoutError, errors.ChannelError)


def test_the_error_of_a_failed_send_has_its_last_cause() -> None:
    error = errors.SendFailedError("T", ("a", "b"))
    text = "a message to T was not sent by 2 tries: a, b"
    assert str(error) == text
    error.__cause__ = errors.BrokerError(16, "not you", 310, "b:1")
    assert str(error) == f"{text}; the last error: {error.__cause__}"


def test_errors_of_misuse_have_advice() -> None:
    assert "needs trio" in str(errors.NotInTrioError())
    assert "open it in this process" in str(errors.ClientForkedError())


def test_many_failed_sends_are_counted_and_the_first_error_is_the_cause() -> None:
    first, second = errors.ConnectFailedError("a"), errors.ConnectFailedError("b")
    error = errors.SendManyError(["stored", first, second])
    assert str(error) == "2 of 3 messages failed"
    assert error.__cause__ is first
    assert error.results == ("stored", first, second)
    assert errors.SendManyError(["stored"]).__cause__ is None
