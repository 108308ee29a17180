"""Bodies and headers that Java 5.5.0 wrote: read, and written again as they were.

Origin: the oracle's ``body_random`` (random members; level and seed are beside each body) and
``encode_frame`` (header fields chosen at random, optional ones left out at times).  The order of
entries in sets and maps is Java's own.
"""

from __future__ import annotations

import pytest

from rocketwire.messages import decode_body, decode_header, encode_body, encode_header
from rocketwire.messages.operations.registry import CLASSES

BODIES = [
    (
        "AclInfo",  # level 1, seed 3
        '{"policies":[{"entries":[],"policyType":"policyType-1ib0"}],"subject":"subject-cn1c"}',
    ),
    (
        "BrokerData",  # level 2, seed 3
        '{"brokerAddrs":{-1:"true"},"brokerName":"\'single\'","cluster":"{\\"x\\":1}","enab'
        'leActingMaster":false,"zoneName":" "}',
    ),
    (
        "BrokerMemberGroup",  # level 2, seed 3
        '{"brokerAddrs":{-1:"true"},"brokerName":"\'single\'","cluster":"{\\"x\\":1}"}',
    ),
    (
        "BrokerReplicasInfo",  # level 1, seed 2
        '{"replicasInfoTable":{"replicasInfoTable-k9ck":{"inSyncReplicas":[],"masterAdd'
        'ress":"10.0.252.56:11847","masterBrokerId":1700917706675,"masterEpoch":63,"not'
        'InSyncReplicas":[{"alive":true,"brokerAddress":"10.0.141.13:11647","brokerId":'
        '1701019607265,"brokerName":"brokerName-gpa1"},{"alive":false,"brokerAddress":"'
        '10.0.70.160:11362","brokerId":1700060931781,"brokerName":"brokerName-j53a"}],"'
        'syncStateSetEpoch":14}}}',
    ),
    (
        "BrokerStatsData",  # level 2, seed 0
        '{"statsDay":{"avgpt":9999999.5,"sum":0,"tps":1.0E-7},"statsHour":{"avgpt":1.5,'
        '"sum":7105486291024734541,"tps":1.0E21},"statsMinute":{"avgpt":1.0E21,"sum":44'
        '37113781045784766,"tps":1.0E-4}}',
    ),
    (
        "BrokerStatsItem",  # level 1, seed 3
        '{"avgpt":575.1459632416763,"sum":1309571695633557482,"tps":202.0}',
    ),
    (
        "CheckRocksdbCqWriteResult",  # level 2, seed 2
        '{"checkResult":"checkResult-k9ck","checkStatus":-2147483648}',
    ),
    (
        "ClusterInfo",  # level 1, seed 2
        '{"brokerAddrTable":{"10.0.230.16:10389":{"brokerAddrs":{1701060235047:"10.0.11'
        '5.197:10614"},"brokerName":"brokerName-qxi","cluster":"cluster-m5nq","enableAc'
        'tingMaster":true,"zoneName":"zoneName-1oij"}},"clusterAddrTable":{"10.0.243.22'
        '2:10678":["10.0.177.119:10256"]}}',
    ),
    (
        "Connection",  # level 2, seed 0
        '{"clientAddr":"[1,2]","clientId":"\ufffd","language":"OTHER","version":-2147483648}',
    ),
    (
        "ConsumeMessageDirectlyResult",  # level 2, seed 1
        '{"autoCommit":false,"consumeResult":"CR_COMMIT","order":false,"remark":"e\u0301","s'
        'pentTimeMills":-1}',
    ),
    (
        "ConsumeQueueData",  # level 2, seed 3
        '{"bitMap":" ","eval":false,"extendDataJson":"true","msg":"msg-98zq","physicOff'
        'set":2147483648,"physicSize":0,"tagsCode":-1}',
    ),
    (
        "ConsumeStats",  # level 2, seed 2
        '{"consumeTps":0.0,"offsetTable":{{"brokerName":"brokerName-m5nq","queueId":-1,'
        '"topic":"<&>"}:{"brokerOffset":2147483648,"consumerOffset":-885533809282556310'
        '0,"lastTimestamp":9223372036854775807,"pullOffset":-9223372036854775808}}}',
    ),
    (
        "ConsumeStatsList",  # level 2, seed 3
        '{"brokerAddr":"{\\"x\\":1}","consumeStatsList":[{"\'single\'":[]},{"\u4e2d\u6587'
        '\u4e3b\u9898":[{"consumeTps":1.7976931348623157E308,"offsetTable":{}}]},{"consumeSta'
        'tsList-1nz9":[{"consumeTps":0.001,"offsetTable":{}}]}],"totalDiff":-1,"totalIn'
        'flightDiff":0}',
    ),
    (
        "ConsumeStatus",  # level 2, seed 3
        '{"consumeFailedMsgs":2147483648,"consumeFailedTPS":1.5,"consumeOKTPS":1.0E-4,"'
        'consumeRT":1.0E21,"pullRT":1.0E7,"pullTPS":1.0E-4}',
    ),
    (
        "ConsumerData",  # level 2, seed 3
        '{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVEL'
        'Y","groupName":"{\\"x\\":1}","messageModel":"BROADCASTING","subscriptionDataSet"'
        ':[{"classFilterMode":false,"codeSet":[],"expressionType":"null","subString":" '
        '","subVersion":-1,"tagsSet":["tagsSet-98zq"],"topic":"true"}],"unitMode":true}',
    ),
    (
        "ConsumerOffsetSerializeWrapper",  # level 2, seed 2
        '{"dataVersion":{"counter":4562701804530819973,"stateVersion":92233720368547758'
        '07,"timestamp":2147483648},"offsetTable":{"-0":{0:-9007199254740993}}}',
    ),
    (
        "CustomizedRetryPolicy",  # level 1, seed 1
        '{"next":[]}',
    ),
    (
        "DataVersion",  # level 2, seed 1
        '{"counter":-1,"stateVersion":-9007199254740993,"timestamp":9007199254740993}',
    ),
    (
        "DelayOffsetSerializeWrapper",  # level 1, seed 2
        '{"dataVersion":{"counter":1700244982717,"stateVersion":1700920329923,"timestam'
        'p":1701060235047},"offsetTable":{17850135:1700917706675}}',
    ),
    (
        "ElectMasterResponseBody",  # level 1, seed 3
        '{"brokerMemberGroup":{"brokerAddrs":{1700824802274:"10.0.147.62:11961"},"broke'
        'rName":"brokerName-i3im","cluster":"cluster-1lfs"},"syncStateSet":[17008661591'
        "38]}",
    ),
    (
        "ExponentialRetryPolicy",  # level 2, seed 1
        '{"initial":-9007199254740993,"max":9007199254740993,"multiplier":-1}',
    ),
    (
        "GetBrokerMemberGroupResponseBody",  # level 2, seed 2
        '{"brokerMemberGroup":{"brokerAddrs":{-9007199254740993:"e\u0301"},"brokerName":"bro'
        'kerName-j7id","cluster":"-0"}}',
    ),
    (
        "GetConsumerListByGroupResponseBody",  # level 2, seed 2
        '{"consumerIdList":["-0"]}',
    ),
    (
        "GetLiteTopicInfoResponseBody",  # level 2, seed 3
        '{"liteTopic":"\'single\'","parentTopic":"{\\"x\\":1}","shardingToBroker":true,"sub'
        'scriber":[{"clientId":"\u4e2d\u6587\u4e3b\u9898","group":"true"}],"topicOffset":{"'
        'lastUpdateTimestamp":-1,"maxOffset":-1,"minOffset":-9007199254740993}}',
    ),
    (
        "GetParentTopicInfoResponseBody",  # level 1, seed 2
        '{"groups":["groups-j7id"],"liteTopicCount":59,"lmqNum":2,"topic":"topic-6ld7",'
        '"ttl":17850135}',
    ),
    (
        "GroupForbidden",  # level 1, seed 1
        '{"group":"group-97sg","readable":false,"topic":"topic-29ah"}',
    ),
    (
        "GroupList",  # level 2, seed 2
        '{"groupList":["-0"]}',
    ),
    (
        "GroupRetryPolicy",  # level 2, seed 3
        '{"customizedRetryPolicy":{"next":[]},"exponentialRetryPolicy":{"initial":0,"ma'
        'x":-1,"multiplier":-1},"type":"CUSTOMIZED"}',
    ),
    (
        "HARuntimeInfo.HAClientRuntimeInfo",  # level 2, seed 3
        '{"lastReadTimestamp":-1,"lastWriteTimestamp":-9007199254740993,"masterAddr":"{'
        '\\"x\\":1}","masterFlushOffset":9223372036854775807,"maxOffset":-1,"transferredB'
        'yteInSecond":0}',
    ),
    (
        "HARuntimeInfo.HAConnectionRuntimeInfo",  # level 2, seed 3
        '{"addr":"{\\"x\\":1}","diff":-1,"inSync":true,"slaveAckOffset":0,"transferFromWh'
        'ere":-1,"transferredByteInSecond":9007199254740993}',
    ),
    (
        "HeartbeatData",  # level 2, seed 3
        '{"clientID":"{\\"x\\":1}","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_L'
        'AST_OFFSET","consumeType":"CONSUME_ACTIVELY","groupName":"\\"q\\"","messageModel'
        '":"CLUSTERING","subscriptionDataSet":[],"unitMode":true}],"heartbeatFingerprin'
        't":-1,"producerDataSet":[{"groupName":"groupName-h9i6"},{"groupName":"\ufffd"}],"wi'
        'thoutSub":true}',
    ),
    (
        "KVTable",  # level 2, seed 2
        '{"table":{"-0":"table-j7id"}}',
    ),
    (
        "LiteLagInfo",  # level 2, seed 3
        '{"earliestUnconsumedTimestamp":-1,"lagCount":0,"liteTopic":"{\\"x\\":1}"}',
    ),
    (
        "LiteSubscriptionCtlRequestBody",  # level 1, seed 2
        '{"subscriptionSet":[{"action":"PARTIAL_ADD","clientId":"clientId-b5z0","group"'
        ':"group-j7id","liteTopicSet":[],"offsetOption":{"type":"TIMESTAMP","value":170'
        '0486250543},"topic":"topic-m5nq","version":1700558293307}]}',
    ),
    (
        "LiteSubscriptionDTO",  # level 2, seed 2
        '{"action":"PARTIAL_REMOVE","clientId":"-0","group":"group-j7id","liteTopicSet"'
        ':["liteTopicSet-m6wp","\U0001f680\U0001f30d"],"offsetOption":{"type":"POLICY","value'
        '":0},"topic":"topic-qxi","version":0}',
    ),
    (
        "LockBatchRequestBody",  # level 2, seed 2
        '{"clientId":"<&>","consumerGroup":"consumerGroup-k9ck","mqSet":[{"brokerName":'
        '"e\u0301","queueId":0,"topic":"tab\\tnl\\ncr\\r"}],"onlyThisBroker":true}',
    ),
    (
        "LockBatchResponseBody",  # level 2, seed 2
        '{"lockOKMQSet":[{"brokerName":"brokerName-m5nq","queueId":-1,"topic":"<&>"}]}',
    ),
    (
        "LogicQueueMappingItem",  # level 2, seed 1
        '{"bname":"1e5","endOffset":2147483648,"gen":-1,"logicOffset":-1,"queueId":1,"s'
        'tartOffset":-1,"timeOfEnd":8985176291945559937,"timeOfStart":-9007199254740993'
        "}",
    ),
    (
        "MessageQueueAssignment",  # level 2, seed 2
        '{"attachments":{"e\u0301":""},"messageQueue":{"brokerName":"brokerName-j7id","queue'
        'Id":-2147483648,"topic":"-0"},"mode":"POP"}',
    ),
    (
        "MessageRequestModeSerializeWrapper",  # level 2, seed 2
        '{"messageRequestModeMap":{"-0":{"messageRequestModeMap-m5nq":{"consumerGroup":'
        '"e\u0301","mode":"PULL","popShareQueueNum":1,"topic":"tab\\tnl\\ncr\\r"}}}}',
    ),
    (
        "OffsetWrapper",  # level 2, seed 1
        '{"brokerOffset":-9007199254740993,"consumerOffset":9007199254740993,"lastTimes'
        'tamp":-1,"pullOffset":-1}',
    ),
    (
        "PopProcessQueueInfo",  # level 1, seed 1
        '{"droped":false,"lastPopTimestamp":1700038907452,"waitAckCount":26}',
    ),
    (
        "ProcessQueueInfo",  # level 2, seed 3
        '{"cachedMsgCount":2147483647,"cachedMsgMaxOffset":9007199254740991,"cachedMsgM'
        'inOffset":9223372036854775807,"cachedMsgSizeInMiB":2147483647,"commitOffset":2'
        '147483648,"droped":false,"lastConsumeTimestamp":0,"lastLockTimestamp":90071992'
        '54740993,"lastPullTimestamp":0,"locked":true,"transactionMsgCount":0,"transact'
        'ionMsgMaxOffset":-1,"transactionMsgMinOffset":-9007199254740993,"tryUnlockTime'
        's":-1}',
    ),
    (
        "ProducerConnection",  # level 2, seed 2
        '{"connectionSet":[{"clientAddr":"10.0.252.56:11847","clientId":"<&>","language'
        '":"PHP","version":1}]}',
    ),
    (
        "ProducerData",  # level 2, seed 0
        '{"groupName":"\ufffd"}',
    ),
    (
        "ProducerInfo",  # level 2, seed 0
        '{"clientId":"\ufffd","language":"OTHER","lastUpdateTimestamp":9007199254740993,"rem'
        'oteIP":"[1,2]","version":-2147483648}',
    ),
    (
        "ProducerTableInfo",  # level 2, seed 2
        '{"data":{"-0":[{"clientId":"clientId-qxi","language":"HTTP","lastUpdateTimesta'
        'mp":-8855338092825563100,"remoteIP":"tab\\tnl\\ncr\\r","version":2147483647}]}}',
    ),
    (
        "QueryAssignmentResponseBody",  # level 1, seed 2
        '{"messageQueueAssignments":[{"attachments":{},"messageQueue":{"brokerName":"br'
        'okerName-j7id","queueId":2,"topic":"topic-b5z0"},"mode":"POP"}]}',
    ),
    (
        "QueryConsumeTimeSpanBody",  # level 1, seed 2
        '{"consumeTimeSpanSet":[{"consumeTimeStamp":1700558293307,"consumeTimeStampStr"'
        ':"2023-11-21#09:18:13:307","delayTime":1700902280208,"maxTimeStamp":1700486250'
        '543,"maxTimeStampStr":"2023-11-20#13:17:30:543","messageQueue":{"brokerName":"'
        'brokerName-j7id","queueId":2,"topic":"topic-b5z0"},"minTimeStamp":170099119753'
        '4,"minTimeStampStr":"2023-11-26#09:33:17:534"}]}',
    ),
    (
        "QueryCorrectionOffsetBody",  # level 1, seed 0
        '{"correctionOffsets":{38:1700357790538}}',
    ),
    (
        "QuerySubscriptionResponseBody",  # level 2, seed 1
        '{"group":"$.a.b","subscriptionData":{"classFilterMode":false,"codeSet":[0,1],"'
        'expressionType":"null","subString":"1e5","subVersion":9007199254740993,"tagsSe'
        't":["\U0001f680\U0001f30d","\ufffd"],"topic":"topic-4o24"},"topic":"back\\\\slash"}',
    ),
    (
        "QueueTimeSpan",  # level 2, seed 1
        '{"consumeTimeStamp":-9223372036854775808,"consumeTimeStampStr":"292269055-12-0'
        '2#16:47:04:192","delayTime":9007199254740993,"maxTimeStamp":0,"maxTimeStampStr'
        '":"1970-01-01#00:00:00:000","messageQueue":{"brokerName":"e\u0301","queueId":214748'
        '3647,"topic":"\u4e2d\u6587\u4e3b\u9898"},"minTimeStamp":2147483648,"minTimeStampSt'
        'r":"1970-01-25#20:31:23:648"}',
    ),
    (
        "ResetOffsetBody",  # level 2, seed 2
        '{"offsetTable":{{"brokerName":"brokerName-m5nq","queueId":-1,"topic":"<&>"}:-9'
        "223372036854775808}}",
    ),
    (
        "ResetOffsetBodyForC",  # level 2, seed 2
        '{"offsetTable":[{"brokerName":"brokerName-m5nq","offset":-9223372036854775808,'
        '"queueId":-1,"topic":"<&>"}]}',
    ),
    (
        "SetMessageRequestModeRequestBody",  # level 2, seed 0
        '{"consumerGroup":"[1,2]","mode":"PULL","popShareQueueNum":-2147483648,"topic":"\ufffd"}',
    ),
    (
        "SubscriptionData",  # level 2, seed 2
        '{"classFilterMode":false,"codeSet":[1],"expressionType":"true","subString":"su'
        'bString-j7id","subVersion":9007199254740993,"tagsSet":["tagsSet-j9hj"],"topic"'
        ':"-0"}',
    ),
    (
        "SyncStateSet",  # level 1, seed 2
        '{"syncStateSet":[76665748188021738],"syncStateSetEpoch":-60658084}',
    ),
    (
        "TimerMetrics.Metric",  # level 2, seed 0
        '{"count":-9223372036854775808,"timeStamp":-6688467811848818630}',
    ),
    (
        "TimerMetrics.TimerMetricsSerializeWrapper",  # level 2, seed 2
        '{"dataVersion":{"counter":0,"stateVersion":9007199254740993,"timestamp":0},"ti'
        'mingCount":{"-0":{"count":0,"timeStamp":-9223372036854775808}}}',
    ),
    (
        "TopicConfig",  # level 2, seed 2
        '{"attributes":{"$ref":"-0"},"order":false,"perm":-1,"readQueueNums":-214748364'
        '8,"topicFilterType":"MULTI_TAG","topicName":"topicName-k9ck","topicSysFlag":1,'
        '"writeQueueNums":0}',
    ),
    (
        "TopicConfigSerializeWrapper",  # level 2, seed 2
        '{"dataVersion":{"counter":6963999255472569109,"stateVersion":92233720368547758'
        '07,"timestamp":2147483648},"topicConfigTable":{"-0":{"attributes":{},"order":t'
        'rue,"perm":2147483647,"readQueueNums":-1,"topicFilterType":"MULTI_TAG","topicN'
        'ame":"topicName-m5nq","topicSysFlag":1,"writeQueueNums":1}}}',
    ),
    (
        "TopicList",  # level 1, seed 2
        '{"brokerAddr":"10.0.1.26:11350","topicList":["topicList-k9ck"]}',
    ),
    (
        "TopicOffset",  # level 2, seed 1
        '{"lastUpdateTimestamp":-1,"maxOffset":9007199254740993,"minOffset":-9007199254740993}',
    ),
    (
        "TopicStatsTable",  # level 1, seed 1
        '{"offsetTable":{{"brokerName":"brokerName-7h73","queueId":61,"topic":"topic-tb'
        'f"}:{"lastUpdateTimestamp":1700594930617,"maxOffset":1700171345631,"minOffset"'
        ':1700163999236}},"topicPutTps":847.0}',
    ),
    (
        "UnlockBatchRequestBody",  # level 2, seed 2
        '{"clientId":"<&>","consumerGroup":"consumerGroup-k9ck","mqSet":[{"brokerName":'
        '"e\u0301","queueId":0,"topic":"tab\\tnl\\ncr\\r"}],"onlyThisBroker":true}',
    ),
]

HEADERS: list[tuple[str, dict[str, str]]] = [
    (
        "PullMessageRequestHeader",
        {
            "bname": "bname",
            "commitOffset": "-1",
            "consumerGroup": "consumer-gro",
            "expressionType": "expression-t",
            "liteTopic": "lite-topic",
            "lo": "false",
            "maxMsgBytes": "2147483647",
            "maxMsgNums": "2147483647",
            "ns": "ns",
            "nsd": "false",
            "proxyFrowardClientId": "proxy-frowar",
            "queueId": "-1",
            "queueOffset": "0",
            "requestSource": "-1",
            "subVersion": "0",
            "subscription": "subscription",
            "suspendTimeoutMillis": "0",
            "sysFlag": "7",
            "topic": "topic",
        },
    ),
    (
        "PullMessageResponseHeader",
        {
            "forbiddenType": "7",
            "groupSysFlag": "-1",
            "maxOffset": "-1",
            "minOffset": "0",
            "nextBeginOffset": "0",
            "suggestWhichBrokerId": "0",
            "topicSysFlag": "2147483647",
        },
    ),
    (
        "SendMessageRequestHeaderV2",
        {
            "a": "producer-gro",
            "b": "topic",
            "c": "default-topi",
            "d": "2147483647",
            "e": "0",
            "f": "0",
            "g": "9223372036854775807",
            "h": "7",
            "i": "properties",
            "j": "0",
            "k": "false",
            "l": "7",
            "m": "true",
            "n": "broker-name",
        },
    ),
    (
        "SendMessageResponseHeader",
        {
            "batchUniqId": "batch-uniq-i",
            "msgId": "msg-id",
            "queueId": "7",
            "queueOffset": "9223372036854775807",
            "recallHandle": "recall-handl",
            "transactionId": "transaction-",
        },
    ),
    (
        "SendMessageRequestHeader",
        {
            "batch": "false",
            "bornTimestamp": "9223372036854775807",
            "defaultTopic": "default-topi",
            "defaultTopicQueueNums": "-1",
            "flag": "2147483647",
            "maxReconsumeTimes": "7",
            "producerGroup": "producer-gro",
            "queueId": "-1",
            "reconsumeTimes": "0",
            "sysFlag": "0",
            "topic": "topic",
            "unitMode": "true",
        },
    ),
    (
        "PopMessageRequestHeader",
        {
            "attemptId": "attempt-id",
            "bornTime": "-1",
            "consumerGroup": "consumer-gro",
            "exp": "exp",
            "expType": "exp-type",
            "initMode": "-1",
            "invisibleTime": "9223372036854775807",
            "maxMsgNums": "0",
            "order": "false",
            "pollTime": "0",
            "queueId": "7",
            "topic": "topic",
        },
    ),
    (
        "PopMessageResponseHeader",
        {
            "invisibleTime": "9223372036854775807",
            "msgOffsetInfo": "msg-offset-i",
            "orderCountInfo": "order-count-",
            "popTime": "-1",
            "restNum": "-1",
            "reviveQid": "-1",
            "startOffsetInfo": "start-offset",
        },
    ),
    (
        "RegisterBrokerRequestHeader",
        {
            "bodyCrc32": "0",
            "brokerAddr": "broker-addr",
            "brokerId": "-1",
            "brokerName": "broker-name",
            "clusterName": "cluster-name",
            "compressed": "true",
            "haServerAddr": "ha-server-ad",
            "heartbeatTimeoutMillis": "1700000000000",
        },
    ),
    (
        "RegisterBrokerResponseHeader",
        {
            "haServerAddr": "ha-server-ad",
            "masterAddr": "master-addr",
        },
    ),
    (
        "GetRouteInfoRequestHeader",
        {
            "acceptStandardJsonOnly": "false",
            "lo": "true",
            "ns": "ns",
            "nsd": "false",
            "oway": "true",
            "topic": "topic",
        },
    ),
    (
        "SearchOffsetRequestHeader",
        {
            "liteTopic": "lite-topic",
            "queueId": "2147483647",
            "timestamp": "-1",
            "topic": "topic",
        },
    ),
    (
        "ResetOffsetRequestHeader",
        {
            "group": "group",
            "isForce": "true",
            "queueId": "-1",
            "timestamp": "-1",
            "topic": "topic",
        },
    ),
    (
        "EndTransactionRequestHeader",
        {
            "commitLogOffset": "-1",
            "commitOrRollback": "8",
            "fromTransactionCheck": "true",
            "msgId": "msg-id",
            "producerGroup": "producer-gro",
            "topic": "topic",
            "tranStateTableOffset": "-1",
            "transactionId": "transaction-",
        },
    ),
    (
        "CreateTopicRequestHeader",
        {
            "attributes": "attributes",
            "defaultTopic": "default-topi",
            "force": "false",
            "order": "true",
            "perm": "2147483647",
            "readQueueNums": "-1",
            "topic": "topic",
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": "2147483647",
            "writeQueueNums": "2147483647",
        },
    ),
    (
        "UnregisterClientRequestHeader",
        {
            "clientID": "client-id",
            "consumerGroup": "consumer-gro",
            "producerGroup": "producer-gro",
        },
    ),
    (
        "GetConsumeStatsInBrokerHeader",
        {
            "isOrder": "false",
        },
    ),
    (
        "CleanControllerBrokerDataRequestHeader",
        {
            "brokerName": "broker-name",
            "clusterName": "cluster-name",
            "invokeTime": "0",
            "isCleanLivingBroker": "true",
        },
    ),
    (
        "NotificationResponseHeader",
        {
            "hasMsg": "true",
            "pollingFull": "true",
        },
    ),
    (
        "QueryDataVersionResponseHeader",
        {
            "changed": "false",
        },
    ),
    (
        "GetLiteGroupInfoRequestHeader",
        {
            "group": "group",
            "liteTopic": "lite-topic",
            "topK": "0",
        },
    ),
    (
        "ChangeInvisibleTimeRequestHeader",
        {
            "consumerGroup": "consumer-gro",
            "extraInfo": "extra-info",
            "invisibleTime": "1700000000000",
            "liteTopic": "lite-topic",
            "offset": "0",
            "queueId": "0",
            "suspend": "true",
            "topic": "topic",
        },
    ),
]


@pytest.mark.parametrize(("name", "text"), BODIES, ids=[name for name, _ in BODIES])
def test_a_body_of_java_is_read_and_written_again(name: str, text: str) -> None:
    body = decode_body(CLASSES[name], text.encode())

    assert encode_body(body).decode() == text


@pytest.mark.parametrize(("name", "fields"), HEADERS, ids=[name for name, _ in HEADERS])
def test_a_header_of_java_is_read_and_written_again(name: str, fields: dict[str, str]) -> None:
    header = decode_header(CLASSES[name], fields)

    assert encode_header(header) == fields
