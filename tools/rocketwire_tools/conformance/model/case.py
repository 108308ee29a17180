"""``Case``: one requirement with an address, as data, and the possible results of its run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocketwire_tools.conformance.model.steps import Step


class Severity(Enum):
    """The weight of a requirement."""

    # Brokers, clients or tools fail without it.
    MUST = "MUST"
    # Java does it, and users may rely on it; counts as a failure with ``--strict``.
    SHOULD = "SHOULD"
    # Information; never a failure.
    NOTE = "NOTE"


class Profile(Enum):
    """The generation of Java's servers that cases are compared with."""

    JAVA_4_9 = "java-4.9"
    JAVA_5_3 = "java-5.3"
    JAVA_5_5 = "java-5.5"
    JAVA_NEXT = "java-next"


ALL_PROFILES: Final = frozenset(Profile)
SINCE_5_3: Final = frozenset({Profile.JAVA_5_3, Profile.JAVA_5_5, Profile.JAVA_NEXT})
ONLY_5_5: Final = frozenset({Profile.JAVA_5_5, Profile.JAVA_NEXT})
ONLY_4_9: Final = frozenset({Profile.JAVA_4_9})
UNRELEASED: Final = frozenset({Profile.JAVA_NEXT})


class VerdictKind(Enum):
    """The result of one case."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    SKIP = "skip"
    # The case could not be run: the target is unreachable, or the case itself is broken.
    ERROR = "error"


_SEVERITIES: Final = {"MUST": Severity.MUST, "SHOULD": Severity.SHOULD, "MAY": Severity.NOTE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One requirement and the steps that verify it."""

    id: str  # its address, ``subject/number`` or ``ns/code/number``; never reused for another case
    requirement: str  # one sentence with MUST, SHOULD or MAY; a pass proves it
    # its source: Java's class and method with the release (``KVConfigManager.getKVConfig @
    # 5.5.0``), or the id of a recorded fixture
    evidence: str
    # actions and expectations, in order; the first unacceptable outcome ends the case
    steps: tuple[Step, ...]
    profiles: frozenset[Profile] = ALL_PROFILES  # generations of Java's server that meet it
    number: int = 0  # its position among all cases, from which its names are derived
    items: tuple[int, ...] = ()  # numbers in the checklist of name-server behaviour
    # for selection. ``slow``: takes over two seconds. ``destructive``: changes data that is not its
    # own, or the server's configuration; on a running server it needs ``--destructive``. The runner
    # adds ``needs-start`` and ``needs-option=NAME`` if the next fields require a started server.
    tags: frozenset[str] = frozenset()
    # properties of the server; cases with equal properties share a server
    options: Mapping[str, str] | None = None
    jvm: tuple[str, ...] = ()  # system properties of the server (``-Dname=value``)
    kv: str | None = None  # content of the KV file at the start; None for no file
    # names of files in ``certificates/`` to copy to the server's folder
    files: tuple[str, ...] = ()
    fresh: bool = False  # whether the server must not be used by another case
    # properties that the configuration of a running broker must have
    requires: Mapping[str, str] = field(default_factory=dict[str, str])
    # whether another broker is registered before the steps and read after them (``bystander.py``)
    bystander: bool = False
    # whether a running server needs neither ``options`` nor ``fresh`` with ``--destructive``: they
    # only keep the case apart from others
    live: bool = False
    # how often a failed case is tried, where a periodic task of Java's can disturb it
    attempts: int = 1
    # steps that always run at the end. Data that ``Request`` steps registered or stored is removed
    # without them.
    cleanup: tuple[Step, ...] = ()

    @property
    def severity(self) -> Severity:
        """The weight of the requirement: the first MUST, SHOULD or MAY in it."""
        words = re.findall(r"\b(?:MUST|SHOULD|MAY)\b", self.requirement)
        return _SEVERITIES[words[0]]

    @property
    def needs_start(self) -> bool:
        apart = not self.live and (self.options or self.fresh)
        return bool(apart or self.jvm or self.files or self.kv is not None)

    @property
    def all_tags(self) -> frozenset[str]:
        if not self.needs_start:
            return self.tags
        return self.tags | {"needs-start"} | {f"needs-option={name}" for name in self.options or ()}


def case(
    address: str,
    items: int | tuple[int, ...],
    evidence: str,
    requirement: str,
    *steps: Step,
    **settings: Any,
) -> Case:
    return Case(
        id=address,
        items=(items,) if isinstance(items, int) else items,
        evidence=evidence,
        requirement=requirement,
        steps=steps,
        **settings,
    )


# Write a case that Java's servers meet since 5.3.
since_5_3 = partial(case, profiles=SINCE_5_3)
# Write a case that Java's servers meet since 5.5.
only_5_5 = partial(case, profiles=ONLY_5_5)


def number_cases(cases: Iterable[Case]) -> tuple[Case, ...]:
    return tuple(replace(case, number=index) for index, case in enumerate(cases))


def under(case_id: str, prefix: str) -> bool:
    """Whether ``prefix`` contains an address: ``ns/103`` contains ``ns/103/4``, not ``ns/1030``."""
    return case_id == prefix or case_id.startswith(prefix.rstrip("/") + "/")
