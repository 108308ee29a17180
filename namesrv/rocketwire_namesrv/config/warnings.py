"""Warnings about settings that look wrong in a configuration file.

Java does not warn. The settings have the same effect as in Java; the log warns at the start.

Rules of this file: pure; each remark is one line and names the line of the setting; values of
settings that the server does not know are not shown, because they may be secrets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rocketwire.nearest import did_you_mean
from rocketwire.serving.events import format_value
from rocketwire.serving.java_properties import PropertiesFile
from rocketwire.serving.tls.settings import KEYS as TLS_KEYS
from rocketwire.serving.tls.settings import SWITCHES as TLS_SWITCHES
from rocketwire_namesrv.config.config import BY_KEY, Config, describe_setting

OURS: Final = "rocketwire."
"""Prefix of the keys that only this server has."""
_TLS: Final = "tls."

_KEYS: Final = (*BY_KEY, *TLS_KEYS)
_BY_LETTERS: Final = {key.lower(): key for key in _KEYS}
_OUR_KEYS: Final = [key for key in BY_KEY if key.startswith(OURS)]


def config_remarks(
    config: Config, entries: Mapping[str, str], system: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the warnings about sources of a configuration, and settings without effect."""
    return (
        *_warn_of_entries(config, entries),
        *_warn_of_system(config, system),
        *_warn_of_features(config, entries),
    )


def prefix_with_location(remark: str, entries: Mapping[str, str]) -> str:
    """Return a remark that begins with a key, after the line of that key in the file, if it is
    there."""
    key = next((key for key in entries if remark.startswith((f"{key} ", f"{key}="))), None)
    return remark if key is None else f"{_line_of(entries, key)}{remark}"


def _warn_of_entries(config: Config, entries: Mapping[str, str]) -> Iterator[str]:
    for key, text in entries.items():
        for doubt in _warn_of_doubts(config, key, text):
            yield f"{describe_setting(entries, key)}: {doubt}"
            break  # one key may set several properties
        if (remark := _warn_unknown_key(key)) is not None:
            yield f"{_line_of(entries, key)}{remark}"
    if isinstance(entries, PropertiesFile):
        for earlier in entries.repeated:
            line = entries.entry(earlier.key).line
            yield (
                f"{entries.path}, line {earlier.line}: {format_value(earlier.key)} is set again in"
                f" line {line}, and only that counts"
            )


def _warn_of_system(config: Config, system: Mapping[str, str]) -> Iterator[str]:
    for key, text in system.items():
        if key.startswith((OURS, _TLS)):
            for doubt in _warn_of_doubts(config, key, text):
                yield f"-D{key}={format_value(text)}: {doubt}"
            if (remark := _warn_unknown_key(key)) is not None:
                yield f"-D{remark}"


def _warn_of_doubts(config: Config, key: str, text: str) -> Iterator[str]:
    for prop in BY_KEY.get(key, ()):
        doubt = prop.find_doubt(text)
        if doubt is not None:
            is_ignored = prop.value_type is int and prop.value_of(text) is None
            stays = f"; the server uses {getattr(config, prop.attribute)}" if is_ignored else ""
            yield f"{doubt}{stays}"
    if key in TLS_SWITCHES and text.lower() not in {"true", "false"}:
        yield "read as false, because it is not the word true"


def _warn_unknown_key(key: str) -> str | None:
    if key in BY_KEY or key in TLS_KEYS:
        return None
    meant = _BY_LETTERS.get(key.lower())
    if meant is None and key.startswith(OURS):
        hint = did_you_mean(key, _OUR_KEYS, count=1)
    elif meant is None:
        return None
    else:
        hint = f"; did you mean {meant}?"
    return f"{format_value(key)} is not a setting of this name server{hint}"


def _line_of(entries: Mapping[str, str], key: str) -> str:
    if not isinstance(entries, PropertiesFile):
        return ""
    return f"{entries.path}, line {entries.entry(key).line}: "


def _warn_of_features(config: Config, entries: Mapping[str, str]) -> Iterator[str]:
    if entries.get("configStorePath", config.config_store_path) != config.config_store_path:
        line = _line_of(entries, "configStorePath")
        yield f"{line}configStorePath has no effect: updates are stored in the file given with -c"
    if config.warm_start_seconds > 0 and not config.known_brokers_path:
        yield prefix_with_location(
            "rocketwire.warmStartSeconds has no effect, because rocketwire.knownBrokersPath is"
            " empty",
            entries,
        )
    if config.enable_controller_in_namesrv:
        yield prefix_with_location(
            "enableControllerInNamesrv=true has no effect: this name server has no controller; run"
            " Java's beside it",
            entries,
        )
    if config.cluster_test:
        yield prefix_with_location(
            "clusterTest=true: the server takes every request for a route request, and brokers"
            f" cannot register; it does not ask the name server of {config.product_env_name}",
            entries,
        )
