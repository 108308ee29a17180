"""Frames as plain values, and back.

A description has the content of the frame first, unchanged; what the registry derives from it
(``header``, ``body.value``) follows. If that fails, the frame is still valid, and ``problems``
contains the reason.

In the other direction, members that follow from others are ignored (names of numbers, ``kind`` if
there is a ``flag``, length and checksum of the body). Of two forms of a value the exact one counts:
``ext_fields`` before ``header``, ``body.hex`` before ``body.value``.
"""

from __future__ import annotations

import dataclasses
from typing import IO, TYPE_CHECKING, Any, Final

from rocketwire.codes import LanguageCode, RequestCode, ResponseCode, SerializeType
from rocketwire.errors import CodecError, DecodeError, EncodeError, TruncatedError
from rocketwire.flags import CommandFlag
from rocketwire.messages import decode_header, encode_header
from rocketwire.messages._codec.fields import ext_fields_of
from rocketwire.messages.operations.registry import OPERATIONS, Body, Operation
from rocketwire.versions import CURRENT_VERSION, MQVersion
from rocketwire.wire.checksum import crc32
from rocketwire.wire.command import RemotingCommand, decode_frame, encode
from rocketwire.wire.frame import FrameDecoder, RawFrame, split_frame
from rocketwire.wire.layouts.fused import PREFIX_SIZE
from rocketwire_tools.codec.bodies import (
    body_from_plain,
    body_to_plain,
    is_registration,
    registration_from_plain,
    registration_to_plain,
    shift_offset,
    to_plain,
)
from rocketwire_tools.codec.jsonl import (
    Output,
    Plain,
    expect_integer,
    expect_object,
    expect_text,
    hex_member,
    refusal,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.messages._codec.headers import Ext
    from rocketwire.wire.header_fields import Language

CHUNK_SIZE: Final = 1 << 16
"""Bytes of a raw stream read at a time."""

_REQUEST_NAMES: Final = {int(code): code.name for code in RequestCode}
_RESPONSE_NAMES: Final = {int(code): code.name for code in ResponseCode}
_VERSION_NAMES: Final = {int(version): version.name for version in MQVersion}
_LANGUAGE_NAMES: Final = {int(code): code.name for code in LanguageCode}
_CRC: Final = "bodyCrc32"
_ROWS: Final[dict[type[Any], tuple[tuple[str, str], ...]]] = {}


class Describer:
    def __init__(self, *, request_code: int | None = None, with_body: bool = True) -> None:
        self._answered = None if request_code is None else OPERATIONS.get(request_code)
        self._with_body = with_body

    def frame(self, data: bytes) -> dict[str, Plain]:
        return self.raw(split_frame(data))

    def raw(self, raw: RawFrame) -> dict[str, Plain]:
        try:
            command = decode_frame(raw)
        except DecodeError as error:
            raise shift_offset(error, PREFIX_SIZE) from None
        return self.command(command)

    def command(self, command: RemotingCommand) -> dict[str, Plain]:
        flag = command.flag
        is_response = bool(flag & CommandFlag.RESPONSE)
        operation = self._answered if is_response else OPERATIONS.get(command.code)
        problems: dict[str, Plain] = {}
        header = None if operation is None else _header(command, operation, problems)
        request_kind = "oneway" if flag & CommandFlag.ONEWAY else "request"
        names = _RESPONSE_NAMES if is_response else _REQUEST_NAMES
        ext_fields = command.ext_fields
        described: dict[str, Plain] = {
            "code": command.code,
            "code_name": names.get(command.code),
            "kind": "response" if is_response else request_kind,
            "language": _language(command.language),
            "version": command.version,
            "version_name": _VERSION_NAMES.get(command.version),
            "opaque": command.opaque,
            "flag": flag,
            "remark": command.remark,
            "serialize_type": command.serialize_type.name,
            "ext_fields": None if ext_fields is None else dict(ext_fields),
            "header": None if header is None else plain_header(header),
            "body": self._body(command, operation, header, problems),
        }
        if problems:
            described["problems"] = problems
        return described

    def _body(
        self,
        command: RemotingCommand,
        operation: Operation | None,
        header: object,
        problems: dict[str, Plain],
    ) -> dict[str, Plain]:
        body = command.body or b""
        described: dict[str, Plain] = {"length": len(body), "crc": _checksum(command)}
        if not self._with_body:
            return described
        described["hex"] = body.hex()
        described["value"] = None
        if operation is not None and body:
            try:
                described["value"] = _body_value(command, operation, header)
            except DecodeError as error:
                problems["body"] = refusal(error)
        return described


def plain_header(header: object) -> dict[str, Plain]:
    cls = type(header)
    rows = _ROWS.get(cls)
    if rows is None:
        rows = tuple((field.wire, name) for name, field in ext_fields_of(cls).items())
        _ROWS[cls] = rows
    return {wire: to_plain(getattr(header, name)) for wire, name in rows}


def header_class(command: RemotingCommand, operation: Operation) -> type[Any] | None:
    return operation.response_header if command.is_response else operation.request_header


def body_kind(command: RemotingCommand, operation: Operation) -> Body:
    if not command.is_response:
        return operation.request_body
    return operation.response_body if command.code == ResponseCode.SUCCESS else None


def _header(
    command: RemotingCommand, operation: Operation, problems: dict[str, Plain]
) -> object | None:
    cls = header_class(command, operation)
    if cls is None or (command.code and command.is_response and command.ext_fields is None):
        return None
    header: object | None = None
    try:
        header = decode_header(cls, command.ext_fields)
    except DecodeError as error:
        problems["header"] = refusal(error)
    return header


def _body_value(command: RemotingCommand, operation: Operation, header: object) -> Plain:
    body_type = body_kind(command, operation)
    body = command.body or b""
    if not command.is_response and is_registration(command.code, body_type):
        compressed = bool(getattr(header, "compressed", False))
        return registration_to_plain(body, compressed=compressed, version=command.version)
    return body_to_plain(body_type, body)


def _language(language: Language) -> Plain:
    if language is None or type(language) is str:
        return language
    return _LANGUAGE_NAMES.get(int(language), int(language))


def _checksum(command: RemotingCommand) -> str:
    # Java's name server checks no other request, and ignores 0 and invalid checksums.
    if command.code != RequestCode.REGISTER_BROKER or command.is_response:
        return "absent"
    text = (command.ext_fields or {}).get(_CRC)
    cls = OPERATIONS[RequestCode.REGISTER_BROKER].request_header
    if text is None or cls is None:
        return "absent"
    declared = getattr(decode_header(cls, {_CRC: text}), "body_crc32", None)
    if not declared:
        return "absent"
    return "ok" if declared == crc32(command.body) else "bad"


def describe_stream(source: IO[bytes], describer: Describer, output: Output) -> None:
    """Describe every frame of a raw stream; one without valid lengths ends the stream."""
    decoder = FrameDecoder()
    consumed = 0
    try:
        for chunk in _chunks(source):
            decoder.feed(chunk)
            while (raw := decoder.next_frame()) is not None:
                _describe(raw, consumed, describer, output)
                consumed += PREFIX_SIZE + len(raw.header) + len(raw.body or b"")
    except DecodeError as error:
        output.refuse(shift_offset(error, consumed))
        return
    if decoder.frame_started:
        message = f"the stream ends {decoder.buffered} bytes into a frame"
        output.refuse(TruncatedError(message, offset=consumed + decoder.buffered))


def _describe(raw: RawFrame, start: int, describer: Describer, output: Output) -> None:
    try:
        described = describer.raw(raw)
    except CodecError as error:
        output.refuse(shift_offset(error, start))
    else:
        output.put(described)


def _chunks(source: IO[bytes]) -> Iterator[bytes]:
    read = getattr(source, "read1", source.read)
    while chunk := read(CHUNK_SIZE):
        yield chunk


_KINDS: Final = {"request": 0, "response": CommandFlag.RESPONSE, "oneway": CommandFlag.ONEWAY}
_KNOWN: Final = frozenset({
    "code", "code_name", "kind", "language", "version", "version_name", "opaque", "flag", "remark",
    "serialize_type", "ext_fields", "header", "body", "problems",
})  # fmt: skip
_INT32_MAX: Final = (1 << 31) - 1


def encode_object(source: dict[str, Plain], request_code: int | None = None) -> bytes:
    """Return the frame of an object of ``decode``; missing members have their defaults."""
    if unknown := next((name for name in source if name not in _KNOWN), None):
        raise EncodeError("a frame has no such member", path=unknown)
    flag = _flag(source)
    is_response = bool(flag & CommandFlag.RESPONSE)
    remark = source.get("remark")
    command = RemotingCommand(
        code=_code(source, is_response=is_response),
        language=_parse_language(source.get("language", "PYTHON")),
        version=_integer(source, "version", int(CURRENT_VERSION)),
        opaque=_integer(source, "opaque", 0),
        flag=flag,
        remark=None if remark is None else expect_text(remark, "remark"),
        serialize_type=_serialize_type(source.get("serialize_type", "JSON")),
    )
    operation = OPERATIONS.get(command.code)
    if is_response:
        operation = None if request_code is None else OPERATIONS.get(request_code)
    header = _parse_header(source, command, operation)
    command = dataclasses.replace(command, ext_fields=_ext_fields(source, command, header))
    return encode(
        dataclasses.replace(command, body=_parse_body(source, command, operation, header))
    )


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


def _parse_language(value: Plain) -> Language:
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


def _parse_header(
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


def _parse_body(
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
