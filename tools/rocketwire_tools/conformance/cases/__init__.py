"""The cases, one file per subject, each with a tuple ``CASES``; ``ALL`` joins them.

How to write a case
-------------------
Call ``case(address, requirement, *steps, evidence=..., items=...)``; ``kv.py`` has examples.

* Addresses: ``transport/N``, ``ns/CODE/N``, ``process/N``, ``tls/N``. Never reuse a number.
* Requirement: one sentence for authors of other servers, with MUST, SHOULD or MAY, which sets the
  severity.
* Steps (``model/steps.py``): ``Ask`` (send, await the response with that opaque), ``Send`` +
  ``Expect`` (literal bytes and frames), ``Until`` (poll), ``Open``, ``Close``, ``Wait``,
  ``Restart``, ``Call`` (an async function). ``model/requests.py`` has short forms:
  ``ask(105, {"topic": "{topic}"}, found(...))``, ``register(...)``, ``until(...)``.
* Outcomes (``model/outcomes.py``): ``Answer``, ``Closed``, ``Silence``, ``Incoming`` (905),
  ``RawBytes``; several are allowed. By default an ``Answer`` has no remark and no body, and any ext
  fields.
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

from typing import TYPE_CHECKING

from rocketwire_tools.conformance.cases import (
    acting_master,
    binary_headers,
    checksums,
    config,
    config_updates,
    connection_loss,
    dialects,
    flags,
    headers,
    kv,
    kv_values,
    lists,
    liveness,
    mappings,
    master_change,
    members,
    names_and_sizes,
    notifications,
    old_brokers,
    order,
    overload,
    packed_bodies,
    permissions,
    preamble,
    process,
    registration,
    registration_bodies,
    registration_headers,
    routes,
    tls,
    topics,
    transport,
    unregistration,
    versions,
    zones,
)

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.case import Case

MODULES = (
    transport,
    headers,
    binary_headers,
    flags,
    kv,
    kv_values,
    registration,
    master_change,
    registration_headers,
    registration_bodies,
    checksums,
    packed_bodies,
    old_brokers,
    names_and_sizes,
    acting_master,
    notifications,
    mappings,
    unregistration,
    connection_loss,
    versions,
    liveness,
    routes,
    dialects,
    order,
    zones,
    lists,
    topics,
    members,
    permissions,
    config,
    config_updates,
    preamble,
    tls,
    overload,
    process,
)

ALL: tuple[Case, ...] = tuple(case for module in MODULES for case in module.CASES)
"""All cases."""
