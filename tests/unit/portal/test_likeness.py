"""The three surfaces are equal: ``rocketwire.client``, ``rocketwire.sync`` and ``rocketwire.aio``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from rocketwire import aio, client, sync
from rocketwire.client.admin.admin import Admin

FOR_THE_INSTANCE = {
    "cached_messages", "check_transaction", "close", "consume_directly", "detect_brokers",
    "group", "heartbeat", "keep_balanced", "offsets", "rebalance_soon", "reply_received",
    "reset_offsets", "route_changed", "run", "running_info", "start", "subscriptions_changed",
    "topics",
}  # fmt: skip
"""Methods for the client instance and its hooks, not for applications."""

FOR_FACADES = {"allows_direct_sends", "consumption", "send_unhooked", "sender", "use_hooks"}
MISSING = {"NameServers": {"connect_soon", "probe", "refresh", "update"}}
"""Methods for background work, which a facade does not have."""

CLASSES = ["Producer", "PushConsumer", "PopConsumer", "LitePullConsumer", "NameServers"]
FUNCTIONS = [
    f"open_{name}"
    for name in ("client", "lite_pull_consumer", "pop_consumer", "producer", "push_consumer")
]
ONLY_TRIO = {"chance", "borrower", "own_instance", "environment", "connect"}
"""Parameters for tests, for programs that embed a client, and for facades."""

ONLY_FACADES = {"executor", "settings"}


def pairs() -> list[tuple[str, type[Any], type[Any], type[Any]]]:
    """Name, trio class and facades of each class and of each part of an admin."""
    pair_list: list[tuple[str, type[Any], type[Any], type[Any]]] = [
        (name, getattr(client, name), getattr(sync, name), getattr(aio, name)) for name in CLASSES
    ]
    looping = aio.Admin("h:1")
    for name, part in vars(Admin(None)).items():  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - invalid on purpose
        if name != "client":
            facade: type[Any] = getattr(looping, name).__class__
            blocking_class = getattr(
                __import__("rocketwire.sync.admin", fromlist=["x"]), facade.__name__
            )
            original: type[Any] = part.__class__
            pair_list.append((original.__name__, original, blocking_class, facade))
    return pair_list


def public(cls: type[Any]) -> dict[str, Any]:
    """Public members, by name."""
    return {
        name: member
        for base in reversed(cls.__mro__[:-1])
        for name, member in vars(base).items()
        if not name.startswith("_") and (callable(member) or isinstance(member, property))
    }


def parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    """Name, kind and default of each parameter that all surfaces have."""
    return [
        (parameter.name, parameter.kind, parameter.default)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name not in ONLY_TRIO | ONLY_FACADES | {"self"}
    ]


@pytest.mark.parametrize(
    ("name", "original", "blocking", "looping"), pairs(), ids=[name for name, *_ in pairs()]
)
def test_a_facade_has_the_methods_of_the_trio_class(
    name: str, original: type[Any], blocking: type[Any], looping: type[Any]
) -> None:
    left_out = FOR_THE_INSTANCE | FOR_FACADES | MISSING.get(name, set())
    for method, member in public(original).items():
        is_internal = method in ("body_of", "fetch", "read_from")
        if method in left_out or is_internal:
            continue
        for facade in (blocking, looping):
            method_of_facade = public(facade)[method]
            assert method_of_facade.__doc__ == member.__doc__, (facade, method)
            if callable(member):
                assert parameters(method_of_facade) == parameters(member), (facade, method)
                if member.__annotations__.get("target") == "Unpack[Target]":
                    assert {"broker", "cluster", "dry_run"} <= {
                        n for n, *_ in parameters(method_of_facade)
                    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_functions_that_open_have_the_same_parameters(name: str) -> None:
    original = parameters(getattr(client, name))
    for facade in (sync, aio):
        opener_parameters = parameters(getattr(facade, name))
        assert [parameter[:2] for parameter in opener_parameters] == [
            parameter[:2] for parameter in original
        ]
        assert (
            opener_parameters[1:] == original[1:]
        )  # a facade's client may come from the environment


@pytest.mark.parametrize("name", ["open_name_servers", "open_admin", *FUNCTIONS])
def test_the_facades_open_with_the_same_parameters(name: str) -> None:
    assert [
        parameter for parameter in parameters(getattr(sync, name)) if parameter[0] != "executor"
    ] == (parameters(getattr(aio, name)))


def test_the_facades_offer_the_same_names() -> None:
    assert vars(sync)["__all__"] == vars(aio)["__all__"]
    for facade in (sync, aio):
        for name in vars(facade)["__all__"]:
            assert getattr(facade, name) is not None
        assert set(dir(facade)) >= set(vars(facade)["__all__"])
        with pytest.raises(AttributeError, match="nothing"):
            facade.nothing  # noqa: B018 - the access raises


def test_every_name_of_an_application_is_in_the_facades() -> None:
    left_out = {
        "BrokerIdentity", "ChannelPool", "ClientInstance", "Registration", "RegistrationSettings",
        "open_pool", "open_registration",
    }  # fmt: skip
    assert set(vars(client)["__all__"]) - left_out <= set(vars(sync)["__all__"])
