"""Plain values as frames: the reverse of ``decode``.

Rules of this file: members that follow from others are ignored (names of numbers, ``kind`` if there
is a ``flag``, length and checksum of the body). Of two forms of a value the exact one counts:
``ext_fields`` before ``header``, ``body.hex`` before ``body.value``.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final

from rocketwire.codes import LanguageCode, RequestCode, ResponseCode, SerializeType
from rocketwire.errors import EncodeError
from rocketwire.flags import CommandFlag
from rocketwire.messages import decode_header, encode_header
from rocketwire.messages._codec.fields import ext_fields_of
from rocketwire.messages.operations.registry import OPERATIONS, Operation
from rocketwire.versions import CURRENT_VERSION
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.codec.jsonl import (
    Plain,
    expect_integer,
    expect_object,
    expect_text,
    hex_member,
    texts,
)
from rocketwire_tools.codec.values.bodies import (
    body_from_plain,
    is_registration,
    registration_from_plain,
)
from rocketwire_tools.codec.values.decode import body_kind, header_class

if TYPE_CHECKING:
    from rocketwire.messages._codec.headers import Ext
    from rocketwire.wire.header_fields import Language

_KINDS: Final = {"request": 0, "response": CommandFlag.RESPONSE, "oneway": CommandFlag.ONEWAY}
_KNOWN: Final = frozenset({
    "code", "code_name", "kind", "language", "version", "version_name", "opaque", "flag", "remark",
    "serialize_type", "ext_fields", "header", "body", "problems",
})  # fmt: skip
_INT32_MAX: Final = (1 << 31) - 1


def encode_object(source: dict[str, Plain], request_code: int | None = None) -> bytes:
    """Return the frame that an object describes.

    Args:
        source: as ``decode`` prints it; missing members have their defaults.
        request_code: the request that a response answers, for ``header`` and ``body.value``.
    """
    if unknown := next((name for name in source if name not in _KNOWN), None):
        raise EncodeError("a frame has no such member", path=unknown)
    flag = _flag(source)
    is_response = bool(flag & CommandFlag.RESPONSE)
    remark = source.get("remark")
    command = RemotingCommand(
        code=_code(source, is_response=is_response),
        language=_language(source.get("language", "PYTHON")),
        version=_integer(source, "version", int(CURRENT_VERSION)),
        opaque=_integer(source, "opaque", 0),
        flag=flag,
        remark=None if remark is None else expect_text(remark, "remark"),
        serialize_type=_serialize_type(source.get("serialize_type", "JSON")),
    )
    operation = OPERATIONS.get(command.code)
    if is_response:
        operation = None if request_code is None else OPERATIONS.get(request_code)
    header = _header(source, command, operation)
    command = dataclasses.replace(command, ext_fields=_ext_fields(source, command, header))
    return encode(dataclasses.replace(command, body=_body(source, command, operation, header)))


def _integer(source: dict[str, Plain], name: str, default: int) -> int:
    value = expect_integer(source.get(name, default), name)
    if not -_INT32_MAX - 1 <= value <= _INT32_MAX:
        raise EncodeError("not an int32", path=name)
    return value


def _flag(source: dict[str, Plain]) -> int:
    if "flag" in source:
        return _integer(source, "flag", 0)
    name = source.get("kind", "request")
    if not isinstance(name, str) or name not in _KINDS:
        raise EncodeError(f"must be one of {', '.join(_KINDS)}", path="kind")
    return int(_KINDS[name])


def _code(source: dict[str, Plain], *, is_response: bool) -> int:
    if "code" in source:
        return _integer(source, "code", 0)
    codes = ResponseCode if is_response else RequestCode
    name = source.get("code_name")
    if not isinstance(name, str) or name not in codes.__members__:
        raise EncodeError("neither a code nor a known code_name", path="code")
    return int(codes[name])


def _language(value: Plain) -> Language:
    if value is None:
        return None
    if isinstance(value, str):
        return LanguageCode[value] if value in LanguageCode.__members__ else value
    if isinstance(value, int) and not isinstance(value, bool):
        return LanguageCode(value)
    raise EncodeError("neither a name nor a number", path="language")


def _serialize_type(value: Plain) -> SerializeType:
    if isinstance(value, str) and value in SerializeType.__members__:
        return SerializeType[value]
    if type(value) is int and value in (0, 1):
        return SerializeType(value)
    raise EncodeError("neither JSON nor ROCKETMQ", path="serialize_type")


def _ext_fields(
    source: dict[str, Plain], command: RemotingCommand, header: object | None
) -> dict[str, str] | None:
    value = source.get("ext_fields")
    if value is not None:
        fields = texts(value, "ext_fields")
        return {name: text for name, text in fields.items() if text is not None}
    if header is None:
        return None
    if "ext_fields" in source and header == decode_header(type(header), None):
        return None  # the description of a frame without fields
    return encode_header(header, serialize_type=command.serialize_type)


def _header(
    source: dict[str, Plain], command: RemotingCommand, operation: Operation | None
) -> object | None:
    cls = None if operation is None else header_class(command, operation)
    value = source.get("header")
    if source.get("ext_fields") is not None or value is None:
        return None
    if cls is None:
        raise EncodeError("no class is known for it; give ext_fields", path="header")
    return build_header(cls, expect_object(value, "header"))


def build_header(cls: type[Any], source: dict[str, Plain]) -> object:
    """Return the header that an object of wire names describes; null and missing members have
    their defaults.
    """
    by_wire = {field.wire: (name, field) for name, field in ext_fields_of(cls).items()}
    values: dict[str, Any] = {}
    for wire, value in source.items():
        if wire not in by_wire:
            raise EncodeError(f"{cls.__name__} has no such field", path=f"header.{wire}")
        name, field = by_wire[wire]
        if value is not None:
            values[name] = _field(field, value)
    return dataclasses.replace(decode_header(cls, None), **values)


def _field(field: Ext, value: Plain) -> object:
    path = f"header.{field.wire}"
    java, parse = field.form.java, field.form.parse
    if isinstance(value, str):
        try:
            return value if parse is None else parse(value)
        except ValueError as error:
            raise EncodeError(str(error), path=path) from error
    expected = bool if java in ("boolean", "Boolean") else int
    if java == "String" or type(value) is not expected:
        raise EncodeError(f"not a {java}", path=path)
    return value


def _body(
    source: dict[str, Plain],
    command: RemotingCommand,
    operation: Operation | None,
    header: object | None,
) -> bytes | None:
    member = source.get("body")
    if member is None:
        return None
    member = expect_object(member, "body")
    if member.get("hex") is not None:
        return hex_member(member, "hex") or None
    value = member.get("value")
    if value is None:
        return None
    if operation is None:
        why = "give --request-code" if command.is_response else "give its hex"
        raise EncodeError(f"no class is known for it; {why}", path="body.value")
    body_type = body_kind(command, operation)
    if not command.is_response and is_registration(command.code, body_type):
        cls = operation.request_header
        if header is None and cls is not None:
            header = decode_header(cls, command.ext_fields)
        compressed = bool(getattr(header, "compressed", False))
        return registration_from_plain(value, compressed=compressed, version=command.version)
    return body_from_plain(body_type, value)
