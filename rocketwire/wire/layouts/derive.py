"""Generates ``fused.py`` from the declarations.

Run ``ROCKETWIRE_CONSTRUCT=interpreted python -m rocketwire.wire.layouts.derive``.

Rules of this file: ``fused.py`` has only generated text; a test compares it with the declarations.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from rocketwire.wire.layouts import declarations
from rocketwire.wire.layouts.compiler.builder import builder_source
from rocketwire.wire.layouts.compiler.lower import lower
from rocketwire.wire.layouts.compiler.parser import parser_source

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

_HEAD: Final = '''"""Parsers and builders of the layouts; ``derive`` writes this file."""

from __future__ import annotations

from struct import Struct
from struct import error as StructError
from typing import Any, Final

from rocketwire.wire.buffer import Buffer
from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8
from rocketwire.wire.layouts.runtime.build_errors import invalid, unfit, wrong_size
from rocketwire.wire.layouts.runtime.entries import build_entries, decode_buffer, parse_entries
from rocketwire.wire.layouts.runtime.parse_errors import bad_count, bad_length, refused, short
'''


def _binary_header() -> dict[str, Any]:
    """Constants of the binary header for readers of many headers at once."""
    *fixed, remark, entries = declarations.BINARY_HEADER.subcons
    return {
        "BINARY_HEADER_FIXED": tuple(
            (field.name, f"{'u' if field.subcon.fmtstr[-1].isupper() else 'i'}{field.sizeof()}")
            for field in fixed
        ),
        "REMARK_LENGTH_SIZE": remark.subcon.lengthfield.sizeof(),
        "EXT_FIELDS_LENGTH_SIZE": entries.subcon.length.sizeof(),
        "KEY_LENGTH_SIZE": entries.subcon.key.sizeof(),
        "VALUE_LENGTH_SIZE": entries.subcon.value.sizeof(),
    }


def structs(text: str) -> str:
    """Definitions of the packed structs that generated functions use, such as ``pack_lBBH``."""
    names = sorted(set(re.findall(r"\b(?:un)?pack_\w+", text)))
    methods = {"pack": "pack", "unpack": "unpack_from"}
    pairs = [name.split("_") for name in names]
    return "\n".join(
        f"{verb}_{form}: Final = Struct('>{form}').{methods[verb]}" for verb, form in pairs
    )


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
    layouts = {name: lower(vars(declarations)[name]) for name in (*_PARSED, *_BOTH)}
    functions = [parser_source(node, f"parse_{name.lower()}") for name, node in layouts.items()]
    functions += [builder_source(layouts[name], f"build_{name.lower()}") for name in _BOTH]
    lines = [f"{name} = {value!r}" for name, value in constants.items()]
    (prefix,) = structs(parser_source(layouts["PREFIX"], "parse")).splitlines()
    lines += [
        f"PREFIX_STRUCT = {prefix.partition(' = ')[2].removesuffix('.unpack_from')}",
        structs("\n".join(functions)),
        "",
    ]
    return "\n".join((_HEAD, *lines, *functions))


if __name__ == "__main__":
    FILE.write_text(derived())
