"""``RemotingCommand``: a request or a response, encoded as one frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.codes import CURRENT_VERSION, LanguageCode, SerializeType
from rocketwire.errors import DecodeError, EncodeError
from rocketwire.flags import CommandFlag
from rocketwire.wire.binary_header import decode_binary_header, encode_binary_header
from rocketwire.wire.frame import MAX_FRAME_LENGTH, FrameDecoder, RawFrame, split_frame
from rocketwire.wire.json_header import encode_json_header, read_json_header
from rocketwire.wire.layouts.fused import build_envelope
from rocketwire.wire.values.drafts import build_constructor
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.wire.header_fields import HeaderValues, Language

# Plain numbers: the "and" of an ``IntFlag`` takes ten times as long.
_RESPONSE = int(CommandFlag.RESPONSE)
_ONEWAY = int(CommandFlag.ONEWAY)
_JSON = SerializeType.JSON
_ROCKETMQ = SerializeType.ROCKETMQ


@dataclass(frozen=True, slots=True, kw_only=True)
class RemotingCommand:
    """A request or a response (Java: ``RemotingCommand``), which differ only in ``flag``."""

    code: int  #: request code or response code, int32 (int16 in a binary header)
    #: language of the sending program; an unlisted name stays text, null is None
    language: Language = LanguageCode.PYTHON
    version: int = CURRENT_VERSION  #: ordinal of ``MQVersion``
    opaque: int = 0  #: number that pairs a response with its request, int32
    flag: int = 0  #: bits of ``CommandFlag``
    remark: str | None = None  #: error text of a response, or None
    #: the header's map of texts, or None.  In JSON, None differs from an empty map.
    ext_fields: Mapping[str, str] | None = None
    #: the body, or None.  Java does not distinguish an empty body from none.
    body: bytes | None = None
    serialize_type: SerializeType = SerializeType.JSON  #: form of the frame's header

    @property
    def is_response(self) -> bool:
        """Whether the response bit is set; it has precedence over the one-way bit."""
        return bool(self.flag & _RESPONSE)

    @property
    def is_oneway(self) -> bool:
        return bool(self.flag & _ONEWAY)


# Creates a command from all of its values, in the order of its attributes, fast
new_command: Final = build_constructor(RemotingCommand)


def decode(frame: bytes) -> RemotingCommand:
    """Decode one whole frame (Java: ``RemotingCommand.decode``).

    Raises:
        TruncatedError: the data ends before the frame does.
        DecodeError: not a frame, bytes after it, or an invalid header.
    """
    return decode_frame(split_frame(frame))


def decode_frame(raw: RawFrame) -> RemotingCommand:
    """Decode the header of a frame.

    Raises:
        DecodeError: the header is invalid.
    """
    body = raw.body
    if raw.header_type == _JSON:
        fields: HeaderValues = read_json_header(raw.header)
        serialize_type = _JSON
    else:
        fields, used = decode_binary_header(raw.header)
        serialize_type = _ROCKETMQ
        if used != len(raw.header) and body is not None:
            # for Java the body begins after the last entry, not after the declared header
            body = (raw.header[used:] + body)[: len(body)]
    code, language, version, opaque, flag, remark, ext_fields = fields
    return new_command(
        code, language, version, opaque, flag, remark, ext_fields, body, serialize_type
    )


def encode(command: RemotingCommand) -> bytes:
    """Encode one whole frame, with a header of the form ``command.serialize_type``.

    Raises:
        EncodeError: a value has no form in that header, or the frame would exceed
            ``MAX_FRAME_LENGTH``, which no peer accepts.
    """
    return encode_as(command, command.opaque, command.flag)


def encode_as(command: RemotingCommand, opaque: int, flag: int) -> bytes:
    """Encode as ``encode`` does, with this number and these flags instead of the command's.

    Raises:
        EncodeError: as ``encode``.
    """
    encode_header = (
        encode_binary_header if command.serialize_type == _ROCKETMQ else encode_json_header
    )
    header = encode_header(
        code=command.code,
        language=command.language,
        version=command.version,
        opaque=opaque,
        flag=flag,
        remark=command.remark,
        ext_fields=command.ext_fields,
    )
    frame = build_envelope(command.serialize_type, header, command.body or b"")
    if len(frame) > MAX_FRAME_LENGTH:
        message = f"a frame of {len(frame)} bytes exceeds the limit of {MAX_FRAME_LENGTH}"
        raise EncodeError(message, path="length")
    return frame


class CommandDecoder(FrameDecoder):
    """Decodes a stream of bytes into commands."""

    __slots__ = ()

    def next_command(self) -> RemotingCommand | None:
        """Return the next command, or None if more bytes are needed for it.

        Raises:
            DecodeError: the next frame or its header is invalid.  After an invalid frame every
                later call raises again.  After an invalid header the next frame could be decoded,
                but every Java peer closes the connection.
        """
        frame = self.next_frame()
        return None if frame is None else decode_frame(frame)

    def decode_only_command(self, data: bytes) -> RemotingCommand | None:
        """Decode ``data`` if it is exactly the next command; else return None without feeding."""
        frame = self.take_only_frame(data)
        if frame is None:
            return None
        try:
            return decode_frame(frame)
        except DecodeError:  # raised again when the data is fed
            return None
