"""``Case``: one requirement with an address, as data, and what a run of it can come to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire_tools.conformance.model.steps import Step


class Severity(Enum):
    """How much depends on a requirement."""

    MUST = "MUST"
    """Brokers, clients or tools misbehave without it."""
    SHOULD = "SHOULD"
    """Java does it and somebody may rely on it; counts as a failure with ``--strict``."""
    NOTE = "NOTE"
    """Worth knowing; never a failure."""


class Profile(Enum):
    """Which generation of Java's name server is the measure."""

    JAVA_4_9 = "java-4.9"
    JAVA_5_3 = "java-5.3"
    JAVA_5_5 = "java-5.5"
    JAVA_5_5_1 = "java-5.5.1"


ALL_PROFILES: Final = frozenset(Profile)
SINCE_5_3: Final = frozenset({Profile.JAVA_5_3, Profile.JAVA_5_5, Profile.JAVA_5_5_1})
ONLY_5_5: Final = frozenset({Profile.JAVA_5_5, Profile.JAVA_5_5_1})
SINCE_5_5_1: Final = frozenset({Profile.JAVA_5_5_1})


class VerdictKind(Enum):
    """What came of one case."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    SKIP = "skip"
    ERROR = "error"
    """The case could not be carried out: the target was not there, or the case itself is broken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One requirement and how to see whether it is met.

    Attributes:
        id: its address, ``subject/number`` or ``ns/code/number``; never given to another case later.
        requirement: one sentence with MUST, SHOULD or MAY, of which a pass is the proof.
        evidence: where it is known from: Java's class and method with the release (``KVConfigManager.getKVConfig @ 5.5.0``), or
            the id of a recorded fixture.
        steps: what is done and awaited, in order; the first outcome that is not acceptable ends the case.
        severity: how much depends on it.
        profiles: the generations of Java's server that do it.
        items: numbers of the name-server checklist that it shows; ``docs/conformance.md`` lists them.
        tags: for selection.  ``slow``: takes more than two seconds.  ``destructive``: touches what is not its own, or the
            server's configuration; left out without ``--destructive`` unless the suite has started the server.  The runner adds
            ``needs-start`` and ``needs-option=NAME`` where the next four say so.
        options: properties with which the server has to be started; cases with equal ones share a server.
        jvm: system properties (``-Dname=value``) with which it has to be started.
        kv: content of the KV file before the start; None for no file.
        files: names of files of ``certificates/`` that have to be in the server's folder.
        fresh: whether it wants a server that nobody has used before.
        cleanup: steps that always run at the end, whatever happened.  What ``Request`` steps registered or stored is removed
            without being mentioned here.
    """

    id: str
    requirement: str
    evidence: str
    steps: tuple[Step, ...]
    severity: Severity = Severity.MUST
    profiles: frozenset[Profile] = ALL_PROFILES
    items: tuple[int, ...] = ()
    tags: frozenset[str] = frozenset()
    options: Mapping[str, str] | None = None
    jvm: tuple[str, ...] = ()
    kv: str | None = None
    files: tuple[str, ...] = ()
    fresh: bool = False
    cleanup: tuple[Step, ...] = ()

    @property
    def needs_start(self) -> bool:
        """Whether only a server that the suite starts itself can be asked."""
        return bool(self.options or self.jvm or self.files or self.kv is not None or self.fresh)

    @property
    def all_tags(self) -> frozenset[str]:
        """The tags, with those that follow from its demands."""
        added = {f"needs-option={name}" for name in self.options or ()}
        if self.needs_start:
            added.add("needs-start")
        return self.tags | added
