"""The cases, one file per subject, each with a tuple ``CASES``; ``ALL`` joins them in the order of their addresses.

How to write one
----------------
A case is ``Case(id=..., requirement=..., evidence=..., steps=(...))``; look at ``kv.py``, ``transport.py`` and ``register.py``.

* Addresses: ``transport/N``, ``ns/CODE/N``, ``ns/route/N``, ``ns/config/N``, ``process/N``, ``tls/N``.  Never reuse a number.
* Steps (``steps.py``): ``Ask`` (send, await the answer of that number), ``Send`` + ``Expect`` (literal bytes and frames),
  ``Until`` (poll), ``Open``, ``Close``, ``Wait``, ``Restart``, ``Call`` (an async function of the play).  ``requests.py`` has
  short forms: ``ask(105, {"topic": "{topic}"}, found(...))``, ``register(...)``, ``until(...)``.
* Outcomes (``outcomes.py``): ``Answer``, ``Closed``, ``Silence``, ``Incoming`` (905), ``RawBytes``; several are allowed.
  An ``Answer`` wants no remark and no body unless told otherwise; ext fields are free unless told.
* Names: ``{cluster}``, ``{broker}``, ``{topic}``, ``{namespace}``, ``{key}``, ``{zone}``, ``{address}``, ``{ha}``, and any of
  them with a suffix (``{topicB}``), stand for names that are new in each run.  Other cases run at the same time on the
  same server, and a live server has other people's topics: look for your own names (``Has``, ``Contains``), unless ``fresh``.
* Malformed input is literal: ``Frame(header=b"[1]")`` or bytes, never made by an encoder.
* A broker stays only while its connection does: register each on a connection of its own (``on="a"``).
* What ``Request`` steps registered (103), stored (100, 217) or so is removed afterwards by itself; more goes into ``cleanup``.
* ``options``, ``jvm``, ``kv``, ``fresh`` start a server for the case (with ``--start``); cases with equal options share one.
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
"""Every case there is."""
