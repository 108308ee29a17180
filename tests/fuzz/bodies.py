"""Compare bodies of every class with Java's ``RemotingSerializable``."""

import dataclasses
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.operations.registry import CLASSES
from tests.fuzz.chance import Chance
from tests.fuzz.trees import of_java, of_ours
from tests.fuzz.trials import Outcome, Refusal, Trial, javas, ours
from tests.peers.oracle import Answer, Oracle

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)


class Container(NamedTuple):
    start: int
    end: int
    #: where each of its members or elements starts, where its value does, and where it ends
    items: list[tuple[int, int, int]]


class _Open:
    def __init__(self, start: int) -> None:
        self.start = start
        self.item = self.value = start + 1
        self.items: list[tuple[int, int, int]] = []

    def close_item(self, end: int) -> None:
        if end > self.item:
            self.items.append((self.item, self.value, end))
        self.item = self.value = end + 1


def containers(text: bytes) -> list[Container]:
    # The objects and arrays of a text whose brackets pair, inner ones first; an object in key position is none.
    waiting: list[_Open] = []
    complete: list[Container] = []
    for token in _TOKEN.finditer(text):
        place = token.start()
        match token[0]:
            case b"{" | b"[":
                waiting.append(_Open(place))
            case b"}" | b"]" if waiting:
                waiting[-1].close_item(place)
                last = waiting.pop()
                if text[place + 1 : place + 2] != b":":
                    complete.append(Container(last.start, place + 1, last.items))
            case b"," if waiting:
                waiting[-1].close_item(place)
            case b":" if waiting:
                waiting[-1].value = place + 1
            case _:
                pass
    return complete


def reshape(chance: Chance, text: bytes) -> bytes:
    # A text whose object became an array, or the opposite: an empty one, one around it, or one of its values.
    parts = containers(text)
    if not parts:
        return text
    part = chance.choice(parts)
    container = text[part.start : part.end]
    values = [text[value:end] for _, value, end in part.items]
    is_object = container.startswith(b"{")
    match chance.below(3):
        case 0:
            replacement = b"[]" if is_object else b"{}"
        case 1:
            replacement = b"[%b]" % container if is_object else b'{"a":%b}' % container
        case _ if is_object:
            replacement = b"[%b]" % b",".join(values)
        case _:
            replacement = b"{%b}" % b",".join(
                b'"%d":%b' % (index, value) for index, value in enumerate(values)
            )
    return text[: part.start] + replacement + text[part.end :]


ROUND = 1500
SEEDS = 1 << 40
NEWER = ("DeleteTopicListRequestBody", "DeleteSubscriptionGroupListRequestBody")
"""Classes that 5.5.0, which answers, has not."""


def body_classes() -> dict[str, type[Any]]:
    # The classes of 5.5.0 that are bodies or parts of bodies, by their names in Java.
    return {
        name: cls
        for name, cls in CLASSES.items()
        if any("member" in field.metadata for field in dataclasses.fields(cls))
        and name not in NEWER
    }


def read(cls: type[Any], text: bytes) -> Outcome:
    return ours(lambda: of_ours(decode_body(cls, text)))


class JsonBodies:
    """JSON bodies.

    Attributes:
        reshaped: one of this number of damaged texts has another shape: an array in the place
            of an object, or the opposite.
    """

    name = "fastjson-bodies"
    reshaped = 8

    def trials(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]:
        classes = body_classes()
        names = sorted(classes)
        for start in range(0, count, ROUND):
            size = min(ROUND, count - start)
            chosen = [chance.choice(names) for _ in range(max(1, size // 6))]
            answers = oracle.ask_all(
                {
                    "op": "body_random",
                    "class": name,
                    "seed": chance.below(SEEDS),
                    "level": chance.below(4),
                    "timeless": True,
                }
                for name in chosen
            )
            texts: list[tuple[str, bytes]] = []
            count_of_trials = 0
            for name, answer in zip(chosen, answers, strict=True):
                if not answer["ok"]:  # a value that Java itself cannot write
                    continue
                text = bytes.fromhex(answer["hex"])
                texts.append((name, text))
                yield self._read(name, classes[name], text, answer)
                count_of_trials += 1
                if answer.get("decoded") == answer["value"]:  # or Java reads another value
                    yield self._rewrite(name, classes[name], text)
                    count_of_trials += 1
            damaged = [self._damage(chance, texts) for _ in range(size - count_of_trials)]
            answers = oracle.ask_all(
                {"op": "body_decode", "class": name, "hex": text.hex()} for _, name, text in damaged
            )
            for (kind, name, text), answer in zip(damaged, answers, strict=True):
                yield self._trial(kind, name, classes[name], text, _java(answer))

    def _damage(self, chance: Chance, texts: list[tuple[str, bytes]]) -> tuple[str, str, bytes]:
        name, text = chance.choice(texts)
        if chance.one_in(self.reshaped):
            return "read of another shape", name, reshape(chance, text)
        return "read damaged", name, chance.damage(text, 1 + chance.below(2))

    def _read(self, name: str, cls: type[Any], text: bytes, answer: Answer) -> Trial:
        refused = answer.get("refused")
        java = of_java(answer["decoded"]) if refused is None else javas(refused, "")
        return self._trial("read what Java wrote", name, cls, text, java)

    def _trial(self, kind: str, name: str, cls: type[Any], text: bytes, java: Outcome) -> Trial:
        def retry(oracle: Oracle) -> Outcome:
            return _java(oracle.ask("body_decode", **{"class": name, "hex": text.hex()}))

        return Trial(kind=kind, data=text, java=java, ours=read(cls, text), about=name, retry=retry)

    def _rewrite(self, name: str, cls: type[Any], text: bytes) -> Trial:
        # A body that Java wrote and we read is written again as the same bytes.

        def rewrite() -> str:
            body = decode_body(cls, text)
            return "" if body is None else encode_body(body).hex()

        our = ours(rewrite)
        java = Refusal("not read") if isinstance(our, Refusal) else text.hex()
        return Trial(kind="write again", data=text, java=java, ours=our, about=name)


def _java(answer: Answer) -> Outcome:
    return of_java(answer["value"]) if answer["ok"] else javas(answer, "")
