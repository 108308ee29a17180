"""Groups of brokers (acting masters, 905), and how brokers leave (104, 322, 904, expiry)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.cases.common import DONE, GONE, ROUTE, SLAVE, group, live
from rocketwire_tools.conformance.model.case import Case, case, since_5_3
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    Check,
    Closed,
    Has,
    Incoming,
    JsonBody,
    Lacks,
    Response,
    Silence,
    TextBody,
)
from rocketwire_tools.conformance.model.requests import (
    FAILED,
    NO_ROUTE,
    OTHER_SETTING,
    ask,
    broker_ext,
    data_version,
    expect,
    has,
    register,
    registration,
    send,
    success,
    topic_config,
    unregister,
    until,
    without,
)
from rocketwire_tools.conformance.model.steps import (
    Ask,
    Close,
    Expect,
    Listen,
    Open,
    Request,
    Send,
    Step,
    Wait,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

# Acting masters: groups of brokers without a master.

REGISTER: Final = "RouteInfoManager.registerBroker @ 5.5.0"
PICKUP: Final = "RouteInfoManager.pickupTopicRouteData @ 5.5.0"
ACTING: Final = {"supportActingMaster": "true"}
SYNC: Final = "rmq_sys_SYNC_BROKER_MEMBER_{broker}"


def member(
    number: int, acting: str | None = "true", *, at: str = "address", **fields: str
) -> dict[str, str]:
    """The ext fields of a member at ``{addressN}``; None as brokers before 5.0.0 send it."""
    ext = broker_ext(address=f"{{{at}{number}}}", broker_id=number, ha=f"{{ha{number}}}")
    return ext | ({} if acting is None else {"enableActingMaster": acting}) | fields


def routes_to(addresses: dict[str, str], perm: object = ANY) -> Response:
    return success(
        JsonBody(
            Has(
                {
                    "brokerDatas": [Has({"brokerAddrs": addresses})],
                    "queueDatas": [Has({"perm": perm})],
                }
            )
        )
    )


def _with_perm(perm: int) -> dict[str, object]:
    return registration((topic_config("{topic}", perm=perm), "{topicB}"))


# Notifications of brokers when the smallest id of their group changes (905).

NOTIFY: Final = "RouteInfoManager.notifyMinBrokerIdChanged @ 5.5.0"
JOINED: Final = f"{NOTIFY}, registerBroker"
LEFT: Final = f"{NOTIFY}, unRegisterBroker"
ENABLED: Final = {"notifyMinBrokerIdChanged": "true"}
# The ext fields of a member at ``{listenerN}``.
listener = partial(member, at="listener")


def join(*numbers: int, acting: str = "true") -> tuple[Ask, ...]:
    return tuple(register(listener(number, acting), None, on=f"b{number}") for number in numbers)


def leave(*numbers: int, acting: str = "true") -> tuple[Ask, ...]:
    return tuple(unregister(listener(number, acting), on=f"b{number}") for number in numbers)


def listen(*numbers: int) -> tuple[Listen, ...]:
    """Open a listener for each member; its connections are ``sN``."""
    return tuple(Listen(f"s{number}", f"{{listener{number}}}") for number in numbers)


def notifies(number: int, **fields: str) -> Expect:
    return expect(Incoming(code=905, flag=2, ext=fields), on=f"s{number}")


def not_notified(number: int) -> Expect:
    return expect(Silence(seconds=1.0), on=f"s{number}")


def _case(
    number: int,
    requirement: str,
    evidence: str,
    *,
    members: tuple[int, ...],
    steps: tuple[Step, ...],
    options: Mapping[str, str] = ENABLED,
) -> Case:
    """A case with these members, which unregister at its end: the largest id first, silently.

    Lost connections would make the server notify other members later, when another case may listen
    at their addresses.
    """
    return since_5_3(f"ns/905/{number}", 102, evidence, requirement,
        *steps,
        options=options, cleanup=leave(*members),
    )  # fmt: skip


NOTIFICATIONS: Final = (
    _case(1, "If a smaller id joins, the other members MUST be notified of its address, one-way.",
        JOINED, members=(2, 1),
        steps=(
            *listen(1, 2),
            *join(2, 1),
            notifies(2, minBrokerId="1", minBrokerAddr="{listener1}", haBrokerAddr="{ha1}"),
            not_notified(1),
        )),
    _case(2,
        "If the smallest id leaves, the remaining members MUST be notified of it and of the new "
        "smallest id.", LEFT, members=(2, 1, 0),
        steps=(
            *join(0, 1, 2),
            *listen(1, 2),
            *leave(0),
            *(
                notifies(
                    number,
                    minBrokerId="1",
                    minBrokerAddr="{listener1}",
                    offlineBrokerAddr="{listener0}",
                )
                for number in (1, 2)
            ),
        )),
    _case(3,
        "If the connection of the smallest id is lost, the remaining members MUST be notified.",
        LEFT, members=(1, 0),
        steps=(
            *join(0, 1),
            *listen(1),
            Close("b0"),
            notifies(1, minBrokerId="1", minBrokerAddr="{listener1}",
                offlineBrokerAddr="{listener0}"),
        )),
    _case(4, "A group with enableActingMaster=false MUST NOT be notified if a member leaves.", LEFT,
        members=(1, 0),
        steps=(
            *join(0, 1, acting="false"),
            *listen(1),
            *leave(0, acting="false"),
            not_notified(1),
        )),
    _case(5, "If an id joins that is not the smallest, members MUST NOT be notified.", JOINED,
        members=(1, 0), steps=(*listen(0, 1), *join(0, 1), not_notified(0), not_notified(1))),
    _case(6, "If an id leaves that is not the smallest, members MUST NOT be notified.", LEFT,
        members=(1, 0), steps=(*listen(0, 1), *join(0, 1), *leave(1), not_notified(0))),
    _case(7, "Without notifyMinBrokerIdChanged, members MUST NOT be notified.", NOTIFY,
        options=OTHER_SETTING, members=(2, 1), steps=(*listen(2), *join(2, 1), not_notified(2))),
    _case(8, "An unreachable member MUST NOT delay responses.", NOTIFY, members=(2, 1),
        steps=(
            *join(2, 1),
            ask(106, None,
                has({"brokerAddrTable": Has({"{broker}": Has({"brokerAddrs": {
                    "1": "{listener1}",
                    "2": "{listener2}",
                }})})}), on="reader"),
        )),
    _case(9,
        "A single slave that becomes master at its address SHOULD be notified of its own change.",
        JOINED, members=(1,),
        steps=(
            *listen(1),
            *join(1),
            register(listener(1) | {"brokerId": "0"}, None, on="b1"),
            notifies(1, minBrokerId="0", minBrokerAddr="{listener1}", haBrokerAddr="{ha1}"),
        )),
)  # fmt: skip
# Unregistration (104) and lost connections: which data is removed and which remains.

UNREGISTER: Final = "RouteInfoManager.unRegisterBroker @ 5.5.0"
HANDLER: Final = "DefaultRequestProcessor.unregisterBroker @ 5.5.0"
VERSIONED: Final = data_version()


def not_live(ext: dict[str, str]) -> Step:
    return until(322, ext, Response(ext={"changed": "true"}), body=VERSIONED, on="reader")


CLOSED: Final = (
    "BrokerHousekeepingService.onChannelClose, RouteInfoManager.onChannelDestroy @ 5.5.0"
)
ADDRESSES: Final = ('"{address}"', '"{addressB}"', '"{addressC}"')
# Data versions (322), heartbeats (904), expiry of brokers and idle connections.

HEARTBEAT: Final = (
    "DefaultRequestProcessor.brokerHeartbeat, RouteInfoManager.updateBrokerInfoUpdateTimestamp "
    "@ 5.5.0"
)
QUERY: Final = (
    "DefaultRequestProcessor.queryBrokerTopicConfig, RouteInfoManager.isBrokerTopicConfigChanged "
    "@ 5.5.0"
)
CHANGED: Final = Response(ext={"changed": "true"})
NO_BROKER: Final = has({"brokerAddrTable": Lacks(("{broker}",))})


def query(version: dict[str, int] | None, answered: str, stored: dict[str, int]) -> Step:
    return ask(
        322, broker_ext(), success(JsonBody(stored), ext={"changed": answered}), body=version
    )


SCAN: Final = "RouteInfoManager.scanNotActiveBroker @ 5.5.0"
SHORT: Final = {"scanNotActiveBrokerInterval": "500"}
BRIEF: Final = broker_ext(heartbeatTimeoutMillis="3000")


def _beats(count: int, *steps: Step) -> tuple[Step, ...]:
    return tuple(step for _ in range(count) for step in (*steps, Wait(0.5)))


def _expiry(number: int, requirement: str, evidence: str, *steps: Step) -> Case:
    return since_5_3(f"ns/expiry/{number}", 83, evidence, requirement,
        *steps,
        tags=frozenset({"slow"}), options=SHORT,
    )  # fmt: skip


def _stays(number: int, what: str, evidence: str, beat: Step) -> Case:
    return _expiry(
        number,
        f"A broker that {what} MUST remain registered.",
        evidence,
        Wait(5.0),
        register(BRIEF, None, on="a"),
        *_beats(9, beat),
        ask(105, ROUTE, success(), on="reader"),
    )


def _idle(number: int, requirement: str, evidence: str, item: int, *steps: Step) -> Case:
    return case(f"idle/{number}", item, evidence, requirement,
        *steps,
        tags=frozenset({"slow"}), options={"serverChannelMaxIdleTimeSeconds": "2"},
    )  # fmt: skip


LIVENESS: Final = (
    since_5_3("ns/322/1", 80, QUERY,
        "322 with the registered data version MUST return changed=false and that version.",
        register(),
        ask(322, broker_ext(),
            success(TextBody('{"counter":1,"stateVersion":0,"timestamp":1000}'),
                ext={"changed": "false"}), body=data_version())),
    since_5_3("ns/322/2", 80, f"{QUERY}, DataVersion.equals",
        "322 with another counter, timestamp or stateVersion MUST return changed=true and the "
        "stored version.",
        register(), query(data_version(2), "true", data_version()),
        query(data_version(timestamp=1001), "true", data_version()),
        query(data_version(state_version=1), "true", data_version()),
        query(data_version(), "false", data_version())),
    case("ns/322/3", 80, QUERY,
        "322 for an unknown broker MUST return changed=true without a body.",
        ask(322, broker_ext(), CHANGED, body=data_version())),
    since_5_3("ns/322/4", 80, QUERY,
        "322 without a data version MUST return changed=true and the stored version.",
        register(), query(None, "true", data_version())),
    since_5_3("ns/322/5", 81, QUERY,
        "322 without clusterName or brokerAddr MUST be answered with code 1.",
        ask(322, {"brokerAddr": "{address}", "brokerName": "{broker}", "brokerId": "0"}, FAILED,
            body=data_version()),
        ask(322, {"clusterName": "{cluster}", "brokerName": "{broker}", "brokerId": "0"}, FAILED,
            body=data_version())),
    case("ns/322/6", 81, QUERY, "322 without brokerId and brokerName MUST be answered normally.",
        register(),
        ask(322, {"brokerAddr": "{address}", "clusterName": "{cluster}"},
            success(ANY, ext={"changed": "false"}), body=data_version())),
    case("ns/322/7", 80, "DataVersion.decode @ 5.5.0",
        "322 with an invalid body MUST be answered with code 1.",
        ask(322, broker_ext(), FAILED, body=b"{x")),
    since_5_3("ns/322/8", 80, QUERY,
        "322 MUST compare with the data version of the latest registration.",
        register(), register(None, registration(version=data_version(2, 0, 2000))),
        query(data_version(), "true", data_version(2, 0, 2000)),
        query(data_version(2, 0, 2000), "false", data_version(2, 0, 2000))),
    since_5_3("ns/904/1", 82, HEARTBEAT, "A heartbeat MUST succeed without ext fields.",
        register(), ask(904, broker_ext(), DONE)),
    since_5_3("ns/904/2", 82, HEARTBEAT,
        "A heartbeat of an unknown broker MUST succeed and MUST NOT register it.",
        ask(904, broker_ext(), DONE), ask(322, broker_ext(), CHANGED, body=data_version()),
        ask(106, None, NO_BROKER)),
    since_5_3("ns/904/3", 82, HEARTBEAT,
        "A heartbeat without clusterName or brokerAddr MUST be answered with code 1.",
        ask(904, {"brokerAddr": "{address}", "brokerName": "{broker}"}, FAILED),
        ask(904, {"clusterName": "{cluster}", "brokerName": "{broker}"}, FAILED),
        ask(904, None, FAILED)),
    since_5_3("ns/904/4", 82, HEARTBEAT, "Invalid numbers in a heartbeat MUST be ignored.",
        register(),
        ask(904, broker_ext(broker_id="x", epoch="y", maxOffset="z", heartbeatTimeoutMills=""),
            DONE)),
    _expiry(1,
        "A broker without heartbeats MUST be removed after its timeout, and its connection MUST be "
        "closed.", f"{SCAN}, RemotingHelper.closeChannel", register(BRIEF, None, on="a"),
        until(106, None, NO_BROKER, on="reader", within=12.0, not_before=1.0),
        expect(Closed(), on="a"), ask(105, ROUTE, NO_ROUTE, on="reader")),
    _stays(2, "sends heartbeats", HEARTBEAT, ask(904, broker_ext(), on="a")),
    _stays(3, "sends 322 with any result", QUERY,
        ask(322, broker_ext(), success(ANY, ext={"changed": "true"}), body=data_version(9),
            on="a")),
    _stays(4, "registers repeatedly", SCAN, register(BRIEF, None, on="a")),
    _expiry(5, "Other requests on a broker's connection MUST NOT keep the broker registered.", SCAN,
        register(BRIEF, None, on="a"),
        Send(tuple(Request(code=206) for _ in range(32)), on="a", pieces=104, pause=0.25),
        ask(106, None, NO_BROKER, on="reader")),
    _idle(1, "A connection without traffic MUST be closed after serverChannelMaxIdleTimeSeconds.",
        "NettyRemotingServer.NettyConnectManageHandler.userEventTriggered @ 5.5.0", 34, Open(),
        expect(Silence(seconds=1.5)), expect(Closed(), within=3.0)),
    _idle(2, "Parts of a frame MUST NOT keep a connection open.",
        "NettyRemotingServer.configChannel @ 5.5.0 (IdleStateHandler behind the decoder)", 34,
        send(Request(code=106), pieces=1, pause=0.1), expect(Closed(), within=5.0)),
    _idle(3, "Complete requests MUST keep a connection open.",
        "NettyRemotingServer.configChannel @ 5.5.0", 34,
        *4 * (ask(106, None, success()), Wait(1.0)), ask(106, None, success())),
    _idle(4, "A broker MUST be removed if its connection is closed as idle.",
        "BrokerHousekeepingService.onChannelIdle @ 5.5.0", 87, register(on="a"),
        expect(Closed(), on="a", within=5.0), until(106, None, NO_BROKER, on="reader")),
    case("idle/6", (34, 83),
        "RouteInfoManager.DEFAULT_BROKER_CHANNEL_EXPIRED_TIME, "
        "BrokerConfig.getRegisterNameServerPeriod (60 s at most) @ 5.5.0",
        "Connections and brokers without a request for more than a minute MUST remain.",
        register(on="a"), ask(105, ROUTE, success(), on="client"),
        expect(Silence(seconds=62.0), on="a"), ask(105, ROUTE, success(), on="client"),
        register(on="a"),
        ask(106, None, has({"brokerAddrTable": Has({"{broker}": ANY})}), on="client"),
        tags=frozenset({"slow", "minute"})),
    case("idle/5", 25,
        "NettyRemotingServer.HandshakeHandler @ 5.5.0 (netty's "
        "HAProxyMessageDecoder.detectProtocol)",
        "A first frame of 10 bytes MAY remain unanswered: Java waits for the twelfth byte.",
        send(b"\x00\x00\x00\x06\x00\x00\x00\x02{}"),
        expect(Silence(), Response(code=3, remark=ANY))),
)  # fmt: skip


CASES: Final = (
    since_5_3("ns/acting/1", 66, REGISTER,
        "A slave without enableActingMaster (an old broker) MUST be listed without topics.",
        register(member(1, None)), ask(106, None, group({"1": "{address1}"})),
        ask(105, ROUTE, NO_ROUTE)),
    since_5_3("ns/acting/2", 66, REGISTER,
        "A slave with enableActingMaster=false and no master MUST be listed with topics and "
        "their permissions.",
        register(member(1, "false")), ask(105, ROUTE, routes_to({"1": "{address1}"}, 6))),
    since_5_3("ns/acting/3", 67, REGISTER,
        "Topics of a slave whose id is not the smallest of its group MUST be ignored.",
        register(member(1, "false"), None, on="1"),
        register(member(2, "false"), registration(("{topicC}", "{topicD}")), on="2"),
        ask(106, None, group({"1": "{address1}", "2": "{address2}"}), on="1"),
        ask(105, {"topic": "{topicC}"}, NO_ROUTE, on="1")),
    case("ns/acting/4", 67, REGISTER,
        "Topics of a slave whose master is registered MUST be ignored.",
        register(member(0), None, on="0"),
        register(member(1), registration(("{topicC}", "{topicD}")), on="1"),
        ask(105, {"topic": "{topicC}"}, NO_ROUTE, on="1")),
    since_5_3("ns/acting/5", 68, REGISTER,
        "A group MUST have the enableActingMaster of the last registration.",
        register(member(0, "true"), None, on="0"),
        ask(106, None, group({"0": "{address0}"}, enableActingMaster=True), on="0"),
        register(member(1, "false"), None, on="1"),
        ask(106, None, group({"0": "{address0}", "1": "{address1}"}, enableActingMaster=False),
            on="0"),
        register(member(1, None), None, on="1"),
        ask(105, ROUTE, has({"brokerDatas": [Has({"enableActingMaster": False})]}), on="0")),
    since_5_3("ns/acting/6", 100, PICKUP,
        "With supportActingMaster, the slave with the smallest id of a group without master MUST "
        "be listed as master.",
        register(member(2), None, on="2"), register(member(1), None, on="1"),
        ask(105, ROUTE, routes_to({"0": "{address1}", "2": "{address2}"}, 4), on="1"),
        ask(106, None, group({"1": "{address1}", "2": "{address2}"}), on="1"), options=ACTING),
    since_5_3("ns/acting/7", 100, PICKUP,
        "Without supportActingMaster, a group without master MUST be listed unchanged.",
        register(member(1)), ask(105, ROUTE, routes_to({"1": "{address1}"}, 4)),
        options=OTHER_SETTING),
    since_5_3("ns/acting/8", 100, PICKUP,
        "The route of a topic rmq_sys_SYNC_BROKER_MEMBER_... MUST contain the real ids.",
        register(member(1), registration((SYNC, "{topic}"))),
        ask(105, {"topic": SYNC}, routes_to({"1": "{address1}"}, 4)),
        ask(105, ROUTE, routes_to({"0": "{address1}"}, 4)), options=ACTING),
    since_5_3("ns/acting/9", 100, PICKUP,
        "A group with enableActingMaster=false MUST be listed unchanged.",
        register(member(1, "false")), ask(105, ROUTE, routes_to({"1": "{address1}"}, 6)),
        options=ACTING),
    since_5_3("ns/acting/10", 101, f"{REGISTER}, unRegisterBroker",
        "Topics of an acting master MUST lose write permission; a master restores it until it "
        "leaves.",
        register(member(1), None, on="1"),
        ask(105, ROUTE, routes_to({"1": "{address1}"}, 4), on="1"),
        register(member(0), None, on="0"),
        ask(105, ROUTE, routes_to({"0": "{address0}", "1": "{address1}"}, 6), on="1"),
        unregister(member(0), on="0"),
        until(105, ROUTE, routes_to({"1": "{address1}"}, 4), on="1")),
    since_5_3("ns/acting/11", 101, REGISTER,
        "Topics of an acting master MUST lose only the write bit.",
        register(member(1), _with_perm(7)), ask(105, ROUTE, routes_to({"1": "{address1}"}, 5))),
    since_5_3("ns/acting/12", 100, PICKUP, "A writable group MUST NOT get an acting master.",
        register(member(1), None),
        ask(327, {"brokerName": "{broker}"}, Response(ext={"addTopicCount": "2"})),
        ask(105, ROUTE, routes_to({"1": "{address1}"}, 6)), options=ACTING),
    since_5_3("ns/acting/13", (100, 101),
        "RouteInfoManager.unRegisterBroker, wipeWritePermOfBrokerByLock @ 5.5.0",
        "If the connection of a master is lost, its group's topics MUST lose write permission.",
        register(member(0), None, on="0"), register(member(1), None, on="1"), Close("0"),
        until(105, ROUTE, routes_to({"0": "{address1}"}, 4), on="1"), options=ACTING),
    since_5_3("ns/acting/14", 101, "RouteInfoManager.unRegisterBroker @ 5.5.0",
        "A group with enableActingMaster=false MUST keep write permission without a master.",
        register(member(0, "false"), None, on="0"), register(member(1, "false"), None, on="1"),
        Close("0"), until(105, ROUTE, routes_to({"1": "{address1}"}, 6), on="1")),
)  # fmt: skip


LEAVING: Final = (
    case("ns/104/1", 88, f"{HANDLER}, {UNREGISTER}",
        "Unregistering a broker MUST remove its group, its cluster and its topics.",
        register(), unregister(None, DONE), until(105, ROUTE, NO_ROUTE), until(106, None, GONE),
        ask(304, None, has({"topicList": Lacks(("{broker}", "{cluster}"))})),
        not_live(broker_ext())),
    case("ns/104/2", 88, UNREGISTER,
        "If one member of a group unregisters, the others MUST remain.",
        register(on="a"), register(SLAVE, None, on="b"), unregister(on="a"),
        until(106, None, group({"1": "{addressS}"}), on="reader"),
        ask(105, ROUTE, success(), on="reader"), live(SLAVE), not_live(broker_ext())),
    since_5_3("ns/104/3", 89, UNREGISTER,
        "104 with a wrong brokerId and the correct address MUST unregister the broker.",
        register(), unregister(broker_ext(broker_id=5), DONE), until(106, None, GONE)),
    since_5_3("ns/104/4", 89, UNREGISTER,
        "104 with the correct brokerId and a wrong address MUST NOT unregister the broker.",
        register(on="a"),
        register(broker_ext(cluster="{clusterM}", name="{brokerM}", address="{addressM}"), on="m"),
        unregister(broker_ext(address="{addressX}"), DONE, on="a"),
        unregister(broker_ext(cluster="{clusterM}", name="{brokerM}", address="{addressM}"),
            on="m"),
        until(106, None, has({"brokerAddrTable": Lacks(("{brokerM}",))}), on="reader"),
        ask(106, None, group({"0": "{address}"}), on="reader"), live(broker_ext())),
    since_5_3("ns/104/5", (90, 91), f"{HANDLER}, {UNREGISTER}",
        "104 without ext fields or without brokerId MUST succeed and MUST NOT change other "
        "brokers.",
        register(on="a"), register(SLAVE, None, on="b"),
        ask(104, without(broker_ext(), "brokerId"), DONE, on="a"), not_live(broker_ext()),
        live(SLAVE), ask(104, None, DONE, on="a"), ask(104, {}, DONE, on="a"), live(SLAVE),
        tags=frozenset({"destructive"}), fresh=True),
    case("ns/104/7", 88, HANDLER, "104 for an unknown broker MUST succeed.",
        unregister(None, DONE), unregister(None, DONE)),
    case("ns/104/8", 88, f"{UNREGISTER}, cleanTopicByUnRegisterRequests",
        "Topics of an unregistered broker MUST remain at other brokers.",
        register(on="a"),
        register(broker_ext(name="{brokerB}", address="{addressB}"),
            registration(("{topic}", "{topicC}")), on="b"),
        unregister(on="a"), until(105, {"topic": "{topicB}"}, NO_ROUTE, on="reader"),
        ask(105, ROUTE,
            has({
                "brokerDatas": [Has({"brokerName": "{brokerB}"})],
                "queueDatas": [Has({"brokerName": "{brokerB}"})],
            }), on="reader"),
        ask(106, None, has({"clusterAddrTable": Has({"{cluster}": ["{brokerB}"]})}), on="reader"),
        ask(224, {"cluster": "{cluster}"}, has({"topicList": ["{topic}", "{topicC}"]}),
            on="reader")),
    case("ns/104/9", 88, f"{UNREGISTER}, registerBroker",
        "A broker that unregisters MUST be able to register again.",
        register(), unregister(), until(106, None, GONE), register(), ask(105, ROUTE, success()),
        live(broker_ext(), on="main")),
    case("ns/104/10", (22, 88), "NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        "A one-way 104 MUST be executed and MUST NOT be answered.",
        register(), send(Request(code=104, ext=broker_ext(), flag=2)), expect(Silence()),
        until(106, None, GONE, on="reader")),
    since_5_3("ns/104/11", (), UNREGISTER,
        "104 with another cluster name SHOULD keep the live entry of the correct cluster.",
        register(on="a"),
        unregister(broker_ext(cluster="{clusterB}", name="{brokerB}"), DONE, on="b"),
        live(broker_ext()), ask(106, None, group({"0": "{address}"}), on="reader")),
    since_5_3("ns/104/12", 90, HANDLER, "104 with an invalid brokerId SHOULD succeed.",
        unregister(broker_ext(broker_id="x"), DONE)),
    case("ns/close/1", 84, CLOSED, "A broker MUST be removed at once if its connection is closed.",
        register(on="a"), Close("a"), until(106, None, GONE, on="reader", within=2.0),
        ask(105, ROUTE, NO_ROUTE, on="reader")),
    case("ns/close/2", 84, "BrokerHousekeepingService.onChannelException @ 5.5.0",
        "A broker MUST be removed at once if its connection is reset.",
        register(on="a"), Close("a", reset=True), until(106, None, GONE, on="reader", within=2.0)),
    case("ns/close/3", 85, "RouteInfoManager.onChannelDestroy @ 5.5.0 (the live entry's channel)",
        "A broker registered over a second connection MUST remain if the first closes, not if "
        "the second does.",
        register(on="a"), register(on="b"), Close("a"),
        register(broker_ext(cluster="{clusterM}", name="{brokerM}", address="{addressM}"), on="m"),
        Close("m"), until(106, None, has({"brokerAddrTable": Lacks(("{brokerM}",))}), on="reader"),
        ask(106, None, group({"0": "{address}"}), on="reader"), live(broker_ext()), Close("b"),
        until(106, None, GONE, on="reader")),
    case("ns/close/4", 86, "RouteInfoManager.onChannelDestroy @ 5.5.0",
        "If a connection of three brokers closes, at least one MUST be removed (Java: exactly "
        "one).",
        register(on="a"), register(broker_ext(address="{addressB}", broker_id=1), on="a"),
        register(broker_ext(address="{addressC}", broker_id=2), on="a"), Close("a"),
        until(106, None, success(Check("lacks-one", ADDRESSES)), on="reader")),
    case("ns/close/5", 84, CLOSED, "The loss of a slave's connection MUST NOT affect its master.",
        register(on="a"), register(SLAVE, None, on="b"), Close("b"),
        until(106, None, group({"0": "{address}"}), on="reader"),
        ask(105, ROUTE, success(), on="reader")),
    case("ns/close/6", 85, CLOSED,
        "Closing a connection without registrations MUST change nothing.",
        register(on="a"), ask(106, None, success(), on="x"), Close("x"),
        register(broker_ext(cluster="{clusterM}", name="{brokerM}", address="{addressM}"), on="m"),
        Close("m"), until(106, None, has({"brokerAddrTable": Lacks(("{brokerM}",))}), on="reader"),
        live(broker_ext())),
    *(
        since_5_3(f"ns/close/{number}", 85, "RouteInfoManager.onChannelDestroy @ 5.5.0",
            f"A broker MUST remain if a connection that used its address {how}.",
            register(on="a"),
            ask(105, ROUTE, success(), on="x"),
            ask(322, broker_ext(), success(ext={"changed": "false"}), body=VERSIONED, on="x"),
            ask(904, broker_ext(), DONE, on="x"),
            unregister(broker_ext(name="{brokerM}", cluster="{clusterM}"), DONE, on="x"),
            Close("x", reset=number == 8),
            register(broker_ext(cluster="{clusterM}", name="{brokerM}", address="{addressM}"),
                on="m"),
            Close("m"),
            until(106, None, has({"brokerAddrTable": Lacks(("{brokerM}",))}), on="reader"),
            ask(106, None, group({"0": "{address}"}), on="reader"),
            ask(105, ROUTE, success(), on="reader"),
            live(broker_ext()),
        )
        for number, how in ((7, "closes"), (8, "is reset"))
    ),
)  # fmt: skip
