"""Requests among brokers, name servers, controllers and administrators, by code."""

from __future__ import annotations

from typing import Final

from rocketwire.codes import RequestCode as Code
from rocketwire.messages import (
    auth,
    brokers,
    connections,
    controller,
    controller_log,
    groups,
    ha,
    kvconfig,
    registration,
    route,
    static_topics,
    topic_config,
    topics,
)
from rocketwire.messages.operations.model import ArrayOf, Operation, Raw

OPERATIONS: Final = (
    Operation(Code.UPDATE_AND_CREATE_TOPIC, topics.CreateTopicRequestHeader),
    Operation(
        Code.UPDATE_AND_CREATE_TOPIC_LIST,
        topics.CreateTopicListRequestHeader,
        topics.CreateTopicListRequestBody,
    ),
    Operation(
        Code.GET_ALL_TOPIC_CONFIG,
        topics.GetAllTopicConfigRequestHeader,
        response_header=topics.GetAllTopicConfigResponseHeader,
        response_body=topic_config.TopicConfigAndMappingSerializeWrapper,
    ),
    Operation(Code.UPDATE_BROKER_CONFIG, request_body=Raw.PROPERTIES),
    Operation(
        Code.GET_BROKER_CONFIG,
        response_header=brokers.GetBrokerConfigResponseHeader,
        response_body=Raw.PROPERTIES,
    ),
    Operation(Code.GET_BROKER_RUNTIME_INFO, response_body=kvconfig.KVTable),
    Operation(
        Code.GET_CONSUMER_LIST_BY_GROUP,
        connections.GetConsumerListByGroupRequestHeader,
        response_header=connections.GetConsumerListByGroupResponseHeader,
        response_body=connections.GetConsumerListByGroupResponseBody,
    ),
    Operation(Code.GET_TIMER_CHECK_POINT, response_body=Raw.TIMER_CHECKPOINT),
    Operation(Code.GET_TIMER_METRICS, response_body=brokers.TimerMetricsSerializeWrapper),
    Operation(Code.PUT_KV_CONFIG, kvconfig.PutKVConfigRequestHeader),
    Operation(
        Code.GET_KV_CONFIG,
        kvconfig.GetKVConfigRequestHeader,
        response_header=kvconfig.GetKVConfigResponseHeader,
    ),
    Operation(Code.DELETE_KV_CONFIG, kvconfig.DeleteKVConfigRequestHeader),
    Operation(
        Code.REGISTER_BROKER,
        registration.RegisterBrokerRequestHeader,
        registration.RegisterBrokerBody,
        registration.RegisterBrokerResponseHeader,
        kvconfig.KVTable,
    ),
    Operation(Code.UNREGISTER_BROKER, registration.UnRegisterBrokerRequestHeader),
    Operation(
        Code.GET_ROUTEINFO_BY_TOPIC,
        route.GetRouteInfoRequestHeader,
        response_body=route.TopicRouteData,
    ),
    Operation(Code.GET_BROKER_CLUSTER_INFO, response_body=route.ClusterInfo),
    Operation(
        Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, request_body=groups.SubscriptionGroupConfig
    ),
    Operation(
        Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
        groups.GetAllSubscriptionGroupRequestHeader,
        response_header=groups.GetAllSubscriptionGroupResponseHeader,
        response_body=groups.SubscriptionGroupWrapper,
    ),
    Operation(
        Code.GET_TOPIC_STATS_INFO,
        topics.GetTopicStatsInfoRequestHeader,
        response_body=topics.TopicStatsTable,
    ),
    Operation(
        Code.GET_CONSUMER_CONNECTION_LIST,
        connections.GetConsumerConnectionListRequestHeader,
        response_body=connections.ConsumerConnection,
    ),
    Operation(
        Code.GET_PRODUCER_CONNECTION_LIST,
        connections.GetProducerConnectionListRequestHeader,
        response_body=connections.ProducerConnection,
    ),
    Operation(
        Code.WIPE_WRITE_PERM_OF_BROKER,
        route.WipeWritePermOfBrokerRequestHeader,
        response_header=route.WipeWritePermOfBrokerResponseHeader,
    ),
    Operation(Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, response_body=route.TopicList),
    Operation(Code.DELETE_SUBSCRIPTIONGROUP, groups.DeleteSubscriptionGroupRequestHeader),
    Operation(Code.DELETE_TOPIC_IN_BROKER, topics.DeleteTopicRequestHeader),
    Operation(Code.DELETE_TOPIC_IN_NAMESRV, route.DeleteTopicFromNamesrvRequestHeader),
    Operation(
        Code.REGISTER_TOPIC_IN_NAMESRV, route.RegisterTopicRequestHeader, route.TopicRouteData
    ),
    Operation(
        Code.GET_KVLIST_BY_NAMESPACE,
        kvconfig.GetKVListByNamespaceRequestHeader,
        response_body=kvconfig.KVTable,
    ),
    Operation(
        Code.GET_TOPICS_BY_CLUSTER,
        route.GetTopicsByClusterRequestHeader,
        response_body=route.TopicList,
    ),
    Operation(
        Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, request_body=groups.SubscriptionGroupList
    ),
    Operation(
        Code.QUERY_TOPIC_CONSUME_BY_WHO,
        groups.QueryTopicConsumeByWhoRequestHeader,
        response_body=groups.GroupList,
    ),
    Operation(Code.GET_SYSTEM_TOPIC_LIST_FROM_NS, response_body=route.TopicList),
    Operation(Code.GET_SYSTEM_TOPIC_LIST_FROM_BROKER, response_body=route.TopicList),
    Operation(Code.CLEAN_EXPIRED_CONSUMEQUEUE),
    Operation(Code.GET_UNIT_TOPIC_LIST, response_body=route.TopicList),
    Operation(Code.GET_HAS_UNIT_SUB_TOPIC_LIST, response_body=route.TopicList),
    Operation(Code.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST, response_body=route.TopicList),
    Operation(
        Code.VIEW_BROKER_STATS_DATA,
        brokers.ViewBrokerStatsDataRequestHeader,
        response_body=brokers.BrokerStatsData,
    ),
    Operation(Code.CLEAN_UNUSED_TOPIC),
    Operation(Code.UPDATE_NAMESRV_CONFIG, request_body=Raw.PROPERTIES),
    Operation(Code.GET_NAMESRV_CONFIG, response_body=Raw.PROPERTIES),
    Operation(
        Code.QUERY_DATA_VERSION,
        registration.QueryDataVersionRequestHeader,
        topic_config.DataVersion,
        registration.QueryDataVersionResponseHeader,
        topic_config.DataVersion,
    ),
    Operation(
        Code.ADD_WRITE_PERM_OF_BROKER,
        route.AddWritePermOfBrokerRequestHeader,
        response_header=route.AddWritePermOfBrokerResponseHeader,
    ),
    Operation(
        Code.GET_ALL_PRODUCER_INFO,
        connections.GetAllProducerInfoRequestHeader,
        response_body=connections.ProducerTableInfo,
    ),
    Operation(Code.DELETE_EXPIRED_COMMITLOG),
    Operation(
        Code.QUERY_TOPICS_BY_CONSUMER,
        groups.QueryTopicsByConsumerRequestHeader,
        response_body=route.TopicList,
    ),
    Operation(
        Code.QUERY_SUBSCRIPTION_BY_CONSUMER,
        groups.QuerySubscriptionByConsumerRequestHeader,
        response_body=groups.QuerySubscriptionResponseBody,
    ),
    Operation(
        Code.GET_TOPIC_CONFIG,
        topics.GetTopicConfigRequestHeader,
        response_body=topics.TopicConfigAndQueueMapping,
    ),
    Operation(
        Code.GET_SUBSCRIPTIONGROUP_CONFIG,
        groups.GetSubscriptionGroupConfigRequestHeader,
        response_body=groups.SubscriptionGroupConfig,
    ),
    Operation(
        Code.UPDATE_AND_GET_GROUP_FORBIDDEN,
        groups.UpdateGroupForbiddenRequestHeader,
        response_body=groups.GroupForbidden,
    ),
    Operation(
        Code.CHECK_ROCKSDB_CQ_WRITE_PROGRESS,
        brokers.CheckRocksdbCqWriteProgressRequestHeader,
        response_body=brokers.CheckRocksdbCqWriteResult,
    ),
    Operation(Code.EXPORT_ROCKSDB_CONFIG_TO_JSON, brokers.ExportRocksDBConfigToJsonRequestHeader),
    Operation(
        Code.UPDATE_AND_CREATE_STATIC_TOPIC,
        topics.CreateTopicRequestHeader,
        static_topics.TopicQueueMappingDetail,
    ),
    Operation(
        Code.GET_BROKER_MEMBER_GROUP,
        route.GetBrokerMemberGroupRequestHeader,
        response_body=route.GetBrokerMemberGroupResponseBody,
    ),
    Operation(Code.ADD_BROKER, brokers.AddBrokerRequestHeader),
    Operation(Code.REMOVE_BROKER, brokers.RemoveBrokerRequestHeader),
    Operation(Code.BROKER_HEARTBEAT, registration.BrokerHeartbeatRequestHeader),
    Operation(Code.NOTIFY_MIN_BROKER_ID_CHANGE, registration.NotifyMinBrokerIdChangeRequestHeader),
    Operation(
        Code.EXCHANGE_BROKER_HA_INFO,
        ha.ExchangeHAInfoRequestHeader,
        response_header=ha.ExchangeHAInfoResponseHeader,
    ),
    Operation(Code.GET_BROKER_HA_STATUS, response_body=ha.HARuntimeInfo),
    Operation(Code.RESET_MASTER_FLUSH_OFFSET, ha.ResetMasterFlushOffsetHeader),
    Operation(
        Code.CONTROLLER_ALTER_SYNC_STATE_SET,
        controller.AlterSyncStateSetRequestHeader,
        controller.SyncStateSet,
        controller.AlterSyncStateSetResponseHeader,
        controller.SyncStateSet,
    ),
    Operation(
        Code.CONTROLLER_ELECT_MASTER,
        controller.ElectMasterRequestHeader,
        response_header=controller.ElectMasterResponseHeader,
        response_body=controller.ElectMasterResponseBody,
    ),
    Operation(
        Code.CONTROLLER_REGISTER_BROKER,
        controller.RegisterBrokerToControllerRequestHeader,
        response_header=controller.RegisterBrokerToControllerResponseHeader,
        response_body=controller.SyncStateSet,
    ),
    Operation(
        Code.CONTROLLER_GET_REPLICA_INFO,
        controller.GetReplicaInfoRequestHeader,
        response_header=controller.GetReplicaInfoResponseHeader,
        response_body=controller.SyncStateSet,
    ),
    Operation(
        Code.CONTROLLER_GET_METADATA_INFO, response_header=controller.GetMetaDataResponseHeader
    ),
    Operation(
        Code.CONTROLLER_GET_SYNC_STATE_DATA,
        request_body=Raw.JSON_TEXTS,
        response_body=controller.BrokerReplicasInfo,
    ),
    Operation(Code.GET_BROKER_EPOCH_CACHE, response_body=ha.EpochEntryCache),
    Operation(
        Code.NOTIFY_BROKER_ROLE_CHANGED,
        controller.NotifyBrokerRoleChangedRequestHeader,
        controller.SyncStateSet,
    ),
    Operation(Code.UPDATE_CONTROLLER_CONFIG, request_body=Raw.PROPERTIES),
    Operation(Code.GET_CONTROLLER_CONFIG, response_body=Raw.PROPERTIES),
    Operation(Code.CLEAN_BROKER_DATA, controller.CleanControllerBrokerDataRequestHeader),
    Operation(
        Code.CONTROLLER_GET_NEXT_BROKER_ID,
        controller.GetNextBrokerIdRequestHeader,
        response_header=controller.GetNextBrokerIdResponseHeader,
    ),
    Operation(
        Code.CONTROLLER_APPLY_BROKER_ID,
        controller.ApplyBrokerIdRequestHeader,
        response_header=controller.ApplyBrokerIdResponseHeader,
    ),
    Operation(
        Code.BROKER_CLOSE_CHANNEL_REQUEST,
        controller_log.BrokerCloseChannelRequest,
        response_header=controller_log.BrokerCloseChannelResponse,
    ),
    Operation(
        Code.CHECK_NOT_ACTIVE_BROKER_REQUEST,
        controller_log.CheckNotActiveBrokerRequest,
        response_header=controller_log.CheckNotActiveBrokerResponse,
    ),
    Operation(
        Code.GET_BROKER_LIVE_INFO_REQUEST,
        controller_log.GetBrokerLiveInfoRequest,
        response_header=controller_log.GetBrokerLiveInfoResponse,
    ),
    Operation(
        Code.RAFT_BROKER_HEART_BEAT_EVENT_REQUEST,
        controller_log.RaftBrokerHeartBeatEventRequest,
        response_header=controller_log.RaftBrokerHeartBeatEventResponse,
    ),
    Operation(Code.UPDATE_COLD_DATA_FLOW_CTR_CONFIG, request_body=Raw.PROPERTIES),
    Operation(Code.REMOVE_COLD_DATA_FLOW_CTR_CONFIG, request_body=Raw.TEXT),
    Operation(Code.GET_COLD_DATA_FLOW_CTR_INFO, response_body=Raw.JSON),
    Operation(Code.SET_COMMITLOG_READ_MODE),
    Operation(Code.AUTH_CREATE_USER, auth.CreateUserRequestHeader, auth.UserInfo),
    Operation(Code.AUTH_UPDATE_USER, auth.UpdateUserRequestHeader, auth.UserInfo),
    Operation(Code.AUTH_DELETE_USER, auth.DeleteUserRequestHeader),
    Operation(Code.AUTH_GET_USER, auth.GetUserRequestHeader, response_body=auth.UserInfo),
    Operation(
        Code.AUTH_LIST_USER, auth.ListUsersRequestHeader, response_body=ArrayOf(auth.UserInfo)
    ),
    Operation(Code.AUTH_CREATE_ACL, auth.CreateAclRequestHeader, auth.AclInfo),
    Operation(Code.AUTH_UPDATE_ACL, auth.UpdateAclRequestHeader, auth.AclInfo),
    Operation(Code.AUTH_DELETE_ACL, auth.DeleteAclRequestHeader),
    Operation(Code.AUTH_GET_ACL, auth.GetAclRequestHeader, response_body=auth.AclInfo),
    Operation(Code.AUTH_LIST_ACL, auth.ListAclsRequestHeader, response_body=ArrayOf(auth.AclInfo)),
    Operation(Code.SWITCH_TIMER_ENGINE),
    Operation(Code.DELETE_TOPIC_IN_BROKER_LIST, request_body=topics.DeleteTopicListRequestBody),
    Operation(
        Code.DELETE_SUBSCRIPTION_GROUP_LIST,
        request_body=groups.DeleteSubscriptionGroupListRequestBody,
    ),
    Operation(Code.POP_ROLLBACK),
)
