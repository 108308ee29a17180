"""The JSON form of a header (type byte 0; Java: ``RemotingCommand``, ``RemotingSerializable``).

A header as programs write it is decoded by one strict call and a few look-ups.  The tolerant reader
decodes any other header, with the conversions that fastjson2 applies to the members of
``RemotingCommand`` (release 5.5.0).  This module is stricter than Java in two points: an int member
outside int32 is an error even if Java clamps or wraps it, and so is invalid UTF-8.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from rocketwire.codes import LanguageCode
from rocketwire.errors import DecodeError, EncodeError, LimitExceededError
from rocketwire.wire.header_fields import HeaderFields
from rocketwire.wire.json.enum_names import constant_finder
from rocketwire.wire.json.fastjson import (
    Dialect,
    JsonLimits,
    JsonValue,
    Real,
    StrictError,
    check_limits,
    dumps,
    loads_as_written,
    strict_dumps,
    strict_loads,
)
from rocketwire.wire.json.references import REFERENCE, is_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from rocketwire.wire.header_fields import HeaderValues, Language

# Limits of the largest header of a frame.  Headers in use have at most some 30 members.
HEADER_LIMITS: Final = JsonLimits(max_size=16_777_215, max_depth=1024, max_count=65_536)
# Limits of headers that are not strict JSON or have members of unusual types
ODD_HEADER_LIMITS: Final = JsonLimits(max_size=65_536, max_depth=64, max_count=1_024)

_language_index = constant_finder([code.name for code in LanguageCode])

# Maximum bytes of a header whose values are not counted before it is decoded
_UNCOUNTED_SIZE = 4096

_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1
_LANGUAGE_BY_NAME = {code.name: code for code in LanguageCode}
_TEXT = frozenset({str})


# ---------------------------------------------------------------------------- decoding


def decode_json_header(header: bytes) -> HeaderFields:
    """Decode a header.

    Missing members: ``code``, ``version`` and ``flag`` are 0, ``language`` is JAVA, ``remark`` and
    ``ext_fields`` are None.  A missing ``opaque`` is 0, where Java invents a number.
    ``serializeTypeCurrentRPC`` and unknown members are ignored.  A member of ``extFields`` whose
    value is null is omitted.

    Raises:
        DecodeError: Java would close the connection; ``path`` is the member.
        LimitExceededError: the header exceeds ``HEADER_LIMITS`` or ``ODD_HEADER_LIMITS``.
    """
    return HeaderFields(*read_json_header(header))


def read_json_header(header: bytes) -> HeaderValues:
    """Decode a header as ``decode_json_header`` does, in nine tenths of the time."""
    if len(header) > _UNCOUNTED_SIZE:
        _check_size(header, HEADER_LIMITS)
    try:
        members: Any = strict_loads(header)
        get = members.get
        ext_fields = get("extFields")
        if ext_fields is not None:
            for text in ext_fields.values():
                if type(text) is not str:
                    return _decode_carefully(header)
    except (StrictError, AttributeError):
        return _decode_carefully(header)
    code = get("code", 0)
    version = get("version", 0)
    opaque = get("opaque", 0)
    flag = get("flag", 0)
    language = get("language", "JAVA")
    remark = get("remark")
    if (
        type(code) is type(version) is type(opaque) is type(flag) is int
        and (0 <= code | version | opaque | flag <= _INT32_MAX or _fit(code, version, opaque, flag))
        and type(language) is str
        and language in _LANGUAGE_BY_NAME
        and (remark is None or type(remark) is str)
        and (ext_fields is None or REFERENCE not in ext_fields)
    ):
        return code, _LANGUAGE_BY_NAME[language], version, opaque, flag, remark, ext_fields
    return _decode_carefully(header)


def _fit(*numbers: int) -> bool:
    return all(_INT32_MIN <= number <= _INT32_MAX for number in numbers)


def _check_size(header: bytes, limits: JsonLimits) -> None:
    try:
        check_limits(header, limits)
    except LimitExceededError as error:
        raise _add_path(error) from error


def _add_path(error: LimitExceededError) -> LimitExceededError:
    return LimitExceededError(
        error.message,
        declared=error.declared,
        limit=error.limit,
        path="header",
        offset=error.offset,
    )


def _decode_carefully(header: bytes) -> HeaderValues:
    try:
        members = loads_as_written(header, limits=ODD_HEADER_LIMITS)
    except LimitExceededError as error:
        raise _add_path(error) from error
    except DecodeError as error:
        raise DecodeError(
            error.message, path="header", offset=error.offset, excerpt=error.excerpt
        ) from error
    if not isinstance(members, dict):
        raise DecodeError("not an object", path="header")
    return (
        _int(members, "code"),
        _language(members.get("language", "JAVA")),
        _int(members, "version"),
        _int(members, "opaque"),
        _int(members, "flag"),
        _text(members.get("remark")),
        _ext_fields(members),
    )


# Java reads these texts as an int; it cuts off a fraction.
_INTEGER_TEXT = r"[+-]?[0-9]+"
_REAL_TEXT = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_INTEGER_WORDS = {"": 0, "null": 0, "true": 1, "false": 0}
_MAX_DIGITS = 32


def _int(members: dict[str, JsonValue], name: str) -> int:
    value = members.get(name)
    if isinstance(value, list):
        value = _only_number(value, name)
    number = _number(value)
    if number is None:
        raise DecodeError("not an integer", path=f"header.{name}")
    if not _INT32_MIN - 1 < number < _INT32_MAX + 1:
        raise DecodeError("an integer beyond 32 bits", path=f"header.{name}")
    return int(number)


def _only_number(values: list[JsonValue], name: str) -> JsonValue:
    if len(values) == 1 and isinstance(values[0], (int, float, str)):
        value = values[0]
        if not isinstance(value, bool) and value not in _INTEGER_WORDS:
            return value
    raise DecodeError("not an integer", path=f"header.{name}")


def _number(value: JsonValue) -> Decimal | float | None:
    # None if Java rejects the value.
    if value is None or isinstance(value, dict):
        return 0
    if isinstance(value, Real):
        return value if value.decimal is None else value.decimal
    if not isinstance(value, str):
        return None if isinstance(value, list) else value
    if value in _INTEGER_WORDS:
        return _INTEGER_WORDS[value]
    if len(value) > _MAX_DIGITS:
        return None
    if re.fullmatch(_INTEGER_TEXT, value):
        return int(value)
    return _number(Real.of(value)) if re.fullmatch(_REAL_TEXT, value) else None


def _language(value: JsonValue) -> Language:
    if value is None:
        return None
    if isinstance(value, str):
        return _language_of_text(value)
    if isinstance(value, (bool, list, dict)):
        raise DecodeError("neither a name nor a number", path="header.language")
    if not -1 < value < len(LanguageCode):
        raise DecodeError("no language has this number", path="header.language")
    return LanguageCode(int(value))


def _language_of_text(text: str) -> Language:
    # Java accepts a name in any letter case, or digits.
    index = _language_index(text)
    return text if index is None else LanguageCode(index)


def _text(value: JsonValue) -> str | None:
    # Java's String field takes any value: as JSON, or the only string of a list.
    if value is None or isinstance(value, str):
        return value
    if (
        isinstance(value, list)
        and len(value) == 1
        and (value[0] is None or isinstance(value[0], str))
    ):
        return value[0]
    if isinstance(value, Real):
        return value.text
    return dumps(value).decode()


def _ext_fields(members: dict[str, JsonValue]) -> dict[str, str] | None:
    value = members.get("extFields")
    if value is None or value in ("", "null"):
        return None
    if not isinstance(value, dict):
        raise DecodeError("not an object", path="header.extFields")
    if next(iter(value), None) == REFERENCE and is_path(value[REFERENCE]):
        return _resolve_reference(members, value)
    return _texts(value)


def _texts(members: dict[str, JsonValue]) -> dict[str, str]:
    texts = {key: _text(value) for key, value in members.items()}
    return {key: text for key, text in texts.items() if text is not None}


def _resolve_reference(
    members: dict[str, JsonValue], reference: dict[str, JsonValue]
) -> dict[str, str] | None:
    # ``{"$ref":path}`` in the place of extFields: ``$`` is the header's own members. A path without
    # a target gives None; a path to a number or a text is rejected.
    path = str(reference[REFERENCE])
    if len(reference) == 1:
        if path in ("$", "@"):
            return _own_members(members)
        if path.startswith("$") and path.removeprefix("$.") not in _own_members(members):
            return None
    raise DecodeError("a reference that cannot be resolved", path="header.extFields")


def _own_members(members: dict[str, JsonValue]) -> dict[str, str]:
    texts = {name: str(_int(members, name)) for name in ("code", "flag", "opaque", "version")}
    language = _language(members.get("language", "JAVA"))
    if isinstance(language, LanguageCode):
        texts["language"] = language.name
    remark = _text(members.get("remark"))
    if remark is not None:
        texts["remark"] = remark
    texts["serializeTypeCurrentRPC"] = "JSON"
    return texts


# ---------------------------------------------------------------------------- encoding


def encode_json_header(
    *,
    code: int,
    language: Language,
    version: int,
    opaque: int,
    flag: int,
    remark: str | None,
    ext_fields: Mapping[str, str] | None,
    dialect: Dialect = Dialect.FASTJSON2,
) -> bytes:
    """Encode a header: members in alphabetical order, without those that are None, as Java does.

    Args:
        code: int32, as are ``version``, ``opaque`` and ``flag``.
        language: a listed language, any text, or None.
        version: ordinal of ``MQVersion``.
        opaque: number that pairs a response with its request.
        flag: bits of ``CommandFlag``.
        remark: text, or None.
        ext_fields: texts in the order to be written, or None; an empty map is written.
        dialect: escapes of strings.

    Raises:
        EncodeError: a number exceeds int32, the language has no name, or a value is not a text.
    """
    if not (0 <= code | version | opaque | flag <= _INT32_MAX or _fit(code, version, opaque, flag)):
        raise EncodeError("an integer beyond 32 bits", path="header")
    middle = b"" if ext_fields is None else _ext_fields_member(ext_fields, dialect)
    language_member = _LANGUAGE_MEMBERS.get(language)
    if language_member is None:
        language_member = b',"language":' + dumps(_name(language), dialect=dialect)
    tail = b"" if remark is None else b',"remark":' + dumps(remark, dialect=dialect)
    members = (code, middle, flag, language_member, opaque, tail, version)
    return (
        b'{"code":%d%b,"flag":%d%b,"opaque":%d%b,"serializeTypeCurrentRPC":"JSON","version":%d}'
        % members
    )


_LANGUAGE_MEMBERS: dict[object, bytes] = {
    None: b"",
    **{code: b',"language":"%b"' % code.name.encode() for code in LanguageCode},
}


def _name(language: Language) -> str:
    if isinstance(language, str):
        return language
    raise EncodeError(f"language {language} has no name", path="header.language")


def _ext_fields_member(ext_fields: Mapping[str, str], dialect: Dialect) -> bytes:
    if not _TEXT.issuperset(map(type, ext_fields.values())):
        raise EncodeError("a value is not a text", path="header.extFields")
    if dialect is Dialect.FASTJSON2:
        try:
            return b',"extFields":' + strict_dumps(ext_fields)
        except TypeError:  # a lone surrogate, or a mapping that is not a dict
            pass
    return b',"extFields":' + dumps(ext_fields, dialect=dialect)
