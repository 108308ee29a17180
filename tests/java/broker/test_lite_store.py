"""A Java broker opens a folder of ours with lite topics, and ours goes on with it after that."""

import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.lite import GetLiteTopicInfoResponseBody
from tests.peers import cache as java_cache
from tests.peers import raw_call
from tests.peers.cluster import BROKER, ROOM
from tests.peers.dev_cluster import DevBroker
from tests.peers.peers import CURRENT, JavaBroker, JavaNameServer
from tests.peers.processes import wait_until
from tests.peers.shared_peers import have_here

PARENT, GROUP = "rooms", "room-readers"
LIGHT = f"%LMQ%${PARENT}$blue"


class Lite(NamedTuple):
    port: int

    def create(self) -> None:
        fields = {
            "topic": PARENT,
            "defaultTopic": "TBW102",
            "perm": "6",
            "order": "false",
            "readQueueNums": "1",
            "writeQueueNums": "1",
            "topicSysFlag": "0",
            "topicFilterType": "SINGLE_TAG",
            "attributes": "+message.type=LITE",
        }
        raw_call.ask(self.port, 17, fields)
        group = SubscriptionGroupConfig(group_name=GROUP, attributes={"+lite.bind.topic": PARENT})
        raw_call.ask(self.port, 200, {}, encode_body(group) or b"")

    def send(self, *names: str) -> None:
        for name in names:
            fields = {
                "a": "p",
                "b": PARENT,
                "c": "TBW102",
                "d": "1",
                "e": "0",
                "f": "0",
                "g": str(int(time.time() * 1000)),
                "h": "0",
                "j": "0",
                "k": "false",
                "m": "false",
                "i": f"__LITE_TOPIC\x01{name}\x02",
            }
            assert raw_call.ask(self.port, 310, fields, b"x").header["code"] == 0

    def commit(self, offset: int) -> None:
        fields = {"consumerGroup": GROUP, "topic": LIGHT, "queueId": "0"}
        raw_call.ask(self.port, 15, {**fields, "commitOffset": str(offset)})

    def read_offset(self) -> object:
        fields = {"consumerGroup": GROUP, "topic": LIGHT, "queueId": "0"}
        return raw_call.ask(self.port, 14, fields).header.get("extFields")

    def ends(self) -> list[int]:
        ends: list[int] = []
        for name in ("blue", "red"):
            fields = {"parentTopic": PARENT, "liteTopic": name}
            body = raw_call.ask(self.port, 200_076, fields).body
            info = decode_body(GetLiteTopicInfoResponseBody, body)
            ends.append(info.topic_offset.max_offset if info and info.topic_offset else -1)
        return ends


def lite_of(address: str) -> Lite:
    return Lite(int(address.rpartition(":")[2]))


def test_java_and_ours_go_on_with_the_lite_topics_of_the_other(tmp_path: Path) -> None:
    have_here(partial(java_cache.jars, CURRENT))
    store = tmp_path / "store"
    options = {
        **BROKER,
        "mappedFileSizeCommitLog": 1 << 20,
        "mappedFileSizeConsumeQueue": 40_000,
        "storePathRootDir": store,
        "storePathCommitLog": store / "commitlog",
    }
    with DevBroker(tmp_path / "first", options=options) as broker:
        lite = lite_of(broker.address)
        lite.create()
        lite.send("blue", "red", "blue")
        lite.commit(1)
        broker.stop()
    with (
        JavaNameServer(tmp_path / "names") as names,
        JavaBroker(tmp_path / "java", [names.address], options, jvm=[*ROOM]) as java,
    ):
        java.wait_registered(names.port)
        lite = lite_of(java.address)
        wait_until(lambda: lite.ends() == [2, 1], "the messages of ours")
        assert lite.read_offset() == {"offset": "1"}
        lite.send("blue", "red", "blue")
        wait_until(lambda: lite.ends() == [4, 2], "more of them")
        lite.commit(3)
        java.stop(30)
    with DevBroker(tmp_path / "last", options=options) as broker:
        lite = lite_of(broker.address)
        assert (lite.ends(), lite.read_offset()) == ([4, 2], {"offset": "3"})
