"""Read, change, write: a change of a configuration keeps every value that the caller does not name.

Requests that change a configuration replace all of it: a value that is left out becomes Java's
default. Java's mqadmin sends them like this.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from inspect import signature
from typing import Any, Generic, NamedTuple, ParamSpec, TypeAlias, TypedDict, TypeVar

from rocketwire.client.admin.fanout import call_each
from rocketwire.errors import SettingNotFoundError
from rocketwire.messages.config_text import config_lines
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.topic_config import TopicConfig
from rocketwire.nearest import did_you_mean
from rocketwire.policy.topic_attributes import apply_attribute_changes, attribute_differences

Parameters = ParamSpec("Parameters")
T = TypeVar("T")
Config = TypeVar("Config", TopicConfig, SubscriptionGroupConfig)

Edit: TypeAlias = Callable[[T], T]
"""Returns the new value for the present one."""


class Target(TypedDict, total=False):
    """Arguments of all calls with ``**target``; most require exactly one of the first two."""

    broker: str | None  #: address of a broker
    cluster: str | None  #: name of a cluster, for all its masters
    dry_run: bool  #: whether to only read and compare, and to write nothing


def name_target(
    call: Callable[Parameters, Coroutine[Any, Any, T]],
) -> Callable[Parameters, Coroutine[Any, Any, T]]:
    """Let a call with ``**target`` show the names of ``Target`` in its signature, refuse others."""
    shown = signature(call)
    *others, _ = shown.parameters.values()
    shown = shown.replace(parameters=[*others, *signature(_target).parameters.values()])

    @wraps(call)
    async def call_with_target(*arguments: Parameters.args, **named: Parameters.kwargs) -> T:
        for name in named.keys() - shown.parameters:
            hint = did_you_mean(name, shown.parameters)
            raise TypeError(f"{call.__qualname__}() has no argument {name!r}{hint}")
        return await call(*arguments, **named)

    vars(call_with_target)["__signature__"] = shown
    return call_with_target


def _target(
    *, broker: str | None = None, cluster: str | None = None, dry_run: bool = False
) -> None: ...


class Change(NamedTuple, Generic[T]):
    """What a call changes at one server; nothing if both values are equal."""

    address: str  #: address of the server
    name: str  #: the topic, group, user or setting
    before: T | None  #: the value that was there; None if there was none
    after: T | None  #: the new value; None if it is deleted


def delete_value(_: object) -> None:
    """Delete what is present."""


async def change_each(
    addresses: Iterable[str],
    read: Callable[[str], Awaitable[Mapping[str, T]]],
    edits: Mapping[str, Callable[[T | None], T | None]],
    write: Callable[[str, Sequence[Change[T]]], Awaitable[object]],
    *,
    check: Callable[[Sequence[Change[T]]], Awaitable[None]] | None = None,
    dry_run: bool = False,
) -> list[Change[T]]:
    """Read values from servers, change them, and write those that differ.

    Each of ``edits`` returns the new value for the present one; None means no value. ``check`` may
    raise before anything is written. Returns a change for each server and name, also if its values
    are equal. If servers fail, the error of the first is raised after all were called.
    """
    values = await call_each(addresses, read)
    changes = [
        Change(address, name, present.get(name), edit(present.get(name)))
        for address, present in values.items()
        for name, edit in edits.items()
    ]
    pending: dict[str, list[Change[T]]] = {}
    for change in changes:
        if change.before != change.after:
            pending.setdefault(change.address, []).append(change)
    if check is not None:
        await check([change for of_server in pending.values() for change in of_server])
    if not dry_run:
        await call_each(pending, lambda address: write(address, pending[address]))
    return changes


def _set(value: str, _: object) -> str:
    return value


async def change_settings(
    addresses: Iterable[str],
    read: Callable[[str], Awaitable[Mapping[str, str]]],
    values: Mapping[str, str],
    write: Callable[[str, str], Awaitable[object]],
    *,
    dry_run: bool = False,
) -> list[Change[str]]:
    """Change settings of servers, which ignore unknown names and invalid values without an error.

    ``write`` sends all values as text. The result has the values that the servers have afterwards;
    ``SettingNotFoundError`` if one does not have a setting, or did not accept its value.
    """
    text = config_lines(values)
    changes = await change_each(
        addresses,
        read,
        {name: partial(_set, value) for name, value in values.items()},
        lambda address, _: write(address, text),
        dry_run=dry_run,
    )
    if dry_run:
        return changes
    present = await call_each({change.address: None for change in changes}, read)
    for address, name, before, after in changes:
        kept = present[address].get(name)
        if kept is None or (kept == before != after):
            raise SettingNotFoundError(address, name, kept, tuple(present[address]))
    return [change._replace(after=present[change.address][change.name]) for change in changes]


# ---------------------------------------------------------------------- topics and groups


def start_from(
    edits: Mapping[str, Edit[T]], build_new: Callable[[str], T]
) -> dict[str, Callable[[T | None], T]]:
    def start(name: str, edit: Edit[T], present: T | None) -> T:
        return edit(build_new(name) if present is None else present)

    return {name: partial(start, name, edit) for name, edit in edits.items()}


def replace_config(config: Config, present: Config) -> Config:
    changed = apply_attribute_changes(present.attributes, config.attributes)
    return replace(config, attributes=changed)


def with_attribute_changes(changes: Iterable[Change[Config]]) -> tuple[Config, ...]:
    # brokers expect attributes as their changes
    return tuple(
        replace(
            after,
            attributes=attribute_differences(
                before.attributes if before else None, after.attributes
            ),
        )
        for _, _, before, after in changes
        if after is not None
    )
