"""Random values and damaged bytes, the same for the same seed; unusual ones are frequent."""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

TEXTS = (
    *(
        "",
        " ",
        '"',
        '"q"',
        "\\",
        "a\\b",
        "\t\n\r\b\f",
        "\0\1\2\x1f",
        "\x7f\x85\x9f",
        "\u2028\u2029",
    ),
    *("café", "主题", "🚀", "a/b", '{"x":1}', "[1,2]", "null", "true", "'x'", "<&>", "%RETRY%g@T"),
    *("\ufeffb", "1e5", "-0", "$ref", "\ufffd", "e\u0301", "$.a.b", "$", "@type", "0", "007"),
    *(
        "18446744073709551616",
        "NaN",
        ",",
        ":",
        "}",
        "//x",
        "/*x*/",
        "\u0661",
        "TopicTest",
        "broker-a",
    ),
    *("10.0.0.1:10911", "+5", "-5", "True", "TRUE", "false", "1.5", "2147483648", "lower", "UPPER"),
    *("\ud800", "a\udc00b", "x" * 300),
)
WHOLES = (
    *(0, 1, -1, 7, 105, 127, 128, 255, 256, 32767, 32768, -32768, 65535, 0x7FFFFFFF, -0x80000000),
    *(1 << 31, 1 << 32, (1 << 53) - 1, (1 << 53) + 1, (1 << 63) - 1, -(1 << 63)),
)
BYTES = b"\x00\x01\x02\x7f\x80\xc0\xed\xff\"\\{}[]:,/*'0123456789-+.eEnul \n\t$@"


class Chance:
    def __init__(self, seed: int | str | bytes) -> None:
        self._random = random.Random(seed)

    def below(self, limit: int) -> int:
        return int(self._random.random() * limit)

    def one_in(self, number: int) -> bool:
        return self.below(number) == 0

    def choice(self, values: Sequence[T]) -> T:
        return values[self.below(len(values))]

    def maybe(self, make: Callable[[], T]) -> T | None:
        return None if self.one_in(3) else make()

    def data(self, limit: int = 40) -> bytes:
        return self._random.randbytes(self.below(limit))

    def text(self, *, halves: bool = False) -> str:
        form = self.below(5)
        if form < 3:
            text = self.choice(TEXTS)
            return (
                text
                if halves or text.isascii() or text.encode("utf-8", "ignore").decode() == text
                else "?"
            )
        if form == 3:
            return "".join(
                self.choice("abcdefghijklmnopqrstuvwxyz_0123456789")
                for _ in range(1 + self.below(12))
            )
        return "".join(
            chr(self.choice((0x20, 0x80, 0x800, 0x10000)) + self.below(0x60))
            for _ in range(self.below(8))
        )

    def whole(self, bits: int) -> int:
        half = 1 << (bits - 1)
        value = self.choice(WHOLES) if self.below(2) else self._random.getrandbits(bits)
        return (value + half) % (2 * half) - half

    def texts(self, limit: int = 6, *, halves: bool = False) -> dict[str, str]:
        return {
            self.text(halves=halves): self.text(halves=halves) for _ in range(self.below(limit))
        }

    def damage(self, data: bytes, times: int = 3) -> bytes:
        damaged = bytearray(data)
        for _ in range(1 + self.below(times)):
            self._accident(damaged)
        return bytes(damaged)

    def _accident(self, data: bytearray) -> None:
        place = self.below(len(data) + 1)
        form = self.below(8)
        if form == 0:
            data[place:place] = bytes((self.choice(BYTES),))
        elif form == 1:
            data[place:place] = self.data(5)
        elif form == 2:
            del data[place : place + 1 + self.below(4)]
        elif form == 3:
            data[place:place] = data[self.below(len(data) + 1) :][: self.below(12)]
        elif form == 4:
            del data[place:]
        elif form == 5:
            word = self.whole(32) if self.one_in(10) else self.below(300) - 4
            data[place : place + 4] = (word & 0xFFFFFFFF).to_bytes(4, "big")[: len(data) - place]
        elif place < len(data):
            data[place] = self.choice(BYTES) if form == 6 else data[place] ^ 1 << self.below(8)
