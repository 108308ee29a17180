"""Compare properties and message ids with Java's ``MessageDecoder``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.wire.message.host import Host
from rocketwire.wire.message.ids import create_offset_message_id, decode_offset_message_id
from rocketwire.wire.message.properties import decode_properties, encode_properties
from tests.fuzz.trials import Outcome, Trial, javas, ours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fuzz.chance import Chance
    from tests.peers.oracle import Answer, Oracle

ROUND = 5000


class PropertyTexts:
    """Properties of messages as one text."""

    name = "properties"

    def trials(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]:
        """A third is written, the rest is read."""
        for start in range(0, count, ROUND):
            size = min(ROUND, count - start)
            maps = [self._map(chance) for _ in range(size // 3)]
            answers = oracle.ask_all({"op": "props_encode", "map": one} for one in maps)
            for one, answer in zip(maps, answers, strict=True):
                our = ours(encode_properties, one)
                yield Trial(
                    kind="write", data=repr(one).encode(), java=javas(answer, "text"), ours=our
                )
            texts = [self._text(chance) for _ in range(size - len(maps))]
            answers = oracle.ask_all({"op": "props_decode", "text": text} for text in texts)
            for text, answer in zip(texts, answers, strict=True):
                our = ours(decode_properties, text)
                data = text.encode("utf-8", "surrogatepass")
                yield Trial(kind="read", data=data, java=javas(answer, "map"), ours=our)

    def _map(self, chance: Chance) -> dict[str, str | None]:
        return {
            chance.text(halves=True): chance.maybe(lambda: chance.text(halves=True))
            for _ in range(chance.below(6))
        }

    def _text(self, chance: Chance) -> str:
        text = encode_properties(self._map(chance))
        for _ in range(chance.below(4)):
            at = chance.below(len(text) + 1)
            piece = chance.choice(
                ("\x01", "\x02", "", "a", "\x01\x02", "\x02\x02", "=", "\n", "a\x01", "\x01b\x02")
            )
            text = text[:at] + piece + text[at + chance.below(3) :]
        return text


class MessageIds:
    """Offset message ids."""

    name = "message-id"

    def trials(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]:
        """Half is written, half is read."""
        for start in range(0, count, ROUND):
            size = min(ROUND, count - start)
            hosts = [
                (
                    Host.of(
                        bytes(chance.below(256) for _ in range(chance.choice((4, 16)))),
                        chance.below(65536),
                    ),
                    chance.whole(64),
                )
                for _ in range(size // 2)
            ]
            questions = (
                {"op": "msgid_create", "host": host.ip, "port": host.port, "offset": offset}
                for host, offset in hosts
            )
            texts: list[str] = []
            for (host, offset), answer in zip(hosts, oracle.ask_all(questions), strict=True):
                our = ours(create_offset_message_id, host, offset)
                yield Trial(
                    kind="write",
                    data=f"{host} {offset}".encode(),
                    java=javas(answer, "msgid"),
                    ours=our,
                )
                texts.append(self._damaged(chance, answer["msgid"]) if answer["ok"] else "")
            for text, answer in zip(
                texts,
                oracle.ask_all({"op": "msgid_decode", "msgid": text} for text in texts),
                strict=True,
            ):
                yield Trial(
                    kind="read",
                    data=text.encode(),
                    java=self._shown(answer),
                    ours=ours(self._read, text),
                )

    def _damaged(self, chance: Chance, text: str) -> str:
        if chance.below(2):
            return text.lower() if chance.one_in(3) else text
        at = chance.below(len(text))
        return (
            text[:at]
            + chance.choice(("", "0", "F", "g", "00", " ", "\u0661"))
            + text[at + chance.below(3) :]
        )

    def _shown(self, answer: Answer) -> Outcome:
        if not answer["ok"]:
            return javas(answer, "host")
        return {name: answer[name] for name in ("host", "port", "offset")}

    def _read(self, text: str) -> Outcome:
        host, offset = decode_offset_message_id(text)
        return {"host": host.ip, "port": host.port, "offset": offset}
