"""The rules of every frame that a server sends, whatever the case is about."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from rocketwire.codes import LanguageCode, SerializeType

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.frame import RawFrame
    from rocketwire_tools.conformance.model.steps import Request

_REQUIRED: Final[dict[str, type]] = {
    "code": int,
    "flag": int,
    "language": str,
    "opaque": int,
    "version": int,
}
_OPTIONAL: Final[dict[str, type]] = {
    "remark": str,
    "extFields": dict,
    "serializeTypeCurrentRPC": str,
}
# Maximum version, which is two bytes long in a binary header.
_MAX_VERSION: Final = 2**15 - 1
# Codes that a broker relays to a client, whose response has the client's language and version.
_RELAYED: Final = frozenset({307, 309})
_ROUTE: Final = 105
# Codes whose responses have a JSON body (``DefaultRequestProcessor`` @ 5.5.0).
_JSON_BODIES: Final = frozenset({103, _ROUTE, 106, 206, 219, 224, 304, 311, 312, 313, 322, 901})
# Version of the first clients that get routes in standard JSON (4.9.4).
_STANDARD_SINCE: Final = 401
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
# An integer, or the null of a broker without a name, which 4.9.4 writes.
_BARE_KEY: Final = re.compile(r"(?<=[{,])(?:-?\d+|null)(?=:)")
_QUOTED_INTEGER_KEY: Final = re.compile(r'"(?:brokerAddrs|currIdMap)":\{"')


class FrameRules:
    """The rules of one server's frames, of which some are: as in its first frame."""

    def __init__(self) -> None:
        self._first: dict[str, object] = {}

    def violation(self, raw: RawFrame, command: RemotingCommand, request: Request | None) -> str:
        """The rule that a frame breaks; empty for none. ``request`` is answered by it, if known."""
        return (
            (_header_violation(raw.header) if raw.header_type == SerializeType.JSON else "")
            or _version_violation(command)
            or (
                "" if request is not None and request.code in _RELAYED else self._find_edit(command)
            )
            or _flag_violation(command)
            or _body_violation(command, request)
        )

    def _find_edit(self, command: RemotingCommand) -> str:
        for name, value in (("language", command.language), ("version", command.version)):
            first = self._first.setdefault(name, value)
            if value != first:
                return f"{name}: {value}, but {first} in the server's first frame"
        return ""


def _header_violation(header: bytes) -> str:
    try:
        value = _standard_json(header)
    except (ValueError, RecursionError) as error:
        return f"header: not standard JSON ({error})"
    if not isinstance(value, dict):
        return "header: not an object"
    members = cast("dict[str, Any]", value)
    for name, kind in (_REQUIRED | _OPTIONAL).items():
        if name not in members:
            if name in _REQUIRED:
                return f"{name}: missing"
        elif type(members[name]) is not kind:
            return f"{name}: {members[name]!r} is not of type {kind.__name__}"
    if members["language"] not in LanguageCode.__members__:
        return f"language: {members['language']!r} is unknown"
    if members.get("serializeTypeCurrentRPC", "JSON") != "JSON":
        return f"serializeTypeCurrentRPC: {members['serializeTypeCurrentRPC']!r} in a JSON header"
    fields: dict[str, object] = members.get("extFields", {})
    wrong = [name for name, text in fields.items() if type(text) is not str]
    return f"ext: the values of {wrong} are no strings" if wrong else ""


def _version_violation(command: RemotingCommand) -> str:
    if not isinstance(command.language, LanguageCode) or not command.language.is_known:
        return f"language: {command.language} is unknown"
    is_version = 0 < command.version <= _MAX_VERSION
    return "" if is_version else f"version: {command.version} is no version"


def _flag_violation(command: RemotingCommand) -> str:
    if command.is_response:
        return "" if command.flag == 1 else f"flag: {command.flag} instead of 1 in a response"
    return "" if command.flag in {0, 2} else f"flag: {command.flag} in a request"


def _body_violation(command: RemotingCommand, request: Request | None) -> str:
    # Whether a body has the quotation marks that the client understands
    if request is None or request.code not in _JSON_BODIES or command.code or not command.body:
        return ""
    try:
        # A route of one zone has either form (``ZoneRouteRPCHook`` @ 5.5.0).
        is_zoned = (request.ext or {}).get("__ZONE_MODE", "").lower() == "true"
        if request.code == _ROUTE and _wants_standard(request) and not is_zoned:
            _standard_json(command.body)
            return ""
        text = command.body.decode()
        if not is_zoned and _QUOTED_INTEGER_KEY.search(text):
            return "body: an integer key has quotation marks"
        _standard_json(_BARE_KEY.sub('""', _STRING.sub('""', text)).encode(), repeated=True)
    except (ValueError, RecursionError) as error:
        return f"body: not the expected JSON ({error})"
    return ""


def _wants_standard(request: Request) -> bool:
    # Whether a route must be in standard JSON (``ClientRequestProcessor`` @ 5.5.0)
    accepts = (request.ext or {}).get("acceptStandardJsonOnly", "")
    return request.version >= _STANDARD_SINCE or accepts.lower() == "true"


def _standard_json(data: bytes, *, repeated: bool = False) -> object:

    def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
        members = dict(pairs)
        if len(members) < len(pairs) and not repeated:
            raise ValueError(f"a key is repeated in {[key for key, _ in pairs]}")
        return members

    return json.loads(data.decode(), object_pairs_hook=distinct, parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
