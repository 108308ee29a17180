"""Where messages go when they are stored."""

from rocketwire.wire.message.host import Host
from rocketwire_broker.delayed.put_hooks import make_dead_letter, store_message
from rocketwire_broker.storage.message import Message
from tests.support.broker import BrokerAtHand


def test_a_dead_letter_goes_to_a_topic_that_is_created_for_it(home: BrokerAtHand) -> None:
    message = Message(
        topic="%RETRY%g", queue_id=3, body=b"x", properties={}, born_host=Host(bytes(4), 1)
    )
    message.properties["DELAY"] = "3"

    make_dead_letter(home.broker, message, "g", home.now)
    place = store_message(home.broker, message, home.now)

    topic = home.broker.topics.get("%DLQ%g")
    assert topic is not None
    assert (topic.read_queue_nums, topic.perm) == (1, 6)
    assert home.broker.store.max_offset("%DLQ%g", 0) == place.queue_offset + 1
    assert message.properties["DELAY"] == "-1"
