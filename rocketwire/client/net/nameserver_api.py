"""Everything that a name server answers, typed; who is asked is the subclass's business.

Java: ``MQClientAPIImpl``, ``DefaultMQAdminExtImpl``.
"""

from __future__ import annotations

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
    from collections.abc import Mapping

    from rocketwire.client.net.rpc import Answer
    from rocketwire.messages.kvconfig import GetKVConfigResponseHeader, KVTable

ORDER_TOPIC_CONFIG: Final = "ORDER_TOPIC_CONFIG"
"""KV namespace with the queues of ordered topics (Java: ``NamesrvUtil``)."""


@trio_only()
class NameServerCalls:
    """The calls; all of them raise what ``call`` raises."""

    async def call(
        self,
        code: int,
        header: object | Mapping[str, str] | None = None,
        body: object | bytes | None = None,
        *,
        within: float | None = None,
    ) -> Answer:
        """Ask anything.

        Args:
            code: request code.
            header: an instance of the operation's header class, or ext fields.
            body: an instance of its body class, or bytes.
            within: seconds; None for ``ClientConfig.mq_client_api_timeout``.

        Raises:
            NameServerError: it was answered with another code than 0.
            ChannelError: no answer: ``ConnectFailedError``, ``ChannelBrokenError`` or ``RequestTimeoutError``.
            NoNameServerError: there is nobody to ask.
            DecodeError: the answer cannot be read.

        Cancellation: the request is forgotten; it may have been executed.
        """
        raise NameServerError(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, None, code, "")

    # ------------------------------------------------------------------ routes and topics

    async def route(self, topic: str, *, standard_json: bool | None = None) -> TopicRouteData:
        """Where a topic lives (code 105), asked now.

        Args:
            topic: its name.
            standard_json: ask for quoted map keys; None leaves that to the protocol version.

        Raises:
            TopicRouteNotFoundError: nobody has it.
        """
        header = GetRouteInfoRequestHeader(topic=topic, accept_standard_json_only=standard_json)
        try:
            answer = await self.call(Code.GET_ROUTEINFO_BY_TOPIC, header)
        except NameServerError as error:
            if error.code == ResponseCode.TOPIC_NOT_EXIST:
                raise TopicRouteNotFoundError(topic) from error
            raise
        route: TopicRouteData | None = answer.body
        if route is None:
            raise TopicRouteNotFoundError(topic)
        return route

    async def cluster_info(self) -> ClusterInfo:
        """Every broker group and cluster (code 106)."""
        answer = await self.call(Code.GET_BROKER_CLUSTER_INFO)
        return answer.body or ClusterInfo()

    async def member_group(self, cluster_name: str, broker_name: str) -> BrokerMemberGroup:
        """The addresses of one broker group (code 901); empty where it is not known."""
        header = GetBrokerMemberGroupRequestHeader(
            cluster_name=cluster_name, broker_name=broker_name
        )
        answer = await self.call(Code.GET_BROKER_MEMBER_GROUP, header)
        body: GetBrokerMemberGroupResponseBody | None = answer.body
        found = None if body is None else body.broker_member_group
        return found or BrokerMemberGroup(broker_name=broker_name, cluster=cluster_name)

    async def all_topics(self) -> TopicList:
        """Names of all topics (code 206)."""
        return await self._topics(Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)

    async def topics_of_cluster(self, cluster: str) -> TopicList:
        """Names of the topics of one cluster's brokers (code 224)."""
        return await self._topics(
            Code.GET_TOPICS_BY_CLUSTER, GetTopicsByClusterRequestHeader(cluster=cluster)
        )

    async def system_topics(self) -> TopicList:
        """Names of clusters and broker groups, which are topics too, and one broker's address (code 304)."""
        return await self._topics(Code.GET_SYSTEM_TOPIC_LIST_FROM_NS)

    async def unit_topics(self) -> TopicList:
        """Topics of units (code 311)."""
        return await self._topics(Code.GET_UNIT_TOPIC_LIST)

    async def unit_subscribed_topics(self) -> TopicList:
        """Topics that consumers of units subscribe to (code 312)."""
        return await self._topics(Code.GET_HAS_UNIT_SUB_TOPIC_LIST)

    async def unit_subscribed_other_topics(self) -> TopicList:
        """Those of them that are no topics of units themselves (code 313)."""
        return await self._topics(Code.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST)

    async def _topics(self, code: Code, header: object | None = None) -> TopicList:
        return (await self.call(code, header)).body or TopicList()

    async def register_topic(self, topic: str, route: TopicRouteData) -> None:
        """Announce a topic's queues, as a broker does (code 217)."""
        await self.call(
            Code.REGISTER_TOPIC_IN_NAMESRV, RegisterTopicRequestHeader(topic=topic), route
        )

    async def delete_topic(self, topic: str, cluster_name: str | None = None) -> None:
        """Forget a topic, everywhere or in one cluster (code 216); a broker that has it brings it back."""
        header = DeleteTopicFromNamesrvRequestHeader(topic=topic, cluster_name=cluster_name)
        await self.call(Code.DELETE_TOPIC_IN_NAMESRV, header)

    # ------------------------------------------------------------------ brokers

    async def wipe_write_perm(self, broker_name: str) -> int:
        """Take the write permission from a broker's topics (code 205); returns how many."""
        header = WipeWritePermOfBrokerRequestHeader(broker_name=broker_name)
        told: WipeWritePermOfBrokerResponseHeader
        told = (await self.call(Code.WIPE_WRITE_PERM_OF_BROKER, header)).header
        return told.wipe_topic_count or 0

    async def add_write_perm(self, broker_name: str) -> int:
        """Give it back (code 327); returns to how many topics."""
        header = AddWritePermOfBrokerRequestHeader(broker_name=broker_name)
        told: AddWritePermOfBrokerResponseHeader
        told = (await self.call(Code.ADD_WRITE_PERM_OF_BROKER, header)).header
        return told.add_topic_count or 0

    # ------------------------------------------------------------------ key-value configuration

    async def kv_value(self, namespace: str, key: str) -> str | None:
        """One value (code 101); None where there is none."""
        from rocketwire.messages.kvconfig import GetKVConfigRequestHeader

        header = GetKVConfigRequestHeader(namespace=namespace, key=key)
        try:
            found: GetKVConfigResponseHeader = (await self.call(Code.GET_KV_CONFIG, header)).header
        except NameServerError as error:
            if error.code == ResponseCode.QUERY_NOT_FOUND:
                return None
            raise
        return found.value

    async def kv_namespace(self, namespace: str) -> Mapping[str, str]:
        """Everything in one namespace (code 219); empty where there is nothing."""
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
        """Store one value (code 100)."""
        from rocketwire.messages.kvconfig import PutKVConfigRequestHeader

        header = PutKVConfigRequestHeader(namespace=namespace, key=key, value=value)
        await self.call(Code.PUT_KV_CONFIG, header)

    async def delete_kv(self, namespace: str, key: str) -> None:
        """Remove one value (code 102)."""
        from rocketwire.messages.kvconfig import DeleteKVConfigRequestHeader

        header = DeleteKVConfigRequestHeader(namespace=namespace, key=key)
        await self.call(Code.DELETE_KV_CONFIG, header)

    # ------------------------------------------------------------------ configuration

    async def configuration(self) -> str:
        """Its configuration, lines of ``key=value`` in the text of Java properties (code 319)."""
        body: bytes | None = (await self.call(Code.GET_NAMESRV_CONFIG)).body
        return (body or b"").decode()

    async def update_configuration(self, values: Mapping[str, str]) -> None:
        """Change some of it (code 318); values as Java properties have them, without line breaks."""
        lines = "".join(f"{key}={value}\n" for key, value in values.items())
        await self.call(Code.UPDATE_NAMESRV_CONFIG, None, lines)
