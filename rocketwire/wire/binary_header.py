"""The ROCKETMQ (binary) header form.

Java reads an empty key or value as null.  Its header classes do not distinguish null from a missing
key, so such keys are omitted here.  Bytes after the entries inside the declared header length are
legal; for Java they are the first bytes of the body (``command.decode_frame``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.codes import LanguageCode
from rocketwire.errors import EncodeError
from rocketwire.wire.header_fields import HeaderFields
from rocketwire.wire.layouts.fused import build_binary_header, parse_binary_header

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.wire.header_fields import Language


def decode_binary_header(header: bytes) -> tuple[HeaderFields, int]:
    """Decode a header; return it with the number of bytes used (Java: ``RocketMQSerializable``).

    An unlisted language stays a number.  An empty remark and an empty map are None.

    Raises:
        TruncatedError: a field exceeds the end of the header.
        DecodeError: a length is negative.
    """
    values, used = parse_binary_header(header)
    code, language, version, opaque, flag, remark, ext_fields = values
    fields = HeaderFields(
        code, LanguageCode(language), version, opaque, flag, remark or None, ext_fields
    )
    return fields, used


def encode_binary_header(
    *,
    code: int,
    language: Language,
    version: int,
    opaque: int,
    flag: int,
    remark: str | None,
    ext_fields: Mapping[str, str] | None,
) -> bytes:
    """Encode a header; keys keep their order.

    Raises:
        EncodeError: the code or the version exceeds int16 (Java truncates: 200050 would arrive as
            3442), another number exceeds its field, a key is longer than 32767 bytes, or the
            language has no number.
    """
    if not isinstance(language, int):
        raise EncodeError(f"{language!r} has no number in a binary header", path="language")
    return build_binary_header(code, language, version, opaque, flag, remark or "", ext_fields)
