"""Frames as plain values.

Rules of this file: the content of the frame comes first, unchanged; what the registry derives from
it (``header``, ``body.value``) follows. If that fails, the frame is still valid, and ``problems``
contains the reason.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from rocketwire.codes import LanguageCode, RequestCode, ResponseCode
from rocketwire.errors import CodecError, DecodeError, TruncatedError
from rocketwire.flags import CommandFlag
from rocketwire.messages import decode_header
from rocketwire.messages._codec.fields import ext_fields_of
from rocketwire.messages.operations.registry import OPERATIONS, Body, Operation
from rocketwire.versions import MQVersion
from rocketwire.wire.checksum import crc32
from rocketwire.wire.command import RemotingCommand, decode_frame
from rocketwire.wire.frame import FrameDecoder, RawFrame, split_frame
from rocketwire.wire.layouts.fused import PREFIX_SIZE
from rocketwire_tools.codec.jsonl import Output, refusal
from rocketwire_tools.codec.values.bodies import (
    body_to_plain,
    is_registration,
    registration_to_plain,
    shift_offset,
    to_plain,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.wire.header_fields import Language
    from rocketwire_tools.codec.jsonl import Plain

CHUNK_SIZE: Final = 1 << 16
"""Bytes of a raw stream read at a time."""

_REQUEST_NAMES: Final = {int(code): code.name for code in RequestCode}
_RESPONSE_NAMES: Final = {int(code): code.name for code in ResponseCode}
_VERSION_NAMES: Final = {int(version): version.name for version in MQVersion}
_LANGUAGE_NAMES: Final = {int(code): code.name for code in LanguageCode}
_CRC: Final = "bodyCrc32"
_ROWS: Final[dict[type[Any], tuple[tuple[str, str], ...]]] = {}


class Describer:
    """Says what a frame holds.

    Args:
        request_code: the request that responses answer; None if that is not known.
        with_body: whether to show the body, beyond its length and checksum.
    """

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
    """Describe every frame of a raw stream.

    A frame without valid lengths ends the stream; a frame with an invalid header does not.  Offsets
    count from the start of the stream.
    """
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
