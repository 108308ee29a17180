"""Masks names within texts: extension fields, remarks and bodies.

Everything is masked except what is known to be harmless: names that the codec gives to fields and
members, constants of enumerations, numbers where a number belongs, and plain words of error
messages. A topic with such a name stays readable.
"""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from rocketwire.codes import LanguageCode, RequestCode, ResponseCode
from rocketwire.messages import enums, message_const
from rocketwire.messages._codec.fields import ext_fields_of, members_of
from rocketwire.messages.operations.registry import CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping


_HOST: Final = re.compile(
    r"\d{1,3}(?:\.\d{1,3}){3}|\[?[0-9A-Fa-f]*:[0-9A-Fa-f:]*:[0-9A-Fa-f.:]*\]?"
)
_END: Final = re.compile(r"(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?")
_WORD: Final = re.compile(r"[^\s,;\[\](){}<>\"'=!?]+")
_NUMBER: Final = re.compile(r"[-+]?\d{1,6}(?:ms|s)?[.:]?")
_INTEGRAL: Final = frozenset({"int", "long", "Integer", "Long"})
_BOOLEAN: Final = frozenset({"boolean", "Boolean"})
_SHORT: Final = {"a": "group", "b": "topic", "c": "topic"}
"""One-letter names in the headers of send requests that hold a topic or a group."""
_UNDECLARED_TEXT: Final = """
    key value storeSize queueOffset commitLogOffset bodyCRC bornTimestamp storeTimestamp bornHost
    storeHost msgId offsetMsgId reconsumeTimes preparedTransactionOffset properties body flag
    sysFlag queueId topic magic crc AccessKey Signature SecurityToken IS_SUPPORT_HEART_BEAT_V2
    IS_SUB_CHANGE
"""
_UNDECLARED: Final = frozenset(_UNDECLARED_TEXT.split())
"""Names on the wire, or in the JSON form of a message, that are not fields of a class."""
_PLAIN_TEXT: Final = """
    a above address after again all already an and any are at be because before below body broker
    brokers busy but by can cannot check client closed cluster code command config connection
    consume consumer consumers control could current data date delete deny denied disk do does down
    empty error exception exist exists expression expired fail failed false filter first flow for
    format found from full further get group groups has have header id illegal in info internal
    invalid is isn it its key lag last latest leader length less limit list lock long lower master
    max maybe message messages min more must name namespace new no not null of offline offset on one
    only operation or other out over page parse perm permission please pool producer property pull
    put queue queues reached read reject rejected remote request requests response result retry
    route runtime same see send server service shutdown size slave slow start starts state status
    store stored string subscription success such support supported system table than that the then
    there this thread time timeout to too topic topics transaction true type unknown update use user
    valid value version wait was while will with without write wrong you your timeout_clean_queue
    pcbusy_clean_queue pull_threshold os sql period s tag fatal details t
"""
_REMARK_WORDS: Final = frozenset(_PLAIN_TEXT.split())
"""Harmless words of remarks; any other word may be a name."""


@cache
def _known_names() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Names of fields and members, those of numeric and Boolean ones among them, and constants."""
    names: set[str] = {*_UNDECLARED, *message_const.RESERVED}
    numeric: set[str] = set()
    textual: set[str] = set()
    for cls in CLASSES.values():
        for field in dataclasses.fields(cls):
            is_header = "ext" in field.metadata
            declared: Any = (ext_fields_of if is_header else members_of)(cls)[field.name]
            names.add(declared.wire)
            harmless = declared.form.java in _INTEGRAL | _BOOLEAN
            (numeric if harmless else textual).add(declared.wire)
    constants = {str(constant) for enum in vars(enums).values() for constant in _members(enum)}
    for code in (LanguageCode, RequestCode, ResponseCode):
        constants |= set(code.__members__)
    return (
        frozenset(names),
        frozenset(numeric - textual),
        frozenset(constants | {"*", "TAG", "SQL92", "true", "false", ""}),
    )


def _members(enum: Any) -> tuple[Any, ...]:
    return tuple(getattr(enum, "__members__", {}).values())


def content_of(name: str) -> str | None:
    """The content of a field or member with this name: ``topic``, ``group``, ``host``, or None
    if unknown."""
    low = name.lower()
    if low.endswith(("topic", "topics", "topicname", "topicconfigtable", "topiclist")):
        return "topic"
    if low.endswith(("group", "groups", "groupname", "grouplist")):
        return "group"
    return "host" if low.endswith(("addr", "addrs", "host", "address", "addrlist")) else None


class NameMasks(Protocol):
    """Masks of single names; implemented by ``redaction.Redaction``."""

    def name(self, prefix: str, text: str, /) -> str:
        """The mask of a name."""
        ...

    def host(self, text: str, /) -> str:
        """The mask of an address."""
        ...


class Masks:
    """Masks texts.

    Args:
        redaction: masks single names.
    """

    def __init__(self, redaction: NameMasks) -> None:
        self._redaction = redaction

    def remark(self, text: str) -> str:
        """Mask a remark; plain words and small numbers stay."""
        return _WORD.sub(lambda match: self._word(match.group()), text)

    def _word(self, word: str) -> str:
        if (
            word.lower().strip(".:-_") in _REMARK_WORDS
            or not word.strip(".:-_/*|&")
            or _NUMBER.fullmatch(word)
        ):
            return word
        return self.text(word, None)

    def text(self, text: str, content: str | None) -> str:
        """Mask any text; addresses keep their ports.

        Args:
            text: the text.
            content: see ``content_of``; becomes the prefix of the mask.
        """
        if text in _known_names()[2]:
            return text
        if (match := _END.fullmatch(text)) is not None:
            host, port = match.groups()
            return self._redaction.host(host.strip("[]")) + (port or "")
        if _HOST.fullmatch(text):
            return self._redaction.host(text)
        if content == "host":
            return ";".join(self._host(address) for address in text.split(";"))
        return self._redaction.name(content or "text", text)

    def _host(self, text: str) -> str:
        if _END.fullmatch(text):
            return self.text(text, None)
        name, colon, port = text.partition(":")
        return self._redaction.name("host", name) + colon + (port if port.isdigit() else "")

    def ext_fields(self, text: str) -> str:
        """Mask extension fields, given as JSON text."""
        fields: Mapping[str, str | None] = msgspec.json.decode(text)
        masked = {
            self._key(name): None if value is None else self._field(name, value)
            for name, value in fields.items()
        }
        return msgspec.json.encode(masked).decode()

    def _field(self, name: str, value: str) -> str:
        digits = value.lstrip("-")
        is_number = name in _known_names()[1] or (len(digits) <= 6 and name not in ("key", "value"))
        if (is_number and digits.isdigit()) or value in ("true", "false"):
            return value
        return self.text(value, _SHORT.get(name) or content_of(name))

    def _key(self, name: str, content: str | None = None) -> str:
        if name in _known_names()[0] or (name.isdigit() and len(name) <= 6):
            return name
        return self.text(name, content)

    def body(self, text: str) -> str:
        """Mask a decoded body, given as JSON text."""
        return msgspec.json.encode(self.value(msgspec.json.decode(text), None)).decode()

    def value(self, value: Any, content: str | None) -> Any:
        """Mask a JSON value; ``content`` is the content of its texts, see ``content_of``."""
        container: Any = value
        if isinstance(value, str):
            return self.text(value, content)
        if isinstance(value, list):
            return [self.value(item, content) for item in container]
        if isinstance(value, dict):
            return {
                self._key(name, content): self.value(
                    item, content_of(name) or (None if name in _known_names()[0] else content)
                )
                for name, item in container.items()
            }
        return value
