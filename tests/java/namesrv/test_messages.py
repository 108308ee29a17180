"""Messages of Java clients that find their way through us."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.java.client.messages import unique

if TYPE_CHECKING:
    from tests.java.namesrv.conftest import Cluster
    from tests.support.java.peers import JavaPeer


def test_a_consumer_receives_exactly_the_thousand_messages_that_a_producer_sent(
    cluster: Cluster, peer: JavaPeer
) -> None:
    address = cluster.server.address
    topic, producers, consumers = unique("Thousand"), unique("producers"), unique("consumers")
    peer.admin(address, f"updateTopic -c DefaultCluster -t {topic} -r 4 -w 4")

    peer.send(address, topic, producers, range(1000), again=0)
    peer.consume(address, topic, consumers)
    peer.received(consumers, 1000)
    keys = peer.received(consumers, 1001, seconds=2)  # should one more come
    peer.close(consumers)
    peer.close(producers)

    twice = [key for key, count in Counter(keys).items() if count > 1]
    assert not twice
    missing = set(map(str, range(1000))) ^ set(keys)
    assert not missing


def test_a_topic_is_created_by_sending_to_it(cluster: Cluster, peer: JavaPeer) -> None:
    address = cluster.server.address

    peer.send(address, "CreatedBySending", "creating-producers", range(10))
    peer.close("creating-producers")

    assert "CreatedBySending\n" in peer.admin(address, "topicList").out
