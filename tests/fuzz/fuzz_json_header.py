"""Any bytes are a JSON header or a ``DecodeError``, and what was read can be written and read again."""

from __future__ import annotations

from rocketwire.codes import LanguageCode
from rocketwire.wire.json_header import decode_json_header, encode_json_header
from tests.fuzz import seeds


def read(data: bytes) -> None:
    """Reads, writes, reads."""
    fields = decode_json_header(data)
    if not isinstance(fields.language, LanguageCode) or fields.language.is_known:
        assert decode_json_header(encode_json_header(**fields._asdict())) == fields


def start() -> list[bytes]:
    """Recorded headers."""
    return [
        *seeds.headers(0),
        b'{"extFields":{"$ref":"$"}}',
        b"{'code':1,}",
        b'{"language":"3","opaque":1e3}',
    ]
