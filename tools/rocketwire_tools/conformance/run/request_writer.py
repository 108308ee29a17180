"""Encodes the data that a case sends."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

from rocketwire.codes import LanguageCode, SerializeType
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.conformance.model.steps import CHECKSUM, Packed

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.placeholders import Names
    from rocketwire_tools.conformance.model.steps import Frame, Request


def _literal(data: bytes | str, names: Names) -> bytes:
    return names.text(data).encode() if isinstance(data, str) else data


def frame_bytes(frame: Frame, names: Names) -> bytes:
    """Encode a frame of literal bytes; an explicit length of the header is written unchanged."""
    header, body = _literal(frame.header, names), _literal(frame.body, names)
    header_length = len(header) if frame.header_length is None else frame.header_length
    mark = frame.type << 24 | header_length & 0xFFFFFF
    return struct.pack(">II", 4 + len(header) + len(body), mark) + header + body


def with_names(request: Request, names: Names) -> Request:
    ext, body = request.ext, _body(request, names)
    if ext is not None:
        checksum = str(zlib.crc32(body or b"") & 0x7FFFFFFF)  # UtilAll.crc32 @ 5.5.0
        ext = {key: names.text(text).replace(CHECKSUM, checksum) for key, text in ext.items()}
    return replace(request, ext=ext, body=body)


def _body(request: Request, names: Names) -> bytes | None:
    body = request.body
    if isinstance(body, Packed):
        return body.encode(names)
    if isinstance(body, str):
        body = names.text(body).encode()
    elif body is not None and not isinstance(body, bytes):
        text = json.dumps(names.value(body), separators=(",", ":"), ensure_ascii=False)
        body = text.encode()
    return body


def request_bytes(request: Request, opaque: int) -> bytes:
    body = request.body
    return encode(
        RemotingCommand(
            code=request.code,
            language=LanguageCode.JAVA,
            version=request.version,
            opaque=opaque,
            flag=request.flag,
            ext_fields=request.ext,
            body=body if isinstance(body, bytes) else None,
            serialize_type=SerializeType.ROCKETMQ if request.binary else SerializeType.JSON,
        )
    )


def literal_bytes(part: bytes | Frame, names: Names) -> bytes:
    return part if isinstance(part, bytes) else frame_bytes(part, names)
