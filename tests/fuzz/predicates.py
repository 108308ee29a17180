"""When an explanation of ``tests.fuzz.explained`` holds: one predicate for each, as narrow as it can be.

Rules of this file: a predicate looks at one difference of one trial, says nothing of others, and needs a sign of its own reason
in the bytes or in what Java said.
"""

from __future__ import annotations

import dataclasses
import json
import re
import time
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from rocketwire.errors import DecodeError
from rocketwire.messages import enums
from rocketwire.messages._fields import members_of
from rocketwire.messages.registry import CLASSES
from rocketwire.wire.stored import decode_stored_messages
from tests.fuzz.registrations import split, topics_of
from tests.fuzz.streams import cut
from tests.fuzz.trials import ABSENT, Broken, Difference, Refusal, differences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fuzz.trials import Trial


def texts_of(trial: Trial) -> list[bytes]:
    """The JSON texts of a trial: a frame's header, a body, or the pieces of a packed registration."""
    if trial.about == "frame":
        return [trial.data[8 : 8 + int.from_bytes(trial.data[5:8], "big")]]
    if trial.about.startswith("packed") and len(trial.data) > 4:
        items = split(trial.data)
        topics = topics_of(items)
        others = [piece for _, piece in (items[0], *items[1 + len(topics) :]) if piece is not None]
        return [*others, *(topic.split(b" ", 5)[-1] for topic in topics)]
    return [trial.data]


def text_of(trial: Trial) -> bytes:
    return texts_of(trial)[0]


def only_ours(found: Difference, message: str = "") -> bool:
    """Java refuses, saying ``message``; we do not."""
    if not isinstance(found.java, Refusal) or isinstance(found.ours, Refusal):
        return False
    return message in f"{found.java.error}: {found.java.message}"


def only_java(found: Difference, message: str = "") -> bool:
    """We refuse, saying ``message``; Java does not."""
    if not isinstance(found.ours, Refusal) or isinstance(found.java, Refusal):
        return False
    return message in found.ours.message


# ---------------------------------------------------------------------------- streams


def inside_stream(trial: Trial, found: Difference) -> tuple[str, Trial, Difference] | None:
    """The same difference as one of a frame's header, if it is inside one."""
    if trial.about == "frame":
        return ("json-header", "binary-header")[trial.data[4]], trial, found
    if found.path[:1] != ("commands",) or len(found.path) < 3:
        return None
    frame = cut(trial.data)[0][int(found.path[1])]
    alone = dataclasses.replace(trial, data=frame, about="frame")
    return inside_stream(alone, dataclasses.replace(found, path=found.path[2:]))


def behind_bad(trial: Trial, found: Difference) -> bool:
    if found.path != ("behind",):
        return False
    return found.ours == [] and cast("dict[str, Any]", trial.ours)["open"] is False


def bad_so_far(trial: Trial, found: Difference) -> bool:
    if found != Difference(("open",), java=True, ours=False):
        return False
    rest = cut(trial.data)[1]
    return len(rest) < 4 + int.from_bytes(rest[:4], "big", signed=True)


# ---------------------------------------------------------------------------- headers


def unlisted_language(_: Trial, found: Difference) -> bool:
    if found.path == ("language",):
        letters = re.sub(r"[^A-Z_]", "", str(found.ours).upper())
        return found.ours is not None and (
            found.java is None or found.java == letters != found.ours
        )
    if not any(
        only_ours(found, what)
        for what in ("setLanguage", "NumberFormatException", "malformed input")
    ):
        return False
    language = cast("dict[str, Any]", found.ours).get("language")
    return isinstance(language, str) and re.fullmatch("[A-Za-z_]*", language) is None


def null_entry(_: Trial, found: Difference) -> bool:
    if found.path == ("ext",):
        java = cast("dict[str, Any]", found.java)
        return found.ours is None and all(
            key == "@null" or value is None for key, value in java.items()
        )
    if len(found.path) != 2 or found.path[0] != "ext" or found.ours is not ABSENT:
        return False
    return found.path[1] == "@null" or found.java is None


def too_wide(trial: Trial, found: Difference) -> bool:
    return trial.kind == "write" and only_java(found, "does not fit a signed field of 16 bits")


def invented_opaque(trial: Trial, found: Difference) -> bool:
    invented = (found.path, found.ours) in ((("opaque",), 0), (("ext", "opaque"), "0"))
    return (
        invented
        and int(found.java) > 0
        and re.search(rb'(?<!\\)"opaque"\s*:', text_of(trial)) is None
    )


def clamped(trial: Trial, found: Difference) -> bool:
    if not only_java(found, "integer") or re.search(rb"[0-9][.eE]", text_of(trial)) is None:
        return False
    java = cast("dict[str, Any]", found.java)
    return any(
        java[name] in (0x7FFFFFFF, -0x80000000, 0, -1)
        for name in ("code", "flag", "opaque", "version")
    )


def comma_after(trial: Trial, found: Difference) -> bool:
    return only_java(found, "text after the end") and text_of(trial).rstrip(
        b" \t\r\n\f\b\0"
    ).endswith(b",")


def unread_type(trial: Trial, found: Difference) -> bool:
    if only_ours(found, "erializeType"):
        return True
    if found.path == ("ext", "serializeTypeCurrentRPC"):
        return b'"$ref"' in text_of(trial)
    odd = re.search(rb'"serializeTypeCurrentRPC"\s*:\s*(?:"[^"]*"|[0-9]{10,})', text_of(trial))
    refusals = ("NumberFormatException", "malformed input", "illegal number")
    return odd is not None and any(only_ours(found, what) for what in refusals)


# ---------------------------------------------------------------------------- JSON


def strict(text: bytes, *, integer_keys: bool) -> object:
    """What a strict parser makes of a text, integer keys in quotes if they may lack them; objects as lists of pairs.

    Raises:
        ValueError: the text is no JSON.
    """

    def refuse(word: str) -> object:
        raise ValueError(word)

    text = text.rstrip(b"\0 \t\r\n")
    quoted = re.sub(rb"([{,])(-?[0-9]+)(?=:)", rb'\1"\2"', text) if integer_keys else text
    try:
        return json.loads(quoted, parse_constant=refuse, object_pairs_hook=Pairs)
    except RecursionError as error:
        raise ValueError("too deep") from error


class Pairs(list[tuple[str, Any]]):
    """The members of an object, repeated ones too."""


def repeats(value: object) -> bool:
    """Whether an object has a member twice, anywhere."""
    if isinstance(value, Pairs):
        names = [name for name, _ in value]
        return len(set(names)) < len(names) or any(repeats(item) for _, item in value)
    return isinstance(value, list) and any(repeats(item) for item in cast("list[object]", value))


def damaged(trial: Trial) -> bool:
    return trial.kind in ("read damaged", "read odd")


def not_json(trial: Trial) -> bool:
    for text in texts_of(trial):
        try:
            strict(text, integer_keys=trial.about != "frame")
        except ValueError:
            return damaged(trial)
    return False


def not_utf8(trial: Trial, found: Difference) -> bool:
    try:
        for text in texts_of(trial):
            text.decode("utf-8")
    except UnicodeDecodeError:
        return isinstance(found.ours, Refusal) or found.path == ("filterServerList",)
    return False


def comment(trial: Trial, found: Difference) -> bool:
    outside = (re.sub(rb'"(?:[^"\\]|\\.)*"', b"", text) for text in texts_of(trial))
    return only_ours(found) and any(b"/*" in text or b"//" in text for text in outside)


def _key_of_one_side(found: Difference) -> bool:
    """Whether a number or an object in key position is there for one side, and another one for the other."""
    one_side = found.java is ABSENT or found.ours is ABSENT
    return one_side and re.match(r"\{|-?[0-9]+$", str(found.path[-1])) is not None


def alone_in_array(trial: Trial, found: Difference) -> bool:
    if not isinstance(found.java, int) or not isinstance(found.ours, int):
        return False
    cut = (found.ours + (1 << 31)) % (1 << 32) - (1 << 31)
    texts = b" ".join(texts_of(trial))
    return damaged(trial) and found.java == cut and b"[%d]" % found.ours in texts


def number_cut_short(trial: Trial, found: Difference) -> bool:
    numbers = isinstance(found.java, int) and isinstance(found.ours, int)
    if not damaged(trial) or not (numbers or _key_of_one_side(found)):
        return False
    return any(
        re.search(rb"[0-9](?:[.]|[.]?[0-9]*[eE][+-]?)(?![0-9])", text) is not None
        for text in texts_of(trial)
    )


def beyond_suffix(trial: Trial, found: Difference) -> bool:
    if not damaged(trial) or not (isinstance(found.ours, int | float | str) or only_ours(found)):
        return False
    number = rb"[0-9.]{39}|[0-9]{3}[BS]|(?:[0-9.]{8}|[0-9][eE][+-]?[0-9]{2,3})F"
    return any(re.search(number, text) is not None for text in texts_of(trial))


def date_as_number(trial: Trial, found: Difference) -> bool:
    refused = only_java(found, f"no integer from {-1 << 63}") or only_java(
        found, "no array: a string"
    )
    date = rb'"(?=[^"]{11,39}")[^"]*[0-9]{2}[-:/ ][^"]*"'
    return damaged(trial) and refused and any(re.search(date, text) for text in texts_of(trial))


def starts_with_point(trial: Trial, found: Difference) -> bool:
    if not damaged(trial) or not isinstance(found.java, float) or not isinstance(found.ours, float):
        return False
    return any(re.search(rb"[:,\[]\s*-?[.][0-9]", text) is not None for text in texts_of(trial))


def unread_member(trial: Trial, found: Difference) -> bool:
    return only_ours(found) and re.search(rb'"(?:body|suspended)"\s*:', text_of(trial)) is not None


def keys_in_text(_: Trial, found: Difference) -> bool:
    if not isinstance(found.java, str) or not isinstance(found.ours, str):
        return False
    return re.search(r"[{,]-?[0-9]+:", found.java) is not None and found.java.replace(
        '"', ""
    ) == found.ours.replace('"', "")


def repeated_member(trial: Trial, found: Difference) -> bool:
    if not (
        only_ours(found)
        or only_java(found)
        or (trial.about == "frame" and b'"$ref"' in text_of(trial))
    ):
        return False
    for text in texts_of(trial):
        try:
            if repeats(strict(text, integer_keys=True)):
                return True
        except ValueError:  # comments, odd numbers: the member that matters is known
            if trial.about == "frame" and text.count(b'"extFields"') > 1:
                return True
    return False


def misread_name(trial: Trial, found: Difference) -> bool:
    name = rb'"(?:[^"\\]|\\.)*[\xf0-\xf4](?:[^"\\]|\\.)*"\s*:'
    return only_ours(found, "malformed input around byte") and any(
        re.search(name, text) for text in texts_of(trial)
    )


def nul_between(trial: Trial, found: Difference) -> bool:
    if not damaged(trial) or not only_java(found):
        return False
    outside = (re.sub(rb'"(?:[^"\\]|\\.)*"', b"", text) for text in texts_of(trial))
    return any(b"\0" in text.rstrip(b"\0 \t\r\n\f\b") for text in outside)


NULS = rb"(?:\0|\\u0000)*"
"""Any number of NULs, as they are or escaped."""


def _names_of(place: str) -> list[str]:
    """The name of a member; of an object in key position the names of its members."""
    try:
        return list(json.loads(place)) if place.startswith("{") else [place]
    except ValueError:  # a text that only begins like an object
        return [place]


def _members_at(tree: Any, path: tuple[str | int, ...]) -> dict[str, Any]:
    """The object at a place, none if something else is there."""
    try:
        for step in path:
            tree = tree[step]
    except (LookupError, TypeError):
        return {}
    return cast("dict[str, Any]", tree) if isinstance(tree, dict) else {}


def name_read_before(trial: Trial, found: Difference) -> bool:
    if not found.path or isinstance(trial.java, Refusal):
        return False
    name, javas = str(found.path[-1]), _members_at(trial.java, found.path[:-1])
    if found.ours is ABSENT:
        bare = re.escape(name.replace("\0", "").encode("utf-8", "replace"))
        return "\0" in name and re.search(b'"%b"\\s*:' % bare, text_of(trial)) is not None
    return found.java is ABSENT and any(
        "\0" in one and one.replace("\0", "") == name for one in javas
    )


def nul_in_name(trial: Trial, found: Difference) -> bool:
    if not damaged(trial) or not found.path or isinstance(found.ours, Refusal):
        return False
    if isinstance(found.ours, str) and found.path[-1] in ENUM_MEMBERS | {"language"}:
        return found.ours.replace("\0", "") != found.ours and isinstance(found.java, str)
    for place in (name for one in found.path for name in _names_of(str(one))):
        letters = (re.escape(one.encode("utf-8", "replace")) for one in place)
        name = re.compile(b'"(%b%b%b)"\\s*:' % (NULS, NULS.join(letters), NULS))
        found_names = [one for text in texts_of(trial) for one in name.findall(text)]
        if any(b"\0" in one or rb"\u0000" in one for one in found_names):
            return True
    return False


def lost_reference(trial: Trial, found: Difference) -> bool:
    if found.java in (None, ABSENT):  # the text begins with a point, and the member stays
        kept = json.dumps(found.ours, default=str)
        return re.fullmatch(r'\{"\$ref": "\.[^"]*"\}', kept) is not None
    return only_ours(found, "eference") and any(b'"$ref"' in text for text in texts_of(trial))


def no_number(trial: Trial, found: Difference) -> bool:
    return (
        only_java(found, "not an integer")
        and re.search(rb'"(?:code|flag|opaque|version)"\s*:\s*"', text_of(trial)) is not None
    )


# ---------------------------------------------------------------------------- bodies

ENUM_TYPES = {"LanguageCode"} | frozenset(
    name for name, cls in vars(enums).items() if isinstance(cls, type) and issubclass(cls, Enum)
)
ENUM_MEMBERS = frozenset(
    one.wire
    for cls in CLASSES.values()
    if any("member" in field.metadata for field in dataclasses.fields(cls))
    for one in members_of(cls).values()
    if ENUM_TYPES & set(re.findall(r"[\w.]+", one.form.java))
)
"""Names of the members that hold constants of an enum, or collections of them."""


def unlisted_constant(_: Trial, found: Difference) -> bool:
    names = [name for name in found.path if isinstance(name, str)]
    return (
        found.java in (None, ABSENT)
        and isinstance(found.ours, str)
        and bool(names)
        and names[-1] in ENUM_MEMBERS
    )


def clock(_: Trial, found: Difference) -> bool:
    if found.ours not in (ABSENT, None) or not isinstance(found.java, int):
        return False
    return abs(found.java / 1000 - time.time()) < 24 * 3600


DERIVED_MEMBERS = frozenset(
    one.wire
    for cls in CLASSES.values()
    if any("member" in field.metadata for field in dataclasses.fields(cls))
    for one in members_of(cls).values()
    if one.write_only
)
"""Names of the members that Java computes when it writes."""


def derived(_: Trial, found: Difference) -> bool:
    if only_java(found, "no integer"):
        return any(f".{name}:" in found.ours.message for name in DERIVED_MEMBERS)
    if found.path and found.path[-1] == "alive":
        return found.java is False and found.ours is ABSENT
    return bool(found.path) and found.path[-1] in DERIVED_MEMBERS


def incomplete(trial: Trial, found: Difference) -> bool:
    if not only_ours(found, "NullPointerException"):
        return False
    return trial.about.split(".")[0] in (
        "EpochEntry",
        "EpochEntryCache",
        "SyncStateSet",
        "BrokerReplicasInfo",
        "QueryAssignmentResponseBody",
    )


def incomplete_epoch(_: Trial, found: Difference) -> bool:
    return found.path[-1:] == ("endOffset",) and (found.java, found.ours) == (0, (1 << 63) - 1)


def null_in_key(trial: Trial, found: Difference) -> bool:
    if trial.about != "ConsumerRunningInfo" or not only_ours(found, "read field"):
        return False
    keys = re.findall(rb"[{,](\{[^{}]*\}):", trial.data)
    return any(
        any(name not in key for name in (b"brokerName", b"queueId", b"topic")) for key in keys
    )


def in_order(subscriptions: object) -> list[dict[str, Any]]:
    """Subscriptions as Java's sorted set has them: by topic and expression, of equal ones the first."""
    kept: dict[bytes, dict[str, Any]] = {}
    for one in cast("list[dict[str, Any]]", subscriptions):
        name = f"{one.get('topic', 'null')}@{one.get('subString', 'null')}"
        kept.setdefault(name.encode("utf-16-be", "surrogatepass"), one)
    return [kept[name] for name in sorted(kept)]


def unsorted_set(trial: Trial, found: Difference) -> bool:
    if trial.about != "ConsumerRunningInfo" or found.path[:1] != ("subscriptionSet",):
        return False
    java, our = (side["subscriptionSet"] for side in (trial.java, trial.ours))
    if in_order(our) == our:
        return False
    return all(clock(trial, one) for one in differences(java, in_order(our)))


def bad_attributes(trial: Trial, found: Difference) -> bool:
    if not trial.about.startswith("packed"):
        return False
    if found.path == ("filterServerList",) and any(t.endswith(b"\0") for t in texts_of(trial)):
        return damaged(trial)  # padding that Java takes after an object only
    return not_json(trial) and ("attributes" in found.path or found.path == ("filterServerList",))


def cut_stream(trial: Trial, found: Difference) -> bool:
    return trial.about.startswith("packed") and (
        only_java(found, "zlib") or only_java(found, "after the")
    )


def no_body(trial: Trial, found: Difference) -> bool:
    return (
        trial.data == b""
        and not isinstance(found.ours, Refusal)
        and (found.java is None or only_ours(found, "EOF"))
    )


def long_double(trial: Trial, found: Difference) -> bool:
    if (
        trial.kind != "write again"
        or not isinstance(found.java, str)
        or not isinstance(found.ours, str)
    ):
        return False
    number = re.compile(rb"-?[0-9]+\.[0-9]+(?:E-?[0-9]+)?")
    java, our = bytes.fromhex(found.java), bytes.fromhex(found.ours)
    same_numbers = [float(text) for text in number.findall(java)] == [
        float(text) for text in number.findall(our)
    ]
    return same_numbers and number.sub(b"", java) == number.sub(b"", our)


def null_element(trial: Trial, found: Difference) -> bool:
    return only_java(found, "null has no place here") and any(
        re.search(rb'null|""|",|,,', text) is not None for text in texts_of(trial)
    )


# ---------------------------------------------------------------------------- messages


def size_lies(data: bytes) -> bool:
    """Whether a batch, read as Java reads it without looking at the sizes, has one that is wrong."""
    at = 0
    while at + 22 <= len(data):
        body = int.from_bytes(data[at + 16 : at + 20], "big")
        start = at + 20 + body
        properties = int.from_bytes(data[start : start + 2], "big", signed=True)
        end = start + 2 + max(properties, 0)
        if end - at != int.from_bytes(data[at : at + 4], "big", signed=True):
            return True
        at = end
    return at != len(data)


def stored_ends(data: bytes) -> Iterator[tuple[int, int]]:
    """Of each stored message, read as Java reads it without looking at the sizes, the size it declares and the one it has."""
    at = 0
    while at + 40 <= len(data):
        flags = int.from_bytes(data[at + 36 : at + 40], "big")
        body = at + 84 + 12 * ((flags >> 4 & 1) + (flags >> 5 & 1))
        size = int.from_bytes(data[body : body + 4], "big", signed=True)
        topic = body + 4 + max(size, 0)
        width = 2 if data[at + 4 : at + 8] == b"\xda\xa3\x20\xab" else 1
        properties = topic + width + int.from_bytes(data[topic : topic + width], "big", signed=True)
        end = (
            properties
            + 2
            + max(int.from_bytes(data[properties : properties + 2], "big", signed=True), 0)
        )
        yield int.from_bytes(data[at : at + 4], "big", signed=True), end - at
        if end <= at:
            return
        at = end


def lying_message(trial: Trial, found: Difference) -> bool:
    lies = any(declared != real for declared, real in stored_ends(trial.data))
    if trial.kind == "write" or not lies or isinstance(found.ours, Refusal):
        return False
    return isinstance(found.java, Refusal) or (not found.path and len(found.ours) < len(found.java))


def negative_length(trial: Trial, found: Difference) -> bool:
    if trial.kind == "write" or found.path or isinstance(found.ours, Refusal | Broken):
        return False
    try:
        decode_stored_messages(trial.data, decompress=False)
    except DecodeError as error:
        shorter = isinstance(found.java, Refusal) or len(found.ours) < len(found.java)
        return shorter and error.message.startswith("a length of -")
    return False


def lying_inner_batch(trial: Trial, found: Difference) -> bool:
    if not trial.kind.startswith("unwrap") or not only_java(found):
        return False
    bodies = (message.body for message in decode_stored_messages(trial.data, strict=False))
    return any(body is not None and size_lies(body) for body in bodies)


def second_layout(trial: Trial, found: Difference) -> bool:
    raised = only_ours(found, "BufferOverflow") or only_ours(found, "IllegalArgument")
    return trial.kind == "write" and raised and str(found.ours)[8:16] == "daa320ab"


def inner_id(trial: Trial, found: Difference) -> bool:
    return (
        trial.kind.startswith("unwrap")
        and found.java is None
        and found.path[1:] in (("msgId",), ("offsetMsgId",))
    )


def lying_batch(trial: Trial, found: Difference) -> bool:
    return only_java(found) and size_lies(trial.data)


# ---------------------------------------------------------------------------- ids


def no_id(trial: Trial, found: Difference) -> bool:
    hexadecimal = re.fullmatch(rb"(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{56})", trial.data)
    return trial.kind == "read" and isinstance(found.ours, Refusal) and hexadecimal is None


# ---------------------------------------------------------------------------- combinations


def null_field(_: Trial, found: Difference) -> bool:
    return found.path[:1] == ("ext",) and found.java is None and found.ours is ABSENT


def never_ends(trial: Trial, found: Difference) -> bool:
    return not_json(trial) and only_ours(found, "NeverEnds")


def malformed_for_us(trial: Trial, found: Difference) -> bool:
    return not_json(trial) and only_java(found)


def malformed_for_java(trial: Trial, found: Difference) -> bool:
    return not_json(trial) and only_ours(found)


def skipped_keys(trial: Trial, found: Difference) -> bool:
    refused = only_ours(found, "not support unquoted name") or (
        only_ours(found)
        and re.match(r"illegal fieldName input ?(?:4[5-9]|5[0-7])\b", found.java.message)
        is not None
    )
    return damaged(trial) and refused


def large_exponent(trial: Trial, found: Difference) -> bool:
    return damaged(trial) and only_ours(found, "too large exp value")


def batch_size(trial: Trial, found: Difference) -> bool:
    if trial.kind.startswith("unwrap"):
        return lying_inner_batch(trial, found)
    return lying_batch(trial, found)


def no_memory(_: Trial, found: Difference) -> bool:
    return only_ours(found, "OutOfMemoryError")


def no_content(trial: Trial, found: Difference) -> bool:
    return trial.kind == "content to verify" and found.java is None and found.ours == ""
