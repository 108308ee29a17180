"""Masks within texts: extension fields, remarks and bodies.

Rules of this file: whatever is not known to be harmless is masked.  Harmless are the names that the codec gives to fields and
members, constants of its enumerations, numbers where a number belongs, and plain words of error messages; a topic that is
called like one of these is not hidden.
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
"""Names of one letter in the headers of sends, as far as they have a kind."""
_UNDECLARED_TEXT: Final = """
    key value storeSize queueOffset commitLogOffset bodyCRC bornTimestamp storeTimestamp bornHost storeHost msgId
    offsetMsgId reconsumeTimes preparedTransactionOffset properties body flag sysFlag queueId topic magic crc
    AccessKey Signature SecurityToken IS_SUPPORT_HEART_BEAT_V2 IS_SUB_CHANGE
"""
_UNDECLARED: Final = frozenset(_UNDECLARED_TEXT.split())
"""Names that are on the wire, or in the plain form of a message, without being a field of a class."""
_PLAIN_TEXT: Final = """
    a above address after again all already an and any are at be because before below body broker brokers busy but by
    can cannot check client closed cluster code command config connection consume consumer consumers control could
    current data date delete deny denied disk do does down empty error exception exist exists expression expired fail
    failed false filter first flow for format found from full further get group groups has have header id illegal in
    info internal invalid is isn it its key lag last latest leader length less limit list lock long lower master max
    maybe message messages min more must name namespace new no not null of offline offset on one only operation or
    other out over page parse perm permission please pool producer property pull put queue queues reached read reject
    rejected remote request requests response result retry route runtime same see send server service shutdown size
    slave slow start starts state status store stored string subscription success such support supported system table
    than that the then there this thread time timeout to too topic topics transaction true type unknown update use user
    valid value version wait was while will with without write wrong you your timeout_clean_queue pcbusy_clean_queue
    pull_threshold os sql period s tag fatal details t
"""
_PLAIN: Final = frozenset(_PLAIN_TEXT.split())
"""Words that remarks are made of; whatever else is in one may be a name."""


@cache
def _known() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Names of fields and members, those of numbers and truth values among them, and constants."""
    names: set[str] = {*_UNDECLARED, *message_const.RESERVED}
    plain: set[str] = set()
    mixed: set[str] = set()
    for cls in CLASSES.values():
        for field in dataclasses.fields(cls):
            is_header = "ext" in field.metadata
            declared: Any = (ext_fields_of if is_header else members_of)(cls)[field.name]
            names.add(declared.wire)
            harmless = declared.form.java in _INTEGRAL | _BOOLEAN
            (plain if harmless else mixed).add(declared.wire)
    constants = {str(one) for kind in vars(enums).values() for one in _members(kind)}
    for code in (LanguageCode, RequestCode, ResponseCode):
        constants |= set(code.__members__)
    return (
        frozenset(names),
        frozenset(plain - mixed),
        frozenset(constants | {"*", "TAG", "SQL92", "true", "false", ""}),
    )


def _members(kind: Any) -> tuple[Any, ...]:
    return tuple(getattr(kind, "__members__", {}).values())


def kind_of(name: str) -> str | None:
    """What a field or member of that name holds: ``topic``, ``group``, ``host``, or None for whatever it is."""
    low = name.lower()
    if low.endswith(("topic", "topics", "topicname", "topicconfigtable", "topiclist")):
        return "topic"
    if low.endswith(("group", "groups", "groupname", "grouplist")):
        return "group"
    return "host" if low.endswith(("addr", "addrs", "host", "address", "addrlist")) else None


class NameMasks(Protocol):
    """Masks of single names; ``redaction.Redaction`` has them."""

    def name(self, kind: str, text: str, /) -> str:
        """The mask of a name."""
        ...

    def host(self, text: str, /) -> str:
        """The mask of an address."""
        ...


class Masks:
    """Masks texts.

    Args:
        redaction: gives the masks of single names.
    """

    def __init__(self, redaction: NameMasks) -> None:
        self._redaction = redaction

    def remark(self, text: str) -> str:
        """A remark: plain words and small numbers stay."""
        return _WORD.sub(lambda found: self._word(found.group()), text)

    def _word(self, word: str) -> str:
        if (
            word.lower().strip(".:-_") in _PLAIN
            or not word.strip(".:-_/*|&")
            or _NUMBER.fullmatch(word)
        ):
            return word
        return self.text(word, None)

    def text(self, text: str, kind: str | None) -> str:
        """A text that may be anything; addresses keep their ports.

        Args:
            text: the text.
            kind: what it is, see ``kind_of``; shown in front of its mask.
        """
        if text in _known()[2]:
            return text
        if (found := _END.fullmatch(text)) is not None:
            host, port = found.groups()
            return self._redaction.host(host.strip("[]")) + (port or "")
        if _HOST.fullmatch(text):
            return self._redaction.host(text)
        if kind == "host":
            return ";".join(self._host(one) for one in text.split(";"))
        return self._redaction.name(kind or "text", text)

    def _host(self, text: str) -> str:
        if _END.fullmatch(text):
            return self.text(text, None)
        name, colon, port = text.partition(":")
        return self._redaction.name("host", name) + colon + (port if port.isdigit() else "")

    def ext_fields(self, text: str) -> str:
        """Extension fields as JSON text."""
        fields: Mapping[str, str | None] = msgspec.json.decode(text)
        masked = {
            self._key(name): None if value is None else self._field(name, value)
            for name, value in fields.items()
        }
        return msgspec.json.encode(masked).decode()

    def _field(self, name: str, value: str) -> str:
        digits = value.lstrip("-")
        known = name in _known()[1] or (len(digits) <= 6 and name not in ("key", "value"))
        if (known and digits.isdigit()) or value in ("true", "false"):
            return value
        return self.text(value, _SHORT.get(name) or kind_of(name))

    def _key(self, name: str, kind: str | None = None) -> str:
        if name in _known()[0] or (name.isdigit() and len(name) <= 6):
            return name
        return self.text(name, kind)

    def body(self, text: str) -> str:
        """A decoded body as JSON text."""
        return msgspec.json.encode(self.value(msgspec.json.decode(text), None)).decode()

    def value(self, value: Any, kind: str | None) -> Any:
        """A value of JSON; kind: what texts in it are, see ``kind_of``."""
        whole: Any = value
        if isinstance(value, str):
            return self.text(value, kind)
        if isinstance(value, list):
            return [self.value(item, kind) for item in whole]
        if isinstance(value, dict):
            return {
                self._key(name, kind): self.value(
                    item, kind_of(name) or (None if name in _known()[0] else kind)
                )
                for name, item in whole.items()
            }
        return value
