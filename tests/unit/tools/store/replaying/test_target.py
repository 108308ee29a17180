"""Searches in the queues of the target."""

from dataclasses import replace

from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.store.replaying.journal import Journal
from rocketwire_tools.store.replaying.sending import (
    Replayer,
    ReplaySettings,
    TargetQueues,
    TopicMap,
)
from tests.support.fakes.storing_cluster import StoringCluster, connect, make_messages

QUEUE = MessageQueue(topic="bills", broker_name="a", queue_id=0)


async def test_message_is_found_by_key_born_time_flag_and_body(
    autojump_clock: object, cluster: StoringCluster
) -> None:
    messages = make_messages(70, "bills", queues=1)
    async with connect(cluster) as instance:
        replayer = Replayer(instance, Journal(None, {}), TopicMap(()), ReplaySettings())
        await replayer.run(messages)
        queues = TargetQueues(instance, 5.0)

        assert await queues.find(QUEUE, messages[66], 0) == 66
        assert await queues.find(QUEUE, messages[66], 66) == 66
        assert await queues.find(QUEUE, messages[66], 67) is None
        for change in ({"unique_key": "k0"}, {"born": 1}, {"flag": 1}, {"body": b"other"}):
            assert await queues.find(QUEUE, replace(messages[66], **change), 0) is None
        # a broker has given it a key
        assert await queues.find(QUEUE, replace(messages[66], unique_key=""), 0) == 66


async def test_end_of_a_queue_counts_only_messages_that_can_be_pulled(
    autojump_clock: object, cluster: StoringCluster
) -> None:
    async with connect(cluster) as instance:
        replayer = Replayer(instance, Journal(None, {}), TopicMap(()), ReplaySettings())
        await replayer.run(make_messages(3, "bills", queues=1))
        cluster.undispatched = 4
        assert await TargetQueues(instance, 5.0).end(QUEUE) == 3
        cluster.undispatched = 10_000
        assert await TargetQueues(instance, 5.0).end(QUEUE) == 2
