"""The classes of each request code, and all classes by their Java names.

Rules of this file: the tables list every operation that a Java program handles or sends.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final

from rocketwire import messages
from rocketwire.messages._codec.fields import java_name
from rocketwire.messages.operations.admin import OPERATIONS as _ADMIN
from rocketwire.messages.operations.client import OPERATIONS as _CLIENT
from rocketwire.messages.operations.model import ArrayOf, Body, Operation, Raw

__all__ = ["CLASSES", "OPERATIONS", "ArrayOf", "Body", "Operation", "Raw"]

# All operations by request code
OPERATIONS: Final[Mapping[int, Operation]] = {
    operation.code: operation for operation in sorted((*_CLIENT, *_ADMIN))
}


def _classes() -> dict[str, type[Any]]:
    classes = {
        java_name(cls): cls
        for module in iter_modules(messages.__path__, f"{messages.__name__}.")
        for cls in vars(import_module(module.name)).values()
        if isinstance(cls, type) and cls.__module__ == module.name and dataclasses.is_dataclass(cls)
    }
    return dict(sorted(classes.items()))


# All classes by their short Java names, such as ``TopicRouteData``, ``AclInfo.PolicyInfo``
CLASSES: Final[Mapping[str, type[Any]]] = _classes()
