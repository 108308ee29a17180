"""Enumerations that are encoded by constant name; a field keeps an unknown name as text."""

from __future__ import annotations

from enum import StrEnum


class BoundaryType(StrEnum):
    """Which end of a run of equal store times an offset search returns (Java: ``BoundaryType``)."""

    LOWER = "LOWER"
    UPPER = "UPPER"


class CMResult(StrEnum):
    """Result of consuming a message directly (Java: ``CMResult``)."""

    CR_SUCCESS = "CR_SUCCESS"
    CR_LATER = "CR_LATER"
    CR_ROLLBACK = "CR_ROLLBACK"
    CR_COMMIT = "CR_COMMIT"
    CR_THROW_EXCEPTION = "CR_THROW_EXCEPTION"
    CR_RETURN_NULL = "CR_RETURN_NULL"


class ConsumeFromWhere(StrEnum):
    """Where a group without offsets starts (Java: ``ConsumeFromWhere``)."""

    CONSUME_FROM_LAST_OFFSET = "CONSUME_FROM_LAST_OFFSET"
    CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST = (
        "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST"
    )
    CONSUME_FROM_MIN_OFFSET = "CONSUME_FROM_MIN_OFFSET"
    CONSUME_FROM_MAX_OFFSET = "CONSUME_FROM_MAX_OFFSET"
    CONSUME_FROM_FIRST_OFFSET = "CONSUME_FROM_FIRST_OFFSET"
    CONSUME_FROM_TIMESTAMP = "CONSUME_FROM_TIMESTAMP"


class ConsumeType(StrEnum):
    """How a consumer gets its messages (Java: ``ConsumeType``)."""

    CONSUME_ACTIVELY = "CONSUME_ACTIVELY"
    CONSUME_PASSIVELY = "CONSUME_PASSIVELY"
    CONSUME_POP = "CONSUME_POP"


class GroupRetryPolicyType(StrEnum):
    """The retry policy that a group uses (Java: ``GroupRetryPolicyType``)."""

    EXPONENTIAL = "EXPONENTIAL"
    CUSTOMIZED = "CUSTOMIZED"


class LiteSubscriptionAction(StrEnum):
    """Kinds of changes of a lite subscription (Java: ``LiteSubscriptionAction``, since 5.5.0)."""

    PARTIAL_ADD = "PARTIAL_ADD"
    PARTIAL_REMOVE = "PARTIAL_REMOVE"
    COMPLETE_ADD = "COMPLETE_ADD"
    COMPLETE_REMOVE = "COMPLETE_REMOVE"


class MessageModel(StrEnum):
    """Whether the members of a group share its messages (Java: ``MessageModel``)."""

    BROADCASTING = "BROADCASTING"
    CLUSTERING = "CLUSTERING"
    LITE_SELECTIVE = "LITE_SELECTIVE"


class MessageRequestMode(StrEnum):
    """How a queue's messages are requested (Java: ``MessageRequestMode``)."""

    PULL = "PULL"
    POP = "POP"


class OffsetOptionType(StrEnum):
    """Meaning of the value of an ``OffsetOption`` (Java: ``OffsetOption.Type``, since 5.5.0)."""

    POLICY = "POLICY"
    OFFSET = "OFFSET"
    TAIL_N = "TAIL_N"
    TIMESTAMP = "TIMESTAMP"


class TopicFilterType(StrEnum):
    """How many tags a message of the topic may have (Java: ``TopicFilterType``)."""

    SINGLE_TAG = "SINGLE_TAG"
    MULTI_TAG = "MULTI_TAG"
