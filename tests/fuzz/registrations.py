"""Compare bodies of broker registrations in both forms with Java's ``RegisterBrokerBody``."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

from rocketwire.messages.registration import (
    RegisterBrokerBody,
    decode_register_broker_body,
    encode_register_broker_body,
)
from tests.fuzz.trees import of_java, of_ours
from tests.fuzz.trials import Outcome, Refusal, Trial, javas, ours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fuzz.chance import Chance
    from tests.peers.oracle import Answer, Oracle

ROUND = 1500
SEEDS = 1 << 40
COMPLETE = (1, 2)
"""Levels of the oracle's random values at which no member is null, so that no default comes in when they are read."""
VERSIONS = (513, 513, 513, 479, 413, 412, 401, 300, 37)
"""Versions on both sides of every threshold, from the one on that brought this body."""


class Registrations:
    """Registrations, packed and as JSON."""

    name = "register-body"

    def trials(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]:
        """Of six cases one is read, one written again, and four are damaged, inside or outside of the compression."""
        for start in range(0, count, ROUND):
            size = min(ROUND, count - start)
            packed = [(chance.below(3) > 0, chance.below(4)) for _ in range(max(1, size // 6))]
            written = list(
                oracle.ask_all(
                    {
                        "op": "register_random",
                        "seed": chance.below(SEEDS),
                        "level": level,
                        "timeless": True,
                        "compressed": one,
                    }
                    for one, level in packed
                )
            )
            made = [
                (bytes.fromhex(answer["hex"]), one, level)
                for (one, level), answer in zip(packed, written, strict=True)
                if answer["ok"]
            ]
            bodies = [(data, one) for data, one, _ in made] or [(b"{}", False)]
            complete = [
                (data, one)
                for data, one, level in made
                if level in COMPLETE and not _loses(data, packed=one)
            ]
            cases = [("read what Java wrote", *body, 513) for body in bodies]
            rest = size - len(bodies) - len(complete)
            cases += [
                ("read damaged", *self._damaged(chance, *chance.choice(bodies)))
                for _ in range(rest)
            ]
            questions = (
                {"op": "register_decode", "hex": data.hex(), "compressed": one, "version": version}
                for _, data, one, version in cases
            )
            for (kind, data, one, version), answer in zip(
                cases, oracle.ask_all(questions), strict=True
            ):
                yield self._reading(kind, data, one, version, answer)
            for data, one in complete:
                yield self._writing(data, one)

    def _damaged(self, chance: Chance, data: bytes, packed: bool) -> tuple[bytes, bool, int]:
        version = chance.choice(VERSIONS)
        if not packed:
            return chance.damage(data, 2), False, version
        if chance.one_in(6):
            return chance.damage(data, 2), True, version
        plain = zlib.decompress(data)
        if chance.one_in(4):
            plain = chance.damage(plain, 1)
        else:  # inside one piece, with the length that it then has
            items = split(plain)
            at = chance.choice(
                [index for index, (_, piece) in enumerate(items) if piece is not None]
            )
            word, piece = items[at]
            items[at] = (word, chance.damage(piece or b"", 1))
            plain = join(items)
        return zlib.compress(plain, 1), True, version

    def _reading(self, kind: str, data: bytes, packed: bool, version: int, answer: Answer) -> Trial:
        def again(other: Oracle) -> Outcome:
            return _java(
                other.ask("register_decode", hex=data.hex(), compressed=packed, version=version)
            )

        def read() -> Outcome:
            return of_ours(decode_register_broker_body(data, compressed=packed, version=version))

        about = f"{'packed' if packed else 'JSON'} {version}"
        return Trial(
            kind=kind,
            data=_plain(data, packed),
            java=_java(answer),
            ours=ours(read),
            about=about,
            retry=again,
        )

    def _writing(self, data: bytes, packed: bool) -> Trial:
        def again() -> str:
            body = decode_register_broker_body(data, compressed=packed, version=513)
            assert isinstance(body, RegisterBrokerBody)
            return _plain(
                encode_register_broker_body(body, compressed=packed, version=513), packed
            ).hex()

        our = ours(again)
        plain = _plain(data, packed)
        java = Refusal("not read") if isinstance(our, Refusal) else plain.hex()
        return Trial(
            kind="write again",
            data=plain,
            java=java,
            ours=our,
            about="packed" if packed else "JSON",
        )


def split(plain: bytes) -> list[tuple[bytes, bytes | None]]:
    """A packed registration as (bytes before a length, piece of that length); a count of zero has no piece after it.

    Of damaged data the pieces are as long as there are bytes.
    """
    items: list[tuple[bytes, bytes | None]] = []
    at = 0
    for counted in (False, True, False, True):
        word = plain[at : at + 4] if counted else b""
        at += len(word)
        count = int.from_bytes(word, "big") if counted else 1
        if counted and count == 0:
            items.append((word, None))
        while count > 0 and at < len(plain):
            size = int.from_bytes(plain[at : at + 4], "big")
            items.append((word, plain[at + 4 : at + 4 + size]))
            at += 4 + size
            count -= 1
            word = b""
    return items


def topics_of(items: list[tuple[bytes, bytes | None]]) -> list[bytes]:
    """The texts of the topics."""
    count = int.from_bytes(items[1][0], "big") if len(items) > 1 else 0
    return [piece for _, piece in items[1 : 1 + count] if piece is not None]


def join(items: list[tuple[bytes, bytes | None]]) -> bytes:
    """The way back, with lengths that fit."""
    return b"".join(
        word if piece is None else word + len(piece).to_bytes(4, "big") + piece
        for word, piece in items
    )


def _loses(data: bytes, *, packed: bool) -> bool:
    """Whether Java itself would not get it back: attributes that look like a reference, a blank too many, a topic twice."""
    if not packed:
        return b'"$ref":"' in data
    items = split(zlib.decompress(data))
    topics = topics_of(items)
    names = [topic.split(b" ")[0] for topic in topics]
    names += [name for _, piece in items for name in re.findall(rb'"topic":"[^"]*', piece or b"")]
    return len(set(names)) < len(names) or any(topic.count(b" ") != 5 for topic in topics)


def _plain(data: bytes, packed: bool) -> bytes:
    """Return the inflated bytes, as far as they can be inflated."""
    if not packed:
        return data
    try:
        return zlib.decompressobj().decompress(data, 1 << 24)
    except zlib.error:
        return data


def _java(answer: Answer) -> Outcome:
    return of_java(answer["value"]) if answer["ok"] else javas(answer, "")
