"""The configuration of two stores, compared setting by setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from rocketwire_tools.store.comparing.differences import Place, StoreDifference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.store.opened import OpenedStore

_UNCOMPARED_MEMBERS: Final = frozenset({"dataVersion"})
"""Members of configuration files that change with each write."""


def config_differences(a: OpenedStore, b: OpenedStore) -> Iterator[StoreDifference]:
    """Settings, topics, groups and offsets that differ, in JSON files and in RocksDB."""
    names = {name.removesuffix(".bak") for name in (*a.folder.config, *b.folder.config)}
    names |= {*a.rocks_config, *b.rocks_config}
    for name in sorted(name for name in names if "/" not in name):
        in_a, in_b = a.config(name), b.config(name)
        if in_a is None and in_b is None:
            continue
        place_a, place_b = (Place(found[1]) if found else None for found in (in_a, in_b))
        if in_a is None or in_b is None:
            yield StoreDifference(
                part="config",
                name=name,
                rule=f"only {'A' if in_b is None else 'B'} has this file",
                place_a=place_a,
                place_b=place_b,
            )
            continue
        for path, *values in _differing(in_a[0], in_b[0]):
            yield StoreDifference(
                part="config",
                name=f"{name}: {path}",
                rule="the settings differ"
                if None not in values
                else f"only {'A' if values[1] is None else 'B'} has this setting",
                a=values[0],
                b=values[1],
                place_a=place_a,
                place_b=place_b,
            )


def _differing(
    a: dict[str, Any], b: dict[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Paths and both values of members that differ and are no objects; None where one is not.

    Only what differs is kept: a broker with 50,000 topics has 350,000 settings of these.
    """
    for name in sorted({*a, *b}):
        members = a.get(name), b.get(name)
        if name in _UNCOMPARED_MEMBERS or members[0] == members[1]:
            continue
        path = f"{prefix}{name}"
        values = [_without_order(member) for member in members]
        if values[0] != values[1]:
            yield path, values[0], values[1]
        if any(isinstance(member, dict) for member in members):
            yield from _differing(_object(members[0]), _object(members[1]), f"{path}.")


def _without_order(member: object) -> Any:
    """A member that is no object; a list in one order."""
    if isinstance(member, list):
        return sorted(cast("list[object]", member), key=repr)
    return None if isinstance(member, dict) else member


def _object(member: object) -> dict[str, Any]:
    return cast("dict[str, Any]", member) if isinstance(member, dict) else {}
