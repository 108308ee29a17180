"""Trials of a differential run, their outcomes on both sides, and the differences."""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, cast

from rocketwire.errors import RocketWireError
from tests.fuzz.chance import Chance
from tests.peers.oracle import Answer, Oracle

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Reading or writing failed: the class of the error, and its text."""

    error: str
    message: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Broken:
    error: str


Outcome: TypeAlias = Any
"""A tree of JSON-like values, a ``Refusal`` or a ``Broken``."""


def items_of(tree: Any) -> list[Any]:
    return list(tree)


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    kind: str  #: what was done, for the totals: ``read what Java wrote``
    data: bytes
    java: Outcome  #: what Java made of it
    ours: Outcome  #: what we made of it
    #: anything a rule wants to know: the class of a body, the frame's serialisation
    about: str = ""
    #: asks another release the same; None where that makes no sense
    retry: Callable[[Oracle], Outcome] | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the outcomes differ; ``ABSENT`` stands for nothing at that place."""

    path: Path
    java: Outcome
    ours: Outcome


class Unordered(list[Any]):
    """Items of a set, in any order."""


class Format(Protocol):
    name: str

    def trials(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]: ...


def ours(work: Callable[..., Outcome], *arguments: object) -> Outcome:
    # Our outcome: the value, the error that the library promises, or what must not happen.
    try:
        return work(*arguments)
    except RocketWireError as error:
        return Refusal(type(error).__name__, str(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, the run goes on and reports it
        return Broken(f"{type(error).__name__}: {error}"[:300])


def javas(answer: Answer, member: str) -> Outcome:
    if answer["ok"]:
        return answer[member]
    return Refusal(str(answer["error"]), str(answer["message"]))


def _same(java: Outcome, our: Outcome) -> bool:
    if isinstance(java, float) and isinstance(our, float):
        return java == our or (math.isnan(java) and math.isnan(our))
    return bool(java == our) and isinstance(java, bool) == isinstance(our, bool)


def _spelling(tree: Outcome) -> str:
    if isinstance(tree, dict):
        members = cast("dict[str, Any]", tree)
        return json.dumps({name: _spelling(members[name]) for name in sorted(members)})
    if isinstance(tree, list):
        return json.dumps(sorted(map(_spelling, items_of(tree))))
    return json.dumps(tree)


def _pair(first: list[Any], second: list[Any]) -> tuple[list[Any], list[Any]]:
    # Order two sets of one size so that equal items have the same place, and the others the most similar one.
    waiting = {index: _spelling(item) for index, item in enumerate(second)}
    pairs: list[tuple[Any, Any]] = []
    single: list[Any] = []
    for item in first:
        spelling = _spelling(item)
        index = next((place for place, spelling_ in waiting.items() if spelling_ == spelling), None)
        if index is None:
            single.append(item)
        else:
            del waiting[index]
            pairs.append((item, second[index]))
    for item in single:
        nearest = min(waiting, key=lambda place: len(list(differences(item, second[place]))))
        del waiting[nearest]
        pairs.append((item, second[nearest]))
    return [item_ for item_, _ in pairs], [spelling_ for _, spelling_ in pairs]


def differences(java: Outcome, our: Outcome, path: Path = ()) -> Iterator[Difference]:
    if isinstance(java, dict) and isinstance(our, dict):
        first, second = cast("dict[str, Any]", java), cast("dict[str, Any]", our)
        for key in first.keys() | second.keys():
            yield from differences(first.get(key, ABSENT), second.get(key, ABSENT), (*path, key))
    elif isinstance(java, list) and isinstance(our, list):
        first_items, second_items = items_of(java), items_of(our)
        if len(first_items) != len(second_items):
            yield Difference(path, first_items, second_items)
            return
        if isinstance(java, Unordered):
            first_items, second_items = _pair(first_items, second_items)
        for index, (java_item, our_item) in enumerate(zip(first_items, second_items, strict=True)):
            yield from differences(java_item, our_item, (*path, index))
    elif isinstance(java, Refusal) and isinstance(our, Refusal):
        return
    elif not _same(java, our):
        yield Difference(path, java, our)
