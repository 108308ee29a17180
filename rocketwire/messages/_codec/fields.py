"""The names that modules of ``messages`` import: forms, ``ext``, ``member`` and the two codecs."""

from __future__ import annotations

from rocketwire.messages._codec.bodies import decode_bodies as decode_bodies
from rocketwire.messages._codec.bodies import decode_body as decode_body
from rocketwire.messages._codec.bodies import encode_bodies as encode_bodies
from rocketwire.messages._codec.bodies import encode_body as encode_body
from rocketwire.messages._codec.bodies import from_json as from_json
from rocketwire.messages._codec.bodies import java_name as java_name
from rocketwire.messages._codec.bodies import member as member
from rocketwire.messages._codec.bodies import members_of as members_of
from rocketwire.messages._codec.bodies import read_text as read_text
from rocketwire.messages._codec.bodies import record as record
from rocketwire.messages._codec.bodies import to_json as to_json
from rocketwire.messages._codec.containers import distinct as distinct
from rocketwire.messages._codec.containers import listing as listing
from rocketwire.messages._codec.containers import mapping as mapping
from rocketwire.messages._codec.headers import check_one_of as check_one_of
from rocketwire.messages._codec.headers import decode_header as decode_header
from rocketwire.messages._codec.headers import encode_header as encode_header
from rocketwire.messages._codec.headers import ext as ext
from rocketwire.messages._codec.headers import ext_fields_of as ext_fields_of
from rocketwire.messages._codec.headers import fast_codec_of as fast_codec_of
from rocketwire.messages._codec.headers import positive as positive
from rocketwire.messages._codec.types import BIT_SET as BIT_SET
from rocketwire.messages._codec.types import BOOLEAN as BOOLEAN
from rocketwire.messages._codec.types import BOXED_BOOLEAN as BOXED_BOOLEAN
from rocketwire.messages._codec.types import BOXED_LONG as BOXED_LONG
from rocketwire.messages._codec.types import BYTE as BYTE
from rocketwire.messages._codec.types import CLOCKED_LONG as CLOCKED_LONG
from rocketwire.messages._codec.types import DOUBLE as DOUBLE
from rocketwire.messages._codec.types import INT as INT
from rocketwire.messages._codec.types import INTEGER as INTEGER
from rocketwire.messages._codec.types import LONG as LONG
from rocketwire.messages._codec.types import NULLABLE_STRING as NULLABLE_STRING
from rocketwire.messages._codec.types import STRING as STRING
from rocketwire.messages._codec.types import enumeration as enumeration
