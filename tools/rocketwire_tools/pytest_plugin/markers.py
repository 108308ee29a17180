"""The arguments of the plugin's markers: an invalid one fails the marked test, with a message that
names it.

Rules of this file: like the plugin, it only imports the standard library and pytest; the settings
of the name server are imported for markers with settings.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, NoReturn, cast

import pytest

MODES: Final = ("process", "thread")
NAMESRV: Final = "rocketmq_namesrv"
BROKER: Final = "rocketmq_broker"
CLUSTER: Final = "rocketmq"


class _Argument(NamedTuple):
    """The rule of a keyword argument.

    Attributes:
        expected: in words.
        valid: returns whether a value is valid.
    """

    expected: str
    valid: Callable[[object], bool]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_topics(value: object) -> bool:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return False
    return all(map(_is_text, cast("Iterable[object]", value)))


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_broker_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_mode(value: object) -> bool:
    return value in MODES


def _is_switch(value: object) -> bool:
    return isinstance(value, bool) or value in {"true", "false"}


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        return value.isascii() and value.removeprefix("-").isdigit()
    return isinstance(value, int) and not isinstance(value, bool)


def _is_line(value: object) -> bool:
    return isinstance(value, (str, int)) and not {"\n", "\r"}.intersection(str(value))


_TEXT: Final = _Argument("a text that is not empty", _is_text)
_BROKER: Final[Mapping[str, _Argument]] = {
    "register": _Argument("True or False", _is_bool),
    "name": _TEXT,
    "cluster": _TEXT,
    "broker_id": _Argument("an integer of at least 0", _is_broker_id),
    "topics": _Argument("a list of texts", _is_topics),
}
_CLUSTER: Final[Mapping[str, _Argument]] = {
    "brokers": _Argument("an integer of at least 1", _is_count),
    "topics": _Argument("a list of texts", _is_topics),
}
_MODE: Final = _Argument("'process' or 'thread'", _is_mode)
_SETTINGS: Final[Mapping[type, _Argument]] = {
    bool: _Argument("True or False", _is_switch),
    int: _Argument("an integer", _is_number),
    str: _Argument("a text of one line", _is_line),
}


def checked(node: pytest.Item, name: str) -> dict[str, Any]:
    """Return the keyword arguments of all markers of that name; the marker nearest to the test
    wins.

    An invalid argument fails the test.
    """
    arguments: dict[str, Any] = {}
    for mark in node.iter_markers(name):
        if mark.args:
            _refuse(
                f"@pytest.mark.{name} takes keyword arguments only, not {mark.args[0]!r}"
                + (f"; write mode={mark.args[0]!r}" if mark.args[0] in MODES else "")
            )
        for key, value in mark.kwargs.items():
            _check(name, key, value)
        arguments = {**mark.kwargs, **arguments}
    return arguments


def _check(name: str, key: str, value: object) -> None:
    """Fail the test unless the marker has this argument."""
    if name == CLUSTER:
        if key in _CLUSTER:
            _check_value(name, key, value, _CLUSTER[key])
        else:
            _check_broker_setting(name, key, value)
    elif name == BROKER:
        if key not in _BROKER:
            _refuse_name(f"@pytest.mark.{name} has no argument", key, _BROKER)
        _check_value(name, key, value, _BROKER[key])
    elif key == "mode":
        _check_value(name, key, value, _MODE)
    else:
        _check_setting(name, key, value)


def _check_value(name: str, key: str, value: object, argument: _Argument) -> None:
    if not argument.valid(value):
        _refuse(f"@pytest.mark.{name}({key}=...): expected {argument.expected}, got {value!r}")


def _check_setting(name: str, key: str, value: object) -> None:
    """Fail the test unless the name server has this property, and accepts the value."""
    from rocketwire_namesrv.config.config import PROPERTIES

    types = {str(prop.key): prop.value_type for prop in PROPERTIES}
    if key not in types:
        if not _is_tls(key):
            names = ("mode", *types)
            _refuse_name(f"@pytest.mark.{name}: the name server has no setting", key, names)
        types[key] = str
    _check_value(name, key, value, _SETTINGS[types[key]])


def _check_broker_setting(name: str, key: str, value: object) -> None:
    """Fail the test unless a broker for development has this setting, and accepts the value."""
    from rocketwire.errors import IllegalValueError
    from rocketwire_broker.config import SETTINGS, Config, read_settings

    if key not in SETTINGS:
        names = (*_CLUSTER, *SETTINGS)
        _refuse_name(f"@pytest.mark.{name}: the broker has no setting", key, names)
    try:
        read_settings(Config(), {key: setting_text(value)})
    except IllegalValueError as error:
        _refuse(f"@pytest.mark.{name}({key}=...): {error}")


def setting_text(value: object) -> str:
    """Return a value of a marker as a properties file has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_tls(key: str) -> bool:
    """Return whether a name is a TLS setting of the name server's file."""
    from rocketwire_namesrv.config.tls_settings import TlsSettings

    changed = [TlsSettings().over({key: text}) for text in ("true", "false")]
    return any(settings != TlsSettings() and not settings.misplaced for settings in changed)


def _refuse_name(what: str, name: str, names: Iterable[str]) -> NoReturn:
    """Fail the test, with the name that was probably meant."""
    names = list(names)
    closest = difflib.get_close_matches(name, names, 1) or [
        candidate for candidate in names if candidate.lower() == name.lower()
    ]
    hint = f"; did you mean {closest[0]!r}?" if closest else ""
    listed = f"; it has {', '.join(names)}" if not closest and len(names) < 10 else ""
    _refuse(f"{what} {name!r}{hint}{listed}")


def _refuse(text: str) -> NoReturn:
    """Fail the test with one line instead of a traceback."""
    pytest.fail(text, pytrace=False)
