"""Compare commands that have JSON headers with Java's ``RemotingCommand``."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from rocketwire.codes import LanguageCode, SerializeType
from rocketwire.wire.command import RemotingCommand, decode, encode
from tests.fuzz.chance import Chance
from tests.fuzz.trials import Outcome, Refusal, Trial, javas, ours
from tests.peers.oracle import Answer, Oracle

Entry: TypeAlias = tuple[bytes, bytes]

ROUND = 2000
"""Cases that are prepared together."""

_ODD_VALUES = (
    *("0", "-1", "105", "2147483647", "2147483648", "-2147483649", "1e3", "1.5", "-0", "007", "+5"),
    *("1.", "1E400", "NaN", "Infinity", "-Infinity", "true", "false", "null", "True", "undefined"),
    *(
        "",
        "{}",
        "[]",
        "[1]",
        '["1"]',
        '""',
        '"0"',
        '"105"',
        '"-7"',
        '"1.0"',
        '"x"',
        "'x'",
        '"null"',
    ),
    *('"true"', '"JAVA"', '"java"', '"3"', '"PYTHON"', "3", '{"a":1}', '{"a":"b","c":null}'),
    *('{"a":[1,2]}', '{"a":{"b":1}}', '{1:"x"}', '{"a":1.50}', '{"a":true}', "13", '{"a":1e3}'),
    *(
        '{"a":12345678901234567890}',
        '"\\u0041"',
        '"\\x41"',
        '"\\/"',
        '"\\ud83d\\ude80"',
        '"\\ud83d"',
    ),
    *('{"$ref":"$"}', '{"$ref":"x"}', '{"@type":"x"}', '{"a":""}', '{"":"a"}', '"\x01"', '"a\nb"'),
    *("/**/1", "1/**/", "200050", "1700000000000", "9223372036854775807", "9223372036854775808"),
    *("4294967296", "1L", "1.0", "14"),
)
_MEMBERS = (
    *("code", "extFields", "flag", "language", "opaque", "remark", "serializeTypeCurrentRPC"),
    "version",
)
_ODD_MEMBERS = (
    *("body", "CODE", "ext_fields", "unknown", "$ref", "@type", "", "type", "header", "suspended"),
    "rPCType",
)


def neutral(command: RemotingCommand) -> dict[str, Outcome]:
    language: object = command.language
    if isinstance(language, LanguageCode):
        language = language.name if language.is_known else int(language)
    return {
        "code": int(command.code),
        "language": language,
        "version": int(command.version),
        "opaque": int(command.opaque),
        "flag": int(command.flag),
        "remark": command.remark,
        "serialize": command.serialize_type.name,
        "ext": None if command.ext_fields is None else dict(command.ext_fields),
        "body": None if command.body is None else command.body.hex(),
    }


def build_frame(header: bytes, body: bytes, form: SerializeType) -> bytes:
    word = int(form) << 24 | len(header)
    return (
        (4 + len(header) + len(body)).to_bytes(4, "big") + word.to_bytes(4, "big") + header + body
    )


def java_command(answer: Answer) -> Outcome:
    shown = javas(answer, "command")
    return Refusal("null") if shown is None else shown


@dataclass(frozen=True, slots=True)
class _Case:
    kind: str
    frame: bytes


def _header(frame: bytes) -> bytes:
    return frame[8 : 8 + int.from_bytes(frame[5:8], "big")]


def _java_text(text: str) -> bytes:
    # A text as Java writes it: lone surrogates are question marks.
    return text.encode("utf-8", "replace")


def _place(order: list[Entry], entry: tuple[str, str]) -> int:
    written = (_java_text(entry[0]), _java_text(entry[1]))
    return order.index(written) if written in order else len(order)


class JsonHeaders:
    name = "json-header"
    form = SerializeType.JSON

    def trials(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]:
        for start in range(0, count, ROUND):
            yield from self._round(chance, oracle, min(ROUND, count - start))

    def _round(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]:
        commands = [self.command(chance) for _ in range(max(1, count // 8))]
        written = list(oracle.ask_all(self._question(command) for command in commands))
        frames: list[bytes] = []
        for command, answer in zip(commands, written, strict=True):
            if answer["ok"]:
                frames.append(bytes.fromhex(answer["hex"]))
            yield self._writing(command, answer)
        cases = list(
            self._cases(
                chance,
                commands,
                frames or [build_frame(b"{}", b"", self.form)],
                count - len(commands),
            )
        )
        answers = oracle.ask_all({"op": "decode_frame", "hex": case.frame.hex()} for case in cases)
        for case, answer in zip(cases, answers, strict=True):
            yield self._reading(case, answer)

    def command(self, chance: Chance) -> RemotingCommand:
        return RemotingCommand(
            code=chance.whole(32),
            language=None if chance.one_in(20) else chance.choice(list(LanguageCode)),
            version=chance.whole(32),
            opaque=chance.whole(32),
            flag=chance.whole(32),
            remark=chance.maybe(lambda: chance.text(halves=True)),
            ext_fields=chance.maybe(lambda: chance.texts(halves=True)),
            body=chance.data() or None,
            serialize_type=self.form,
        )

    def _question(self, command: RemotingCommand) -> Mapping[str, object]:
        return {**neutral(command), "op": "encode_frame"}

    def _writing(self, command: RemotingCommand, answer: Answer) -> Trial:
        # Same bytes: ours with the text fields in the order of Java's map.
        java = javas(answer, "hex")

        def write() -> str:
            fields = command.ext_fields
            if fields is not None and isinstance(java, str):
                order = self._entries(bytes.fromhex(java))
                fields = dict(sorted(fields.items(), key=lambda item: _place(order, item)))
            return encode(replace(command, ext_fields=fields)).hex()

        our = ours(write)
        data = repr(neutral(command)).encode()
        return Trial(kind="write", data=data, java=java, ours=our)

    def _reading(self, case: _Case, answer: Answer) -> Trial:
        def retry(oracle: Oracle) -> Outcome:
            return java_command(oracle.ask("decode_frame", hex=case.frame.hex()))

        our = ours(lambda: neutral(decode(case.frame)))
        return Trial(
            kind=case.kind,
            data=case.frame,
            java=java_command(answer),
            ours=our,
            about="frame",
            retry=retry,
        )

    def _cases(
        self, chance: Chance, commands: list[RemotingCommand], frames: list[bytes], count: int
    ) -> Iterator[_Case]:
        for _ in range(count):
            number = chance.below(6)
            if number == 0:
                yield _Case("read what Java wrote", chance.choice(frames))
            elif number == 1:
                our = ours(lambda: encode(chance.choice(commands)))
                yield _Case(
                    "read what we wrote", our if isinstance(our, bytes) else chance.choice(frames)
                )
            elif number == 2:
                yield _Case("read odd", build_frame(self.odd(chance), chance.data(), self.form))
            else:
                frame = chance.choice(frames)
                size = int.from_bytes(frame[5:8], "big")
                header = chance.damage(frame[8 : 8 + size], 1 + chance.below(3))
                yield _Case("read damaged", build_frame(header, frame[8 + size :], self.form))

    def _entries(self, frame: bytes) -> list[Entry]:
        pairs = cast("list[tuple[str, Any]]", json.loads(_header(frame), object_pairs_hook=list))
        fields = cast("list[tuple[str, str]]", dict(pairs).get("extFields") or [])
        return [(_java_text(key), _java_text(value)) for key, value in fields]

    def odd(self, chance: Chance) -> bytes:
        members: list[str] = []
        for _ in range(chance.below(6)):
            name = chance.choice(_MEMBERS if chance.below(5) else _ODD_MEMBERS)
            value = chance.choice(_ODD_VALUES)
            if chance.one_in(4):
                value = json.dumps(chance.text(), ensure_ascii=chance.one_in(2))
            colon = chance.choice((":", ":", ":", " : ", ":\n"))
            members.append(json.dumps(name) + colon + value)
        text = chance.choice((",", ",", ",", ", ", ",\n")).join(members)
        tail = chance.choice(("", "", "", "", "", ",", " ", "\0", "//x", "{}", "x"))
        return ("{" + text + "}" + tail).encode("utf-8", "surrogatepass")
