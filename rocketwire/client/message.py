"""``Message``: a message to send, and its properties on the wire.

Properties are encoded in the order in which Java sets them. An application cannot set the
properties of the client or the broker (``message_const.RESERVED``).

Java: ``Message``, ``MessageAccessor``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from rocketwire.errors import IllegalMessageError
from rocketwire.messages import message_const as const
from rocketwire.policy.validation import check_user_property
from rocketwire.wire.values.drafts import create_draft_class
from rocketwire.wire.values.frozen import dataclass

# Text before and after the unique key, in the properties of a message that has no others
DEFAULT_PROPERTIES: Final = (f"{const.UNIQ_KEY}\x01", f"\x02{const.WAIT}\x01true\x02")


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """A message to send."""

    topic: str  #: the topic
    #: at least one byte; ``bytes``, or a ``bytearray`` or ``memoryview``, which is copied
    body: bytes
    tags: str | None = None  #: tag for filters of consumers; None for none
    keys: Sequence[str] = ()  #: keys for searches of operators; without spaces
    flag: int = 0  #: number of the application, int32
    #: properties of the application
    properties: Mapping[str, str] = field(default_factory=dict[str, str])
    #: let the broker respond only when the message is as safe as configured
    wait_store_msg_ok: bool = True
    #: delay level of the broker, by default 1 to 18; a larger number means the last level, and 0 no
    #: delay. A message has at most one delay.
    delay_level: int = 0
    delay_seconds: int | None = None  #: seconds between arrival and delivery, at most three days
    delay_millis: int | None = None  #: milliseconds between arrival and delivery
    deliver_millis: int | None = None  #: time of delivery, milliseconds since 1970
    sharding_key: str | None = None  #: stored with the message; it does not select the queue
    #: properties that an application cannot set, for replies, retries and transactions
    system: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    def __init__(
        self,
        topic: str,
        body: bytes | bytearray | memoryview,
        tags: str | None = None,
        keys: Sequence[str] = (),
        flag: int = 0,
        properties: Mapping[str, str] | None = None,
        wait_store_msg_ok: bool = True,
        delay_level: int = 0,
        delay_seconds: int | None = None,
        delay_millis: int | None = None,
        deliver_millis: int | None = None,
        sharding_key: str | None = None,
        system: Mapping[str, str] | None = None,
    ) -> None:
        """Check types and set the attributes, at a third of the time of a generated ``__init__``.

        That saves a tenth of the CPU time of a send (``rocketwire.wire.values.drafts``).

        Raises:
            IllegalMessageTypeError: an argument has the wrong type, for example a ``str`` for the
                body.
            IllegalMessageError: there are two delays.
        """
        if (
            topic.__class__ is not str
            or body.__class__ is not bytes
            or (tags is not None and tags.__class__ is not str)
            or (keys is not _NO_KEYS and not _are_texts(keys))
            or flag.__class__ is not int
            or (properties is not None and not _are_pairs_of_texts(properties))
            or wait_store_msg_ok.__class__ is not bool
            or delay_level.__class__ is not int
            or not (
                delay_seconds is delay_millis is deliver_millis is None and sharding_key is None
            )
        ):
            body = _checked(
                topic, body, tags, keys, flag, properties, wait_store_msg_ok, delay_level,
                delay_seconds, delay_millis, deliver_millis, sharding_key,
            )  # fmt: skip
        open_: Any = self
        _set(open_, "__class__", _OPEN)
        open_.topic = topic
        open_.body = body
        open_.tags = tags
        open_.keys = keys
        open_.flag = flag
        open_.properties = {} if properties is None else properties
        open_.wait_store_msg_ok = wait_store_msg_ok
        open_.delay_level = delay_level
        open_.delay_seconds = delay_seconds
        open_.delay_millis = delay_millis
        open_.deliver_millis = deliver_millis
        open_.sharding_key = sharding_key
        open_.system = {} if system is None else system
        open_.__class__ = Message

    @property
    def is_delayed(self) -> bool:
        """Whether the message has a delay."""
        return bool(self.delay_level > 0 or self.timer_properties())

    def timer_properties(self) -> dict[str, str]:
        """Return the properties of an arbitrary delay."""
        properties: dict[str, str] = {}
        for name, value in (
            (const.TIMER_DELAY_SEC, self.delay_seconds),
            (const.TIMER_DELAY_MS, self.delay_millis),
            (const.TIMER_DELIVER_MS, self.deliver_millis),
        ):
            if value is not None:
                properties[name] = str(value)
        return properties

    def wire_properties(self) -> dict[str, str]:
        """Return all properties except the unique key, as a new dict.

        Raises:
            IllegalMessageError: a property of the application is reserved, blank or contains a
                separator; a key contains a space.
        """
        properties = {const.WAIT: "true" if self.wait_store_msg_ok else "false"}
        if self.tags:
            properties[const.TAGS] = _clean(const.TAGS, self.tags)
        if self.keys:
            properties[const.KEYS] = self.joined_keys
        if self.delay_level:
            properties[const.DELAY] = str(self.delay_level)
        if not self.delay_seconds is self.delay_millis is self.deliver_millis is None:
            properties |= self.timer_properties()
        if self.sharding_key:
            properties[const.SHARDING_KEY] = _clean(const.SHARDING_KEY, self.sharding_key)
        for name, value in self.properties.items():
            check_user_property(name, value)
            properties[name] = value
        properties.update(self.system)
        return properties

    def has_default_properties(self) -> bool:
        """Return whether the only properties are the unique key and ``DEFAULT_PROPERTIES``."""
        return not (
            self.tags
            or self.keys
            or self.properties
            or self.system
            or self.delay_level
            or self.sharding_key
            or self.wait_store_msg_ok is not True
            or not self.delay_seconds is self.delay_millis is self.deliver_millis is None
        )

    def encode_simple_properties(self, unique_key: str) -> str | None:
        """Encode all properties if there are only tags, keys and user properties; None otherwise.

        Raises:
            IllegalMessageError: as of ``wire_properties``.
        """
        if (
            self.system
            or self.delay_level
            or self.sharding_key
            or not self.delay_seconds is self.delay_millis is self.deliver_millis is None
        ):
            return None
        wait = "true" if self.wait_store_msg_ok else "false"
        text = f"{const.UNIQ_KEY}\x01{unique_key}\x02{const.WAIT}\x01{wait}\x02"
        if self.tags:
            text += f"{const.TAGS}\x01{_clean(const.TAGS, self.tags)}\x02"
        if self.keys:
            text += f"{const.KEYS}\x01{self.joined_keys}\x02"
        for name, value in self.properties.items():
            check_user_property(name, value)
            text += f"{name}\x01{value}\x02"
        return text

    @property
    def joined_keys(self) -> str:
        """The keys as text.

        Raises:
            IllegalMessageError: a key contains a space or a separator.
        """
        keys = (self.keys,) if isinstance(self.keys, str) else self.keys
        if not isinstance(self.keys, str) and any(const.KEY_SEPARATOR in key for key in keys):
            raise IllegalMessageError("a key must not contain a space, which separates keys")
        return _clean(const.KEYS, const.KEY_SEPARATOR.join(keys))


_set = object.__setattr__
_OPEN: Final = create_draft_class(Message)
_NO_KEYS: Final = ()


def _are_texts(keys: Any) -> bool:
    if keys.__class__ is str:
        return True
    if keys.__class__ is tuple or keys.__class__ is list:
        for key in keys:  # faster than all()
            if key.__class__ is not str:
                break
        else:
            return True
    return False


def _are_pairs_of_texts(properties: Any) -> bool:
    if properties.__class__ is not dict:
        return False
    for name, value in properties.items():
        if name.__class__ is not str or value.__class__ is not str:
            return False
    return True


def _checked(
    topic: object, body: object, tags: object, keys: object, flag: object, properties: object,
    wait: object, level: object, seconds: object, millis: object, time: object,
    sharding_key: object,
) -> bytes:  # fmt: skip
    from rocketwire.client.message_types import check_parts, convert_body

    check_parts(
        topic=topic, tags=tags, keys=keys, flag=flag, properties=properties, wait_store_msg_ok=wait,
        delay_level=level, delay_seconds=seconds, delay_millis=millis, deliver_millis=time,
        sharding_key=sharding_key,
    )  # fmt: skip
    return convert_body(body)


def _clean(name: str, value: str) -> str:
    if "\x01" in value or "\x02" in value:
        raise IllegalMessageError(f"{name} cannot hold \\x01 or \\x02")
    return value
