"""Typed requests of every kind that a name server serves; subclasses choose the server.

Java: ``MQClientAPIImpl``, ``DefaultMQAdminExtImpl``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from rocketwire.client.trio_only import trio_only
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import NameServerError, TopicRouteNotFoundError
from rocketwire.messages.route import (
    AddWritePermOfBrokerRequestHeader,
    AddWritePermOfBrokerResponseHeader,
    BrokerMemberGroup,
    ClusterInfo,
    DeleteTopicFromNamesrvRequestHeader,
    GetBrokerMemberGroupRequestHeader,
    GetBrokerMemberGroupResponseBody,
    GetRouteInfoRequestHeader,
    GetTopicsByClusterRequestHeader,
    RegisterTopicRequestHeader,
    TopicList,
    TopicRouteData,
    WipeWritePermOfBrokerRequestHeader,
    WipeWritePermOfBrokerResponseHeader,
)

if TYPE_CHECKING:
    from rocketwire.client.net.rpc import Response
    from rocketwire.messages.kvconfig import GetKVConfigResponseHeader, KVTable

# KV namespace with the queues of ordered topics (Java: ``NamesrvUtil``)
ORDER_TOPIC_CONFIG: Final = "ORDER_TOPIC_CONFIG"


@trio_only()
class NameServerCalls:
    """The requests; every method raises the errors of ``call``."""

    async def call(
        self,
        code: int,
        header: object | Mapping[str, str] | None = None,
        body: object | bytes | None = None,
        *,
        within: float | None = None,
    ) -> Response:
        """Send a request and return the decoded response.

        Args:
            header: an instance of the operation's header class, or ext fields.
            body: an instance of its body class, or bytes.
            within: timeout in seconds; None for ``ClientConfig.mq_client_api_timeout``.

        Raises:
            NameServerError: the response code is not 0.
            ChannelError: there is no response: ``ConnectFailedError``, ``ChannelBrokenError`` or
                ``RequestTimeoutError``.
            NoNameServerError: no name server is configured.
            DecodeError: the response is invalid.

        Cancellation: the client drops the request; the server may have executed it.
        """
        raise NameServerError(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, None, code, "")

    # ------------------------------------------------------------------ routes and topics

    async def route(self, topic: str, *, standard_json: bool | None = None) -> TopicRouteData:
        """Fetch the route of a topic (code 105).

        Args:
            standard_json: request quoted map keys; None lets the protocol version decide.

        Raises:
            TopicRouteNotFoundError: no broker has the topic.
        """
        header = GetRouteInfoRequestHeader(topic=topic, accept_standard_json_only=standard_json)
        try:
            response = await self.call(Code.GET_ROUTEINFO_BY_TOPIC, header)
        except NameServerError as error:
            if error.code == ResponseCode.TOPIC_NOT_EXIST:
                raise TopicRouteNotFoundError(topic) from error
            raise
        route: TopicRouteData | None = response.body
        if route is None:
            raise TopicRouteNotFoundError(topic)
        return route

    async def cluster_info(self) -> ClusterInfo:
        """Fetch all broker groups and clusters (code 106)."""
        info: ClusterInfo = (await self.call(Code.GET_BROKER_CLUSTER_INFO)).require_body()
        return info

    async def member_group(self, cluster_name: str, broker_name: str) -> BrokerMemberGroup:
        """Fetch the addresses of a broker group (code 901); empty if the server has none."""
        header = GetBrokerMemberGroupRequestHeader(
            cluster_name=cluster_name, broker_name=broker_name
        )
        response = await self.call(Code.GET_BROKER_MEMBER_GROUP, header)
        body: GetBrokerMemberGroupResponseBody | None = response.body
        member_group = None if body is None else body.broker_member_group
        return member_group or BrokerMemberGroup(broker_name=broker_name, cluster=cluster_name)

    async def all_topics(self) -> TopicList:
        """Fetch the names of all topics (code 206)."""
        return await self._topics(Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)

    async def topics_of_cluster(self, cluster: str) -> TopicList:
        """Fetch the names of the topics of a cluster's brokers (code 224)."""
        return await self._topics(
            Code.GET_TOPICS_BY_CLUSTER, GetTopicsByClusterRequestHeader(cluster=cluster)
        )

    async def system_topics(self) -> TopicList:
        """Fetch cluster and broker names, which are topics too, and a broker address (code 304)."""
        return await self._topics(Code.GET_SYSTEM_TOPIC_LIST_FROM_NS)

    async def unit_topics(self) -> TopicList:
        """Fetch the topics of units (code 311)."""
        return await self._topics(Code.GET_UNIT_TOPIC_LIST)

    async def unit_subscribed_topics(self) -> TopicList:
        """Fetch the topics that consumers of units subscribe to (code 312)."""
        return await self._topics(Code.GET_HAS_UNIT_SUB_TOPIC_LIST)

    async def unit_subscribed_other_topics(self) -> TopicList:
        """Fetch the topics of code 312 that are not topics of units (code 313)."""
        return await self._topics(Code.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST)

    async def _topics(self, code: Code, header: object | None = None) -> TopicList:
        topics: TopicList = (await self.call(code, header)).require_body()
        return topics

    async def register_topic(self, topic: str, route: TopicRouteData) -> None:
        """Register a topic's queues, as a broker does (code 217)."""
        await self.call(
            Code.REGISTER_TOPIC_IN_NAMESRV, RegisterTopicRequestHeader(topic=topic), route
        )

    async def delete_topic(self, topic: str, cluster_name: str | None = None) -> None:
        """Delete a topic in all clusters or in one (code 216).

        A broker that has the topic registers it again.
        """
        header = DeleteTopicFromNamesrvRequestHeader(topic=topic, cluster_name=cluster_name)
        await self.call(Code.DELETE_TOPIC_IN_NAMESRV, header)

    # ------------------------------------------------------------------ brokers

    async def wipe_write_perm(self, broker_name: str) -> int:
        """Remove the write permission of a broker's topics (code 205); returns their number."""
        header = WipeWritePermOfBrokerRequestHeader(broker_name=broker_name)
        response_header: WipeWritePermOfBrokerResponseHeader
        response_header = (await self.call(Code.WIPE_WRITE_PERM_OF_BROKER, header)).header
        return response_header.wipe_topic_count or 0

    async def add_write_perm(self, broker_name: str) -> int:
        """Restore the write permission of a broker's topics (code 327); returns their number."""
        header = AddWritePermOfBrokerRequestHeader(broker_name=broker_name)
        response_header: AddWritePermOfBrokerResponseHeader
        response_header = (await self.call(Code.ADD_WRITE_PERM_OF_BROKER, header)).header
        return response_header.add_topic_count or 0

    # ------------------------------------------------------------------ key-value configuration

    async def kv_value(self, namespace: str, key: str) -> str | None:
        """Fetch a value (code 101); None if the key does not exist."""
        from rocketwire.messages.kvconfig import GetKVConfigRequestHeader

        header = GetKVConfigRequestHeader(namespace=namespace, key=key)
        try:
            response_header: GetKVConfigResponseHeader = (
                await self.call(Code.GET_KV_CONFIG, header)
            ).header
        except NameServerError as error:
            if error.code == ResponseCode.QUERY_NOT_FOUND:
                return None
            raise
        return response_header.value

    async def kv_namespace(self, namespace: str) -> Mapping[str, str]:
        """Fetch all keys and values of a namespace (code 219); empty if it does not exist."""
        from rocketwire.messages.kvconfig import GetKVListByNamespaceRequestHeader

        header = GetKVListByNamespaceRequestHeader(namespace=namespace)
        try:
            table: KVTable | None = (await self.call(Code.GET_KVLIST_BY_NAMESPACE, header)).body
        except NameServerError as error:
            if error.code == ResponseCode.QUERY_NOT_FOUND:
                return {}
            raise
        return (table.table if table else None) or {}

    async def put_kv(self, namespace: str, key: str, value: str) -> None:
        """Store a value (code 100)."""
        from rocketwire.messages.kvconfig import PutKVConfigRequestHeader

        header = PutKVConfigRequestHeader(namespace=namespace, key=key, value=value)
        await self.call(Code.PUT_KV_CONFIG, header)

    async def delete_kv(self, namespace: str, key: str) -> None:
        """Delete a value (code 102)."""
        from rocketwire.messages.kvconfig import DeleteKVConfigRequestHeader

        header = DeleteKVConfigRequestHeader(namespace=namespace, key=key)
        await self.call(Code.DELETE_KV_CONFIG, header)

    # ------------------------------------------------------------------ configuration

    async def configuration(self) -> str:
        """Fetch the server's configuration, lines of Java properties ``key=value`` (code 319)."""
        body: bytes | None = (await self.call(Code.GET_NAMESRV_CONFIG)).body
        return (body or b"").decode("utf-8", "replace")

    async def update_configuration(self, values: Mapping[str, str]) -> None:
        """Change settings of the server (code 318); values must not contain line breaks."""
        lines = "".join(f"{key}={value}\n" for key, value in values.items())
        await self.call(Code.UPDATE_NAMESRV_CONFIG, None, lines)
