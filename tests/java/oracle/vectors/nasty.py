"""Values on which codecs break, each with a name that vectors carry in their id."""

from typing import Final

TEXTS: Final = {
    "plain": "TopicTest",
    "empty": "",
    "blank": " ",
    "two-quotes": '"quoted"',
    "one-quote": "it's",
    "backslashes": "a\\b\\\\c\\",
    "backslash-and-quote": '\\"',
    "escaped-escape": "\\u0041\\n",
    "slashes": "a/b//c</script>",
    "line-ends": "a\r\nb\nc\rd",
    "white": "\ta\tb \f",
    "backspace": "a\bb",
    "nul": "a\0b",
    "controls": "".join(map(chr, range(0x20))),
    "delete": "a\x7fb",
    "c1-controls": "".join(map(chr, range(0x80, 0xA0))),
    "next-line": "a\x85b",
    "separators": "a\u2028b\u2029c",
    "latin": "caf\u00e9 \u00fc\u00df\u00ff",
    "combining": "e\u0301 n\u0303 \u1112\u1161\u11ab",
    "greek-cyrillic-hebrew-arabic": "\u03a9\u0416\u05d0\u0627",
    "chinese": "\u4e3b\u9898\u6d4b\u8bd5",
    "astral": "\U0001f680\U00020000\U0010ffff",
    "emoji-of-five": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "astral-after-escape": '"\U0001f680\n',
    "right-to-left": "a\u202eb\u200fc",
    "byte-order-mark": "\ufeffa",
    "no-characters": "\ufffe\uffff\ufdd0",
    "replacement": "\ufffd",
    "ends-of-widths": "\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000",
    "digits": "0123456789",
    "arabic-digits": "\u0661\u0662",
    "json-object": '{"a":[1,null,true]}',
    "json-words": "null",
    "reference": "$.a.b",
    "at-type": "@type",
    "not-a-number": "NaN",
    "beyond-int64": "18446744073709551616",
    "retry-topic": "%RETRY%group@T",
    "separators-of-topics": "a b  c ",
    "html": "<&>=+%20;,:|",
    "long": "0123456789abcdef" * 64,
    "long-unicode": "\u4e3b\u00e9\U0001f680a" * 64,
}
"""Texts that are valid Unicode."""

WITHOUT_PROPERTY_SEPARATORS: Final = {
    name: text.translate({1: None, 2: None}) for name, text in TEXTS.items()
}
"""The same without U+0001 and U+0002, which end names and values of properties."""

INT32: Final = (0, 1, -1, 127, 128, 255, 256, 32767, 65536, 0x7FFFFFFF, -0x80000000)
INT64: Final = (*INT32, 1 << 31, 1 << 32, (1 << 53) - 1, (1 << 53) + 1, (1 << 63) - 1, -(1 << 63))
BODIES: Final = {
    "one-zero": b"\0",
    "all-bytes": bytes(range(256)),
    "not-utf8": b"\xff\xfe\xc0\x80\xed\xa0\x80",
    "a-frame": bytes.fromhex("0000000600000002") + b"{}",
    "long": b"rocketwire" * 200,
}
