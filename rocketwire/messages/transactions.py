"""Transactional messages: commit, rollback, and the broker's check of a transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rocketwire.messages._codec.fields import (
    BOXED_BOOLEAN,
    BOXED_LONG,
    CLOCKED_LONG,
    INTEGER,
    STRING,
    check_one_of,
    ext,
    mapping,
    member,
    record,
)
from rocketwire.messages.rpc import RpcRequestHeader
from rocketwire.messages.topic_config import DataVersion
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTransactionRequestHeader(RpcRequestHeader):
    """Commits or rolls back a transaction (code 37)."""

    topic: str | None = ext(STRING)
    producer_group: str | None = ext(STRING, required=True)
    tran_state_table_offset: int | None = ext(BOXED_LONG, required=True)
    commit_log_offset: int | None = ext(BOXED_LONG, required=True)
    commit_or_rollback: int | None = ext(INTEGER, required=True, check=check_one_of(0, 8, 12))
    from_transaction_check: bool | None = ext(BOXED_BOOLEAN, default=False)
    msg_id: str | None = ext(STRING, required=True)
    transaction_id: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTransactionResponseHeader:
    """Response without fields; no request code carries it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTransactionStateRequestHeader(RpcRequestHeader):
    """Asks a producer for the state of its transaction (code 39)."""

    topic: str | None = ext(STRING)
    tran_state_table_offset: int | None = ext(BOXED_LONG, required=True)
    commit_log_offset: int | None = ext(BOXED_LONG, required=True)
    msg_id: str | None = ext(STRING)
    transaction_id: str | None = ext(STRING)
    offset_msg_id: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTransactionStateResponseHeader:
    """Response to code 39, which no producer sends: producers send code 37 instead."""

    producer_group: str | None = ext(STRING, required=True)
    tran_state_table_offset: int | None = ext(BOXED_LONG, required=True)
    commit_log_offset: int | None = ext(BOXED_LONG, required=True)
    commit_or_rollback: int | None = ext(INTEGER, required=True, check=check_one_of(8, 12))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeCheckHalfMessageRequestHeader:
    """Tells the broker to check a half message again (code 323)."""

    topic: str | None = ext(STRING)
    msg_id: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionMetric:
    """Number of undecided half messages of a topic.
    Java: ``broker.transaction.TransactionMetrics.Metric``."""

    java_name: ClassVar[str] = "TransactionMetrics.Metric"

    count: int | None = member(BOXED_LONG, default=0)
    time_stamp: int | None = member(CLOCKED_LONG, clock=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionMetricsSerializeWrapper:
    """A broker's file of undecided half messages.
    Java: ``broker.transaction.TransactionMetrics.TransactionMetricsSerializeWrapper``."""

    java_name: ClassVar[str] = "TransactionMetrics.TransactionMetricsSerializeWrapper"

    data_version: DataVersion | None = member(record(DataVersion), factory=DataVersion)
    transaction_count: Mapping[str, TransactionMetric] | None = member(
        mapping(STRING, record(TransactionMetric), concurrent=True), default={}
    )
