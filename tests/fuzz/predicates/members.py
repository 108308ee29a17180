"""Members of bodies that Java treats in their own way."""

import dataclasses
import re
from enum import Enum

from rocketwire.messages import enums
from rocketwire.messages._codec.fields import members_of
from rocketwire.messages.operations.registry import CLASSES

ENUM_TYPES = {"LanguageCode"} | frozenset(
    name for name, cls in vars(enums).items() if isinstance(cls, type) and issubclass(cls, Enum)
)


ENUM_MEMBERS = frozenset(
    member.wire
    for cls in CLASSES.values()
    if any("member" in field.metadata for field in dataclasses.fields(cls))
    for member in members_of(cls).values()
    if ENUM_TYPES & set(re.findall(r"[\w.]+", member.form.java))
)
"""Names of the members that hold constants of an enum, or collections of them."""


DERIVED_MEMBERS = frozenset(
    member.wire
    for cls in CLASSES.values()
    if any("member" in field.metadata for field in dataclasses.fields(cls))
    for member in members_of(cls).values()
    if member.write_only
)
"""Names of the members that Java computes when it writes."""
