"""``ROCKETWIRE_CONSTRUCT=interpreted python -m rocketwire.wire.layouts.derive`` writes ``fused.py``: what ``lower`` derives from the declarations.

Rules of this file: ``fused.py`` holds nothing that is not derived; a test compares the two.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from rocketwire.wire.layouts import declarations
from rocketwire.wire.layouts.compiler.lower import builder_text, lower, parser_text
from rocketwire.wire.layouts.compiler.nodes import fixed_struct

FILE: Final = Path(__file__).with_name("fused.py")

_BOTH: Final = (
    "ENVELOPE",
    "BINARY_HEADER",
    "REGISTER_BODY",
    "REGISTER_BODY_WITH_MAPPINGS",
    "STORED_MESSAGE",
    "BATCH",
)
_PARSED: Final = (
    "LENGTH",
    "PREFIX",
    "REGISTER_HEAD",
    "REGISTER_ITEM",
    "REGISTER_TAIL",
    "REGISTER_TAIL_WITH_MAPPINGS",
    "STORED_MESSAGE_RAW",
)

_HEAD: Final = '''"""Parsers and builders of the layouts; written by ``rocketwire.wire.layouts.derive``, never by hand."""

from struct import Struct
from struct import error as StructError

from rocketwire.wire.layouts.runtime.build_errors import build_entries, impossible, unfit, wrong_size
from rocketwire.wire.layouts.runtime.entries import entries_reader, surplus_finder
from rocketwire.wire.layouts.runtime.lists import read_pieces
from rocketwire.wire.layouts.runtime.parse_errors import bad_count, bad_length, refused, short, too_many
from rocketwire.wire.java_utf8 import decode_damaged, decode_slice, encode_utf8

decode_bytes = bytes.decode
'''


def _binary_header() -> dict[str, Any]:
    """What who reads many binary headers at once needs to know of them."""
    *fixed, remark, entries = declarations.BINARY_HEADER.subcons
    return {
        "BINARY_HEADER_FIXED": tuple(
            (one.name, f"{'u' if one.subcon.fmtstr[-1].isupper() else 'i'}{one.sizeof()}")
            for one in fixed
        ),
        "REMARK_LENGTH_SIZE": remark.subcon.lengthfield.sizeof(),
        "EXT_FIELDS_LENGTH_SIZE": entries.subcon.length.sizeof(),
        "KEY_LENGTH_SIZE": entries.subcon.key.sizeof(),
        "VALUE_LENGTH_SIZE": entries.subcon.value.sizeof(),
    }


def derived() -> str:
    """The text of ``fused.py``."""
    constants: dict[str, Any] = {
        "LENGTH_SIZE": declarations.LENGTH.sizeof(),
        "PREFIX_SIZE": declarations.PREFIX.sizeof(),
        "ITEM_LENGTH_SIZE": declarations.REGISTER_ITEM.lengthfield.sizeof(),
        "MAX_EXT_FIELDS": declarations.MAX_EXT_FIELDS,
        "MAGIC_V1": declarations.MAGIC_V1,
        "MAGIC_V2": declarations.MAGIC_V2,
    } | _binary_header()
    prefix = fixed_struct(lower(declarations.PREFIX)).format
    lines = [f"{name} = {value!r}" for name, value in constants.items()]
    lines.append(f"PREFIX_STRUCT = Struct({prefix!r})\n")
    functions = [
        parser_text(vars(declarations)[name], f"parse_{name.lower()}")
        for name in (*_PARSED, *_BOTH)
    ]
    functions += [builder_text(vars(declarations)[name], f"build_{name.lower()}") for name in _BOTH]
    return "\n".join((_HEAD, "\n".join(lines), *functions))


if __name__ == "__main__":
    FILE.write_text(derived())
