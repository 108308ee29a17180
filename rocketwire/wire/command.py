"""``RemotingCommand``: one request or response, and its way to and from the bytes of one frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.codes import CURRENT_VERSION, LanguageCode, SerializeType
from rocketwire.errors import DecodeError, EncodeError
from rocketwire.flags import CommandFlag
from rocketwire.wire.binary_header import decode_binary_header, encode_binary_header
from rocketwire.wire.frame import MAX_FRAME_LENGTH, FrameDecoder, RawFrame, split_frame
from rocketwire.wire.json_header import encode_json_header, read_json_header
from rocketwire.wire.layouts.functions import build_envelope
from rocketwire.wire.values.drafts import build_constructor
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.wire.header_fields import HeaderValues, Language

_RESPONSE = int(
    CommandFlag.RESPONSE
)  # two plain numbers: a flag's own "and" costs ten times as much
_ONEWAY = int(CommandFlag.ONEWAY)
_JSON = SerializeType.JSON
_ROCKETMQ = SerializeType.ROCKETMQ


@dataclass(frozen=True, slots=True, kw_only=True)
class RemotingCommand:
    """One command (Java: ``RemotingCommand``); a request and a response differ in ``flag`` alone.

    Attributes:
        code: request code or response code, int32 (int16 in a binary header).
        language: of the sending program; a name outside Java's list stays text, None where the
            header says null.
        version: ordinal of ``MQVersion``.
        opaque: number that pairs a response with its request, int32.
        flag: bits of ``CommandFlag``.
        remark: error text of a response, or None.
        ext_fields: the header's text map; None where the command has none, which differs from empty
            in JSON.
        body: None where there is none; Java cannot tell an empty body from none.
        serialize_type: form of this frame's header.
    """

    code: int
    language: Language = LanguageCode.PYTHON
    version: int = CURRENT_VERSION
    opaque: int = 0
    flag: int = 0
    remark: str | None = None
    ext_fields: Mapping[str, str] | None = None
    body: bytes | None = None
    serialize_type: SerializeType = SerializeType.JSON

    @property
    def is_response(self) -> bool:
        """Whether the response bit is set; it is looked at before any other bit."""
        return bool(self.flag & _RESPONSE)

    @property
    def is_oneway(self) -> bool:
        """Whether no answer is wanted."""
        return bool(self.flag & _ONEWAY)


new_command: Final = build_constructor(RemotingCommand)
"""A command of all its values, in the order of its attributes, for where commands are made by the thousand."""


def decode(frame: bytes) -> RemotingCommand:
    """Reads one whole frame (Java: ``RemotingCommand.decode``).

    Raises:
        TruncatedError: the data ends before the frame does.
        DecodeError: not a frame, bytes after it, or a header that cannot be read.
    """
    return decode_frame(split_frame(frame))


def decode_frame(raw: RawFrame) -> RemotingCommand:
    """Reads the header of a frame that has been taken apart.

    Raises:
        DecodeError: the header cannot be read.
    """
    body = raw.body
    if raw.header_type == _JSON:
        fields: HeaderValues = read_json_header(raw.header)
        serialize_type = _JSON
    else:
        fields, used = decode_binary_header(raw.header)
        serialize_type = _ROCKETMQ
        if used != len(raw.header) and body is not None:
            # Java reads the body from where the entries end, not where the header should have ended
            body = (raw.header[used:] + body)[: len(body)]
    code, language, version, opaque, flag, remark, ext_fields = fields
    return new_command(
        code, language, version, opaque, flag, remark, ext_fields, body, serialize_type
    )


def encode(command: RemotingCommand) -> bytes:
    """Writes one whole frame, its header in the form that ``command.serialize_type`` says.

    Raises:
        EncodeError: a value has no form in that header, or the frame would exceed
            ``MAX_FRAME_LENGTH``, which no peer accepts.
    """
    return encode_as(command, command.opaque, command.flag)


def encode_as(command: RemotingCommand, opaque: int, flag: int) -> bytes:
    """Writes one whole frame as ``encode`` does, with this number and these flags instead of the
    command's own.

    Raises:
        EncodeError: as of ``encode``.
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
    """Turns a stream of bytes into commands: ``FrameDecoder``, then the headers."""

    __slots__ = ()

    def next_command(self) -> RemotingCommand | None:
        """Returns the next command, or None if more bytes are needed for it.

        Raises:
            DecodeError: the next frame or its header is bad.  After a bad frame every later call
                raises again; after a bad header the next frame would follow, but every Java peer
                closes the connection here.
        """
        frame = self.next_frame()
        return None if frame is None else decode_frame(frame)

    def only_command(self, data: bytes) -> RemotingCommand | None:
        """The command that the next bytes of the stream are, where they are just one; else None, and they still want to be fed."""
        frame = self.only_frame(data)
        if frame is None:
            return None
        try:
            return decode_frame(frame)
        except DecodeError:  # whoever feeds it is told
            return None
