"""What the files of this package are written with.

Forms of values, ``ext`` for header fields, ``member`` for body members, and the two codecs.
"""

from __future__ import annotations

from rocketwire.messages._codec.bodies import (
    decode_bodies,
    decode_body,
    encode_bodies,
    encode_body,
    from_json,
    java_name,
    member,
    members_of,
    read_text,
    record,
    to_json,
)
from rocketwire.messages._codec.containers import distinct, listing, mapping
from rocketwire.messages._codec.headers import (
    among,
    decode_header,
    encode_header,
    ext,
    ext_fields_of,
    fast_codec_of,
    positive,
)
from rocketwire.messages._codec.types import (
    BIT_SET,
    BOOLEAN,
    BOXED_BOOLEAN,
    BOXED_LONG,
    BYTE,
    CLOCKED_LONG,
    DOUBLE,
    INT,
    INTEGER,
    LONG,
    NULLABLE_STRING,
    STRING,
    enumeration,
)

__all__ = [
    "BIT_SET",
    "BOOLEAN",
    "BOXED_BOOLEAN",
    "BOXED_LONG",
    "BYTE",
    "CLOCKED_LONG",
    "DOUBLE",
    "INT",
    "INTEGER",
    "LONG",
    "NULLABLE_STRING",
    "STRING",
    "among",
    "decode_bodies",
    "decode_body",
    "decode_header",
    "distinct",
    "encode_bodies",
    "encode_body",
    "encode_header",
    "enumeration",
    "ext",
    "ext_fields_of",
    "fast_codec_of",
    "from_json",
    "java_name",
    "listing",
    "mapping",
    "member",
    "members_of",
    "positive",
    "read_text",
    "record",
    "to_json",
]
