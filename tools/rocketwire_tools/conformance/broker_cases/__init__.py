"""The cases for brokers, one file per subject, each with a tuple ``CASES``; ``ALL`` joins them.

``cases/__init__.py`` explains how to write a case. In addition:

* Addresses are ``broker/CODE/N``, or ``broker/SUBJECT/N`` where no code fits. Never reuse a number.
* Names: ``{topic}``, ``{group}``, ``{client}``, also with a suffix (``{topicB}``). The run removes
  every topic and group whose name a case has used, with the topics of its retries.
* ``common.py`` has short forms: ``topic()``, ``group()``, ``put(...)`` sends, ``pull(...)`` and
  ``comes(...)`` read. A Java broker shows a message some milliseconds after it has acknowledged
  it: use ``comes`` or ``visible``, which repeat their request.
* ``save={"name": path}`` keeps a value of an arrival for later texts, as ``{=name}`` or
  ``{=name+1}``; ``run/match.py`` has the paths. ``{=now}`` is the time, ``{=cluster}`` and
  ``{=broker}`` are the names of the cluster and the broker.
* ``requires={"enablePropertyFilter": "true"}`` skips a case where the configuration is another one.
* Behaviour that depends on the release is one case for each form, ``since_5_3``, ``only_5_5`` and
  so on.
"""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.broker_cases import (
    administration,
    clients,
    delays,
    lite,
    pops,
    pulls,
    sends,
)
from rocketwire_tools.conformance.model.case import number_cases

ALL: Final = number_cases(
    (
        *(*sends.CASES, *pulls.CASES, *delays.CASES, *pops.CASES, *lite.CASES),
        *(*clients.CASES, *administration.CASES, *lite.FIGURES, *administration.PROTOCOL),
    )
)
