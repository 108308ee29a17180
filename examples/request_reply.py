"""Ask a question and wait for the answer of whoever consumes the topic.

NAMESRV_ADDR=127.0.0.1:9876 python request_reply.py
"""

from collections.abc import Sequence

from rocketwire.sync import (
    ConsumeConcurrentlyContext,
    Message,
    create_reply,
    open_client,
    open_producer,
    open_push_consumer,
)
from rocketwire.wire.message.stored import StoredMessage


def main() -> None:
    with open_client(None) as client, open_producer(client, "askers") as producer:

        def answer(questions: Sequence[StoredMessage], _: ConsumeConcurrentlyContext) -> None:
            for question in questions:
                price = b"12 EUR" if question.body == b"apples" else b"unknown"
                producer.send(create_reply(question, price))

        with open_push_consumer(client, "answerers", {"questions": "*"}, answer):
            reply = producer.request(Message("questions", b"apples"), within=20.0)
            print("apples cost", (reply.body or b"").decode())


if __name__ == "__main__":
    main()
