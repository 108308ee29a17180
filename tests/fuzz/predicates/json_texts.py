"""Explained differences of the JSON texts of headers and bodies."""

import json
import re
from typing import Any, cast

from tests.fuzz.predicates.difference import only_java, only_ours, text_of
from tests.fuzz.predicates.members import ENUM_MEMBERS
from tests.fuzz.trials import ABSENT, Difference, Refusal, Trial


def strict(text: bytes, *, integer_keys: bool) -> object:
    # Parse a text strictly, with quoted integer keys if they may be unquoted; objects become lists of pairs.

    def refuse(word: str) -> object:
        raise ValueError(word)

    text = text.rstrip(b" \t\r\n")
    quoted = re.sub(rb"([{,])(-?[0-9]+)(?=:)", rb'\1"\2"', text) if integer_keys else text
    try:
        return json.loads(quoted, parse_constant=refuse, object_pairs_hook=Pairs)
    except RecursionError as error:
        raise ValueError("too deep") from error


class Pairs(list[tuple[str, Any]]):
    """The members of an object, repeated ones too."""


def repeats(value: object) -> bool:
    if isinstance(value, Pairs):
        names = [name for name, _ in value]
        return len(set(names)) < len(names) or any(repeats(item) for _, item in value)
    return isinstance(value, list) and any(repeats(item) for item in cast("list[object]", value))


def damaged(trial: Trial) -> bool:
    return trial.kind in ("read damaged", "read odd", "read of another shape")


def not_json(trial: Trial) -> bool:
    try:
        strict(text_of(trial), integer_keys=trial.about != "frame")
    except ValueError:
        return damaged(trial)
    return False


def not_utf8(trial: Trial, difference: Difference) -> bool:
    try:
        text_of(trial).decode("utf-8")
    except UnicodeDecodeError:
        return isinstance(difference.ours, Refusal)
    return False


def alone_in_array(trial: Trial, difference: Difference) -> bool:
    if not isinstance(difference.java, int) or not isinstance(difference.ours, int):
        return False
    cut = (difference.ours + (1 << 31)) % (1 << 32) - (1 << 31)
    return damaged(trial) and difference.java == cut and b"[%d]" % difference.ours in text_of(trial)


def beyond_suffix(trial: Trial, difference: Difference) -> bool:
    if not damaged(trial) or not (
        isinstance(difference.ours, int | float | str) or only_ours(difference)
    ):
        return False
    number = rb"[0-9.]{39}|[0-9]{3}[BS]|(?:[0-9.]{8}|[0-9][eE][+-]?[0-9]{2,3})F"
    return re.search(number, text_of(trial)) is not None


def date_as_number(trial: Trial, difference: Difference) -> bool:
    refused = only_java(difference, f"expected an integer from {-1 << 63}") or only_java(
        difference, "expected an array, got a string"
    )
    date = rb'"(?=[^"]{11,39}")[^"]*[0-9]{2}[-:/ ][^"]*"'
    return damaged(trial) and refused and re.search(date, text_of(trial)) is not None


def unread_member(trial: Trial, difference: Difference) -> bool:
    return (
        only_ours(difference)
        and re.search(rb'"(?:body|suspended)"\s*:', text_of(trial)) is not None
    )


def keys_in_text(_: Trial, difference: Difference) -> bool:
    if not isinstance(difference.java, str) or not isinstance(difference.ours, str):
        return False
    return re.search(r"[{,]-?[0-9]+:", difference.java) is not None and difference.java.replace(
        '"', ""
    ) == difference.ours.replace('"', "")


def repeated_member(trial: Trial, difference: Difference) -> bool:
    if not (
        only_ours(difference)
        or only_java(difference)
        or (trial.about == "frame" and b'"$ref"' in text_of(trial))
    ):
        return False
    try:
        return repeats(strict(text_of(trial), integer_keys=True))
    except ValueError:  # comments, odd numbers: the member that matters is known
        return trial.about == "frame" and text_of(trial).count(b'"extFields"') > 1


def misread_name(trial: Trial, difference: Difference) -> bool:
    name = rb'"(?:[^"\\]|\\.)*[\xf0-\xf4](?:[^"\\]|\\.)*"\s*:'
    is_there = re.search(name, text_of(trial)) is not None
    return only_ours(difference, "malformed input around byte") and is_there


def nul_between(trial: Trial, difference: Difference) -> bool:
    if not damaged(trial) or not only_java(difference):
        return False
    outside = re.sub(rb'"(?:[^"\\]|\\.)*"', b"", text_of(trial))
    return b"\0" in outside.rstrip(b"\0 \t\r\n\f\b")


NULS = rb"(?:\0|\\u0000)*"
"""Any number of NULs, as they are or escaped."""


def _names_of(place: str) -> list[str]:
    # The name of a member; of an object in key position the names of its members.
    try:
        return list(json.loads(place)) if place.startswith("{") else [place]
    except ValueError:  # a text that only begins like an object
        return [place]


def _members_at(tree: Any, path: tuple[str | int, ...]) -> dict[str, Any]:
    try:
        for step in path:
            tree = tree[step]
    except (LookupError, TypeError):
        return {}
    return cast("dict[str, Any]", tree) if isinstance(tree, dict) else {}


def name_read_before(trial: Trial, difference: Difference) -> bool:
    if not difference.path or isinstance(trial.java, Refusal):
        return False
    name, javas = str(difference.path[-1]), _members_at(trial.java, difference.path[:-1])
    if difference.ours is ABSENT:
        pattern = re.escape(name.replace("\0", "").encode("utf-8", "replace"))
        return "\0" in name and re.search(b'"%b"\\s*:' % pattern, text_of(trial)) is not None
    return difference.java is ABSENT and any(
        "\0" in member and member.replace("\0", "") == name for member in javas
    )


def nul_in_name(trial: Trial, difference: Difference) -> bool:
    if not damaged(trial) or not difference.path or isinstance(difference.ours, Refusal):
        return False
    if isinstance(difference.ours, str) and difference.path[-1] in ENUM_MEMBERS | {"language"}:
        return difference.ours.replace("\0", "") != difference.ours and isinstance(
            difference.java, str
        )
    for place in (name for step in difference.path for name in _names_of(str(step))):
        letters = (re.escape(letter.encode("utf-8", "replace")) for letter in place)
        name = re.compile(b'"(%b%b%b)"\\s*:' % (NULS, NULS.join(letters), NULS))
        if any(b"\0" in match or rb"\u0000" in match for match in name.findall(text_of(trial))):
            return True
    return False


def lost_reference(trial: Trial, difference: Difference) -> bool:
    if difference.java in (None, ABSENT):  # the text begins with a point, and the member stays
        kept = json.dumps(difference.ours, default=str)
        return re.fullmatch(r'\{"\$ref": "\.[^"]*"\}', kept) is not None
    return only_ours(difference, "eference") and b'"$ref"' in text_of(trial)


def no_number(trial: Trial, difference: Difference) -> bool:
    return (
        only_java(difference, "not an integer")
        and re.search(rb'"(?:code|flag|opaque|version)"\s*:\s*"', text_of(trial)) is not None
    )
