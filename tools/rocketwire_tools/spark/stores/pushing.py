"""Filters of Spark as options.

Rules of this file: filters are recognised by their names and fields, not by PySpark's classes;
unknown ones are left to Spark, which checks every row again anyway.  A filter never shows what the
options hide.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.store.engine.topic_kinds import USERS_KINDS, kind_of_topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rocketwire_tools.spark.stores.options import Range, Settings


def narrow(settings: Settings, filters: Iterable[Any]) -> Settings:
    """Return the options with which a read leaves out rows that filters leave out."""
    for spark_filter in filters:
        path: tuple[str, ...] = getattr(spark_filter, "attribute", ())
        name = type(spark_filter).__name__
        value = getattr(spark_filter, "value", None)
        if len(path) == 1 and path[0] in _NARROWING and value is not None:
            settings = _NARROWING[path[0]](settings, name, value)
    return settings


def _by_topic(settings: Settings, name: str, value: Any) -> Settings:
    topics = _texts(name, value)
    if topics is None:
        return settings
    if settings.topics:
        topics = tuple(topic for topic in topics if topic in settings.topics)
    elif not settings.system:
        topics = tuple(topic for topic in topics if kind_of_topic(topic) in USERS_KINDS)
    return replace(settings, topics=topics, is_empty=settings.is_empty or not topics)


def _by_tag(settings: Settings, name: str, value: Any) -> Settings:
    tags = _texts(name, value)
    if tags is None:
        return settings
    if settings.tags:
        tags = tuple(tag for tag in tags if tag in settings.tags)
    return replace(settings, tags=tags, is_empty=settings.is_empty or not tags)


def _by_key(settings: Settings, name: str, value: Any) -> Settings:
    if name != "EqualTo" or not isinstance(value, str) or settings.key is not None:
        return settings
    return replace(settings, key=value)


def _by_queue(settings: Settings, name: str, value: Any) -> Settings:
    if name != "EqualTo" or not isinstance(value, int):
        return settings
    is_other = settings.queue_id not in (None, value)
    return replace(settings, queue_id=value, is_empty=settings.is_empty or is_other)


def _by_queue_offset(settings: Settings, name: str, value: Any) -> Settings:
    return replace(settings, offsets=_bound(settings.offsets, name, value))


def _by_physical_offset(settings: Settings, name: str, value: Any) -> Settings:
    return replace(settings, physical=_bound(settings.physical, name, value))


def _by_store_time(settings: Settings, name: str, value: Any) -> Settings:
    if not isinstance(value, datetime):
        return settings
    time = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    milliseconds = int(time.timestamp() * 1000)
    # a store timestamp is a whole millisecond, and a filter may have a part of one
    first, last = settings.begin, settings.end
    if name in _LOWER:
        first = milliseconds if first is None else max(first, milliseconds)
    if name in _UPPER:
        last = milliseconds + 1 if last is None else min(last, milliseconds + 1)
    return replace(settings, begin=first, end=last)


_LOWER: Final = {"EqualTo": 0, "GreaterThanOrEqual": 0, "GreaterThan": 1}
_UPPER: Final = {"EqualTo": 0, "LessThanOrEqual": 0, "LessThan": -1}


def _bound(bounds: Range, name: str, value: Any) -> Range:
    """A range, less what a comparison leaves out."""
    first, last = bounds
    if not isinstance(value, int):
        return bounds
    if name in _LOWER:
        lower = value + _LOWER[name]
        first = lower if first is None else max(first, lower)
    if name in _UPPER:
        upper = value + _UPPER[name]
        last = upper if last is None else min(last, upper)
    return first, last


def _texts(name: str, value: Any) -> tuple[str, ...] | None:
    texts = (value,) if name == "EqualTo" else tuple(value) if name == "In" else ()
    texts = tuple(text for text in texts if text is not None)
    return texts if texts and all(isinstance(text, str) for text in texts) else None


_NARROWING: Final[dict[str, Callable[[Settings, str, Any], Settings]]] = {
    "topic": _by_topic,
    "tags": _by_tag,
    "msg_id": _by_key,
    "queue_id": _by_queue,
    "queue_offset": _by_queue_offset,
    "commit_log_offset": _by_physical_offset,
    "store_timestamp": _by_store_time,
}
"""Column → what its filters do."""
