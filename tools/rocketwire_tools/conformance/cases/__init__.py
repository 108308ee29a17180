"""The cases, one file per subject, each with tuples such as ``CASES``; ``ALL`` joins them.

How to write a case
-------------------
Call ``case(address, items, evidence, requirement, *steps)``, or ``since_5_3`` and ``only_5_5`` for
behaviour of newer releases; ``config.py`` has examples.

* Addresses: ``transport/N``, ``ns/CODE/N``, ``process/N``, ``tls/N``. Never reuse a number.
* Requirement: one sentence for authors of other servers, with MUST, SHOULD or MAY, which sets the
  severity.
* Steps (``model/steps.py``): ``Ask`` (send, await the response with that opaque), ``Send`` +
  ``Expect`` (literal bytes and frames), ``Until`` (poll), ``Open``, ``Close``, ``Wait``,
  ``Restart``, ``Call`` (an async function). ``model/requests.py`` has short forms:
  ``ask(105, {"topic": "{topic}"}, has({...}))``, ``send(...)``, ``expect(...)``, ``register(...)``.
* Outcomes (``model/outcomes.py``): ``Response``, ``Closed``, ``Silence``, ``Incoming`` (905);
  several are allowed. By default a ``Response`` has no remark and no body, and any ext fields.
* Names: ``{cluster}``, ``{broker}``, ``{topic}``, ``{namespace}``, ``{key}``, ``{zone}``,
  ``{address}``, ``{ha}``, also with a suffix (``{topicB}``), are new in each run. Other cases run
  at the same time, and a live server has other users' topics: unless the case is ``fresh``, look
  only for its own names (``Has``, ``Contains``).
* Malformed input is literal: ``Frame(header=b"[1]")`` or bytes, never the output of an encoder.
* A broker is removed with its connection: register each on its own connection (``on="a"``).
* The suite removes the data of ``Request`` steps (103, 100, 217). Other data needs ``cleanup``.
* ``options``, ``jvm``, ``kv``, ``fresh`` need a started server (``--start``); cases with equal
  options share one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.cases import (
    brokers,
    config,
    connections,
    frames,
    process,
    registration,
    routes,
    topics,
)
from rocketwire_tools.conformance.model.case import number_cases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocketwire_tools.conformance.model.case import Case

# Cases after which Java's own lists (304) lack brokers, also a bystander.
ALONE: Final = frozenset({"ns/103/140"})


def _with_bystander(cases: Iterable[Case]) -> Iterator[Case]:
    # Cases that change brokers and topics, so that a bystander's must remain
    return (replace(case, bystander=case.id not in ALONE) for case in cases)


# All cases.
ALL: Final = number_cases(
    (
        *(*frames.CASES, *frames.HEADERS, *config.KV),
        *_with_bystander(registration.CASES),
        *frames.SIZES,
        *_with_bystander(brokers.CASES),
        *brokers.NOTIFICATIONS,
        *_with_bystander((*routes.MAPPINGS, *brokers.LEAVING)),
        *(*brokers.LIVENESS, *routes.CASES),
        *_with_bystander(routes.ZONES),
        *topics.LISTS,
        *_with_bystander(topics.CASES),
        *(*config.CASES, *connections.CASES, *process.CASES),
    )
)
