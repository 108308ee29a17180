"""Compare typed headers of every class with Java's ``makeCustomHeaderToNet`` and ``decodeCommandCustomHeader``."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import TYPE_CHECKING, Any

from rocketwire.codes import SerializeType
from rocketwire.messages import decode_header, encode_header
from rocketwire.messages._codec.fields import ext_fields_of, fast_codec_of
from rocketwire.messages.enums import BoundaryType
from rocketwire.messages.operations.registry import CLASSES
from rocketwire.wire.command import RemotingCommand, decode, encode
from tests.fuzz.trials import Outcome, Refusal, Trial, javas, ours

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rocketwire.messages._codec.headers import Ext
    from tests.fuzz.chance import Chance
    from tests.peers.oracle import Answer, Oracle

ROUND = 3000
ABSTRACT = ("RpcRequestHeader", "TopicRequestHeader", "TopicQueueRequestHeader")
BITS = {"int": 32, "Integer": 32, "long": 64, "Long": 64}


def header_classes() -> dict[str, type[Any]]:
    """The header classes by their names in Java."""
    return {
        name: cls
        for name, cls in CLASSES.items()
        if not any("member" in field.metadata for field in dataclasses.fields(cls))
    }


def fields_of(cls: type[Any]) -> dict[str, Ext]:
    """The fields of a header class that 5.5.0, which answers, has."""
    return {name: one for name, one in ext_fields_of(cls).items() if one.since != "5.5.1"}


def show(header: object) -> dict[str, Outcome]:
    """A header by its wire names."""
    values: dict[str, Outcome] = {}
    for name, one in fields_of(type(header)).items():
        value = getattr(header, name)
        values[one.wire] = value.name if isinstance(value, Enum) else value
    return values


def _read(cls: type[Any], texts: dict[str, str]) -> Outcome:
    return show(decode_header(cls, texts))


class TypedHeaders:
    """Typed headers in both serialisations."""

    name = "typed-header"

    def trials(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]:
        """Half is written, half is read from any texts."""
        classes = {
            name: cls
            for name, cls in header_classes().items()
            if fields_of(cls) and name not in ABSTRACT
        }
        names = sorted(classes)
        for start in range(0, count, ROUND):
            size = min(ROUND, count - start)
            made = [
                self._values(chance, name, classes[name])
                for name in (chance.choice(names) for _ in range(size // 2))
            ]
            forms = [chance.choice(list(SerializeType)) for _ in made]
            questions = (
                {"op": "encode_frame", "header": name, "fields": values, "serialize": form.name}
                for (name, values), form in zip(made, forms, strict=True)
            )
            for (name, values), form, answer in zip(
                made, forms, oracle.ask_all(questions), strict=True
            ):
                yield self._writing(name, classes[name], values, form, answer)
            fields = [
                self._texts(chance, name, classes[name])
                for name in (chance.choice(names) for _ in range(size - len(made)))
            ]
            frames = [encode(RemotingCommand(code=1, ext_fields=texts)) for _, texts in fields]
            asked = (
                {"op": "decode_frame", "hex": frame.hex(), "header": name}
                for (name, _), frame in zip(fields, frames, strict=True)
            )
            for (name, texts), answer in zip(fields, oracle.ask_all(asked), strict=True):
                our = ours(_read, classes[name], texts)
                yield Trial(
                    kind="read",
                    data=repr(texts).encode(),
                    java=self._header(answer),
                    ours=our,
                    about=name,
                )

    def _values(self, chance: Chance, name: str, cls: type[Any]) -> tuple[str, dict[str, Outcome]]:
        values: dict[str, Outcome] = {}
        for one in fields_of(cls).values():
            java = one.form.java
            if java[0].isupper() and chance.one_in(4) and not one.clock:
                values[one.wire] = None
            elif java in BITS:
                values[one.wire] = chance.whole(BITS[java])
            elif java in ("boolean", "Boolean"):
                values[one.wire] = chance.one_in(2)
            elif java == "BoundaryType":
                values[one.wire] = chance.choice(("LOWER", "UPPER"))
            else:
                values[one.wire] = chance.text()
        return name, values

    def _texts(self, chance: Chance, name: str, cls: type[Any]) -> tuple[str, dict[str, str]]:
        texts: dict[str, str] = {}
        for one in fields_of(cls).values():
            if chance.below(4):
                is_number = one.form.java in BITS and chance.below(3)
                texts[one.wire] = (
                    str(chance.whole(BITS[one.form.java])) if is_number else chance.text()
                )
            if one.check is not None and chance.below(4):
                texts[one.wire] = chance.choice(("0", "4", "8", "12", "SINGLE_TAG", "MULTI_TAG"))
        return name, texts

    def _writing(
        self,
        name: str,
        cls: type[Any],
        values: dict[str, Outcome],
        form: SerializeType,
        answer: Answer,
    ) -> Trial:
        """Same fields; in a binary header without the empty ones, and those of the fast headers in the same order."""
        binary = form is SerializeType.ROCKETMQ
        ordered = binary and bool(fast_codec_of(cls))

        def write() -> Outcome:
            names = {one.wire: field for field, one in fields_of(cls).items()}
            made = cls(
                **{names[wire]: _type(value, names[wire], cls) for wire, value in values.items()}
            )
            written = encode_header(made, serialize_type=form)
            return _fields(
                {key: text for key, text in written.items() if text or not binary}, ordered
            )

        def java() -> Outcome:
            if not answer["ok"]:
                return javas(answer, "")
            return _fields(decode(bytes.fromhex(answer["hex"])).ext_fields or {}, ordered)

        data = repr(values).encode()
        return Trial(
            kind=f"write {form.name}", data=data, java=ours(java), ours=ours(write), about=name
        )

    def _header(self, answer: Answer) -> Outcome:
        command = javas(answer, "command")
        if isinstance(command, Refusal):
            return command
        header: dict[str, Any] = command["header"]
        if "@error" in header:
            return Refusal(header["@error"]["error"], header["@error"]["message"])
        return header


def _type(value: Outcome, field: str, cls: type[Any]) -> Outcome:
    return (
        BoundaryType[value]
        if value and fields_of(cls)[field].form.java == "BoundaryType"
        else value
    )


def _fields(fields: Mapping[str, str], ordered: bool) -> list[list[str]] | dict[str, str]:
    return [list(pair) for pair in fields.items()] if ordered else dict(fields)
