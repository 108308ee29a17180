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
        settings_a, settings_b = dict(_settings(in_a[0])), dict(_settings(in_b[0]))
        for path in sorted({*settings_a, *settings_b}):
            values = settings_a.get(path), settings_b.get(path)
            if values[0] == values[1]:
                continue
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


def _settings(value: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The members that are no objects, by path; lists without their order."""
    for name, member in value.items():
        path = f"{prefix}{name}"
        if name in _UNCOMPARED_MEMBERS:
            continue
        if isinstance(member, dict):
            yield from _settings(cast("dict[str, Any]", member), f"{path}.")
        elif isinstance(member, list):
            yield path, sorted(cast("list[object]", member), key=repr)
        elif member is not None:
            yield path, member
