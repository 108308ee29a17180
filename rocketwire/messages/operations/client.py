"""Requests between clients and brokers, by code."""

from __future__ import annotations

from typing import Final

from rocketwire.codes import RequestCode as Code
from rocketwire.messages import (
    allocation,
    callbacks,
    heartbeat,
    lite,
    offsets,
    pop,
    pull,
    queries,
    send,
    transactions,
)
from rocketwire.messages.operations.model import Operation, Raw

OPERATIONS: Final = (
    Operation(
        Code.SEND_MESSAGE,
        send.SendMessageRequestHeader,
        Raw.MESSAGE_BODY,
        send.SendMessageResponseHeader,
    ),
    Operation(
        Code.PULL_MESSAGE,
        pull.PullMessageRequestHeader,
        response_header=pull.PullMessageResponseHeader,
        response_body=Raw.STORED_MESSAGES,
    ),
    Operation(
        Code.QUERY_MESSAGE,
        queries.QueryMessageRequestHeader,
        response_header=queries.QueryMessageResponseHeader,
        response_body=Raw.STORED_MESSAGES,
    ),
    Operation(
        Code.QUERY_CONSUMER_OFFSET,
        offsets.QueryConsumerOffsetRequestHeader,
        response_header=offsets.QueryConsumerOffsetResponseHeader,
    ),
    Operation(
        Code.UPDATE_CONSUMER_OFFSET,
        offsets.UpdateConsumerOffsetRequestHeader,
        response_header=offsets.UpdateConsumerOffsetResponseHeader,
    ),
    Operation(
        Code.SEARCH_OFFSET_BY_TIMESTAMP,
        offsets.SearchOffsetRequestHeader,
        response_header=offsets.SearchOffsetResponseHeader,
    ),
    Operation(
        Code.GET_MAX_OFFSET,
        offsets.GetMaxOffsetRequestHeader,
        response_header=offsets.GetMaxOffsetResponseHeader,
    ),
    Operation(
        Code.GET_MIN_OFFSET,
        offsets.GetMinOffsetRequestHeader,
        response_header=offsets.GetMinOffsetResponseHeader,
    ),
    Operation(
        Code.GET_EARLIEST_MSG_STORETIME,
        offsets.GetEarliestMsgStoretimeRequestHeader,
        response_header=offsets.GetEarliestMsgStoretimeResponseHeader,
    ),
    Operation(
        Code.VIEW_MESSAGE_BY_ID, queries.ViewMessageRequestHeader, response_body=Raw.STORED_MESSAGE
    ),
    Operation(Code.HEART_BEAT, heartbeat.HeartbeatRequestHeader, heartbeat.HeartbeatData),
    Operation(
        Code.UNREGISTER_CLIENT,
        heartbeat.UnregisterClientRequestHeader,
        response_header=heartbeat.UnregisterClientResponseHeader,
    ),
    Operation(Code.CONSUMER_SEND_MSG_BACK, send.ConsumerSendMsgBackRequestHeader),
    Operation(Code.END_TRANSACTION, transactions.EndTransactionRequestHeader),
    Operation(
        Code.CHECK_TRANSACTION_STATE,
        transactions.CheckTransactionStateRequestHeader,
        Raw.STORED_MESSAGE,
    ),
    Operation(Code.NOTIFY_CONSUMER_IDS_CHANGED, callbacks.NotifyConsumerIdsChangedRequestHeader),
    Operation(
        Code.LOCK_BATCH_MQ,
        allocation.LockBatchMqRequestHeader,
        allocation.LockBatchRequestBody,
        response_body=allocation.LockBatchResponseBody,
    ),
    Operation(
        Code.UNLOCK_BATCH_MQ,
        allocation.UnlockBatchMqRequestHeader,
        allocation.UnlockBatchRequestBody,
    ),
    Operation(Code.GET_ALL_CONSUMER_OFFSET, response_body=offsets.ConsumerOffsetSerializeWrapper),
    Operation(Code.GET_ALL_DELAY_OFFSET, response_body=offsets.DelayOffsetSerializeWrapper),
    Operation(Code.CHECK_CLIENT_CONFIG, request_body=heartbeat.CheckClientRequestBody),
    Operation(
        Code.GET_CONSUME_STATS,
        queries.GetConsumeStatsRequestHeader,
        response_body=queries.ConsumeStats,
    ),
    Operation(
        Code.RESET_CONSUMER_CLIENT_OFFSET, offsets.ResetOffsetRequestHeader, offsets.ResetOffsetBody
    ),
    Operation(
        Code.GET_CONSUMER_STATUS_FROM_CLIENT,
        callbacks.GetConsumerStatusRequestHeader,
        response_body=callbacks.GetConsumerStatusBody,
    ),
    Operation(
        Code.INVOKE_BROKER_TO_RESET_OFFSET,
        offsets.ResetOffsetRequestHeader,
        response_body=offsets.ResetOffsetBody,
    ),
    Operation(
        Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS,
        callbacks.GetConsumerStatusRequestHeader,
        response_body=callbacks.GetConsumerStatusBody,
    ),
    Operation(
        Code.QUERY_CONSUME_TIME_SPAN,
        queries.QueryConsumeTimeSpanRequestHeader,
        response_body=queries.QueryConsumeTimeSpanBody,
    ),
    Operation(
        Code.GET_CONSUMER_RUNNING_INFO,
        callbacks.GetConsumerRunningInfoRequestHeader,
        response_body=callbacks.ConsumerRunningInfo,
    ),
    Operation(
        Code.QUERY_CORRECTION_OFFSET,
        offsets.QueryCorrectionOffsetHeader,
        response_body=offsets.QueryCorrectionOffsetBody,
    ),
    Operation(
        Code.CONSUME_MESSAGE_DIRECTLY,
        callbacks.ConsumeMessageDirectlyResultRequestHeader,
        Raw.STORED_MESSAGE,
        response_body=callbacks.ConsumeMessageDirectlyResult,
    ),
    Operation(
        Code.SEND_MESSAGE_V2,
        send.SendMessageRequestHeaderV2,
        Raw.MESSAGE_BODY,
        send.SendMessageResponseHeader,
    ),
    Operation(Code.CLONE_GROUP_OFFSET, offsets.CloneGroupOffsetRequestHeader),
    Operation(
        Code.GET_BROKER_CONSUME_STATS,
        queries.GetConsumeStatsInBrokerHeader,
        response_body=queries.ConsumeStatsList,
    ),
    Operation(
        Code.SEND_BATCH_MESSAGE,
        send.SendMessageRequestHeaderV2,
        Raw.MESSAGE_BATCH,
        send.SendMessageResponseHeader,
    ),
    Operation(
        Code.QUERY_CONSUME_QUEUE,
        queries.QueryConsumeQueueRequestHeader,
        response_body=queries.QueryConsumeQueueResponseBody,
    ),
    Operation(Code.RESUME_CHECK_HALF_MESSAGE, transactions.ResumeCheckHalfMessageRequestHeader),
    Operation(
        Code.SEND_REPLY_MESSAGE,
        send.SendMessageRequestHeader,
        Raw.MESSAGE_BODY,
        send.SendMessageResponseHeader,
    ),
    Operation(
        Code.SEND_REPLY_MESSAGE_V2,
        send.SendMessageRequestHeaderV2,
        Raw.MESSAGE_BODY,
        send.SendMessageResponseHeader,
    ),
    Operation(Code.PUSH_REPLY_MESSAGE_TO_CLIENT, send.ReplyMessageRequestHeader, Raw.MESSAGE_BODY),
    Operation(
        Code.LITE_PULL_MESSAGE,
        pull.PullMessageRequestHeader,
        response_header=pull.PullMessageResponseHeader,
        response_body=Raw.STORED_MESSAGES,
    ),
    Operation(
        Code.RECALL_MESSAGE,
        send.RecallMessageRequestHeader,
        response_header=send.RecallMessageResponseHeader,
    ),
    Operation(
        Code.QUERY_ASSIGNMENT,
        request_body=allocation.QueryAssignmentRequestBody,
        response_body=allocation.QueryAssignmentResponseBody,
    ),
    Operation(
        Code.SET_MESSAGE_REQUEST_MODE, request_body=allocation.SetMessageRequestModeRequestBody
    ),
    Operation(
        Code.GET_ALL_MESSAGE_REQUEST_MODE,
        response_body=allocation.MessageRequestModeSerializeWrapper,
    ),
    Operation(
        Code.POP_MESSAGE,
        pop.PopMessageRequestHeader,
        response_header=pop.PopMessageResponseHeader,
        response_body=Raw.STORED_MESSAGES,
    ),
    Operation(Code.ACK_MESSAGE, pop.AckMessageRequestHeader),
    Operation(
        Code.PEEK_MESSAGE,
        pop.PeekMessageRequestHeader,
        response_header=pop.PopMessageResponseHeader,
        response_body=Raw.STORED_MESSAGES,
    ),
    Operation(
        Code.CHANGE_MESSAGE_INVISIBLETIME,
        pop.ChangeInvisibleTimeRequestHeader,
        response_header=pop.ChangeInvisibleTimeResponseHeader,
    ),
    Operation(
        Code.NOTIFICATION,
        pop.NotificationRequestHeader,
        response_header=pop.NotificationResponseHeader,
    ),
    Operation(
        Code.POLLING_INFO,
        pop.PollingInfoRequestHeader,
        response_header=pop.PollingInfoResponseHeader,
    ),
    Operation(
        Code.POP_LITE_MESSAGE,
        lite.PopLiteMessageRequestHeader,
        response_header=lite.PopLiteMessageResponseHeader,
        response_body=Raw.STORED_MESSAGES,
    ),
    Operation(
        Code.LITE_SUBSCRIPTION_CTL,
        lite.LiteSubscriptionCtlRequestHeader,
        lite.LiteSubscriptionCtlRequestBody,
    ),
    Operation(Code.NOTIFY_UNSUBSCRIBE_LITE, lite.NotifyUnsubscribeLiteRequestHeader),
    Operation(Code.GET_BROKER_LITE_INFO, response_body=lite.GetBrokerLiteInfoResponseBody),
    Operation(
        Code.GET_PARENT_TOPIC_INFO,
        lite.GetParentTopicInfoRequestHeader,
        response_body=lite.GetParentTopicInfoResponseBody,
    ),
    Operation(
        Code.GET_LITE_TOPIC_INFO,
        lite.GetLiteTopicInfoRequestHeader,
        response_body=lite.GetLiteTopicInfoResponseBody,
    ),
    Operation(
        Code.GET_LITE_CLIENT_INFO,
        lite.GetLiteClientInfoRequestHeader,
        response_body=lite.GetLiteClientInfoResponseBody,
    ),
    Operation(
        Code.GET_LITE_GROUP_INFO,
        lite.GetLiteGroupInfoRequestHeader,
        response_body=lite.GetLiteGroupInfoResponseBody,
    ),
    Operation(Code.TRIGGER_LITE_DISPATCH, lite.TriggerLiteDispatchRequestHeader),
    Operation(Code.BATCH_ACK_MESSAGE, request_body=pop.BatchAckMessageRequestBody),
)
