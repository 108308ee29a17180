"""The classes of typed headers, and a header as the oracle shows it."""

import dataclasses
from enum import Enum
from typing import Any

from rocketwire.messages._codec.fields import ext_fields_of
from rocketwire.messages._codec.headers import Ext
from rocketwire.messages.operations.registry import CLASSES
from tests.fuzz.trials import Outcome

ABSTRACT = ("RpcRequestHeader", "TopicRequestHeader", "TopicQueueRequestHeader")
BITS = {"int": 32, "Integer": 32, "long": 64, "Long": 64}


def header_classes() -> dict[str, type[Any]]:
    return {
        name: cls
        for name, cls in CLASSES.items()
        if not any("member" in field.metadata for field in dataclasses.fields(cls))
    }


def fields_of(cls: type[Any]) -> dict[str, Ext]:
    # The fields of a header class that 5.5.0, which answers, has.
    return {name: field for name, field in ext_fields_of(cls).items() if field.since != "5.5.1"}


def show(header: object) -> dict[str, Outcome]:
    values: dict[str, Outcome] = {}
    for name, field in fields_of(type(header)).items():
        value = getattr(header, name)
        values[field.wire] = value.name if isinstance(value, Enum) else value
    return values
