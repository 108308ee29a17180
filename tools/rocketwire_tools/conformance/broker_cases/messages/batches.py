"""Batches: code 320, and 310 with the batch mark."""

from __future__ import annotations

from typing import Final

from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire_tools.conformance.broker_cases.common import (
    ask,
    case,
    comes,
    offset,
    only_5_5,
    put,
    refuses,
    since_5_3,
    stores,
    topic,
    visible,
    with_body,
)
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    AllOf,
    Has,
    Lacks,
    Like,
    Number,
    Response,
)

BATCH: Final = "SendMessageProcessor.sendBatchMessage @ 5.5.0"
ENCODE: Final = "MessageExtEncoder.encode (MessageExtBatch) @ 5.5.0"


def items(count: int = 3, **more: str) -> bytes:
    """A batch of messages ``0``, ``1``, ... with flags and unique keys of their own."""
    return encode_batch(
        [
            BatchMessage(
                body=b"%d" % number,
                flag=number,
                properties={"UNIQ_KEY": f"U{number}", "TAGS": "T", **more},
            )
            for number in range(count)
        ]
    )


IDS: Final = Like(r"[0-9A-F]{32}(,[0-9A-F]{32}){2}")

CASES = (
    case("320/1", BATCH, "The items of a batch MUST become messages with consecutive offsets.",
        topic(), put("first"), put(items(), stores(0, 1, msgId=IDS), code=320, m="true"),
        visible(4),
        comes(*(Has({"queueOffset": number + 1, "body": str(number)}) for number in range(3)),
            at=1),
    ),
    case("320/2", f"{BATCH}",
        "The response to a batch MUST have the ids of all items, joined by commas.",
        topic(), put(items(), Response(ext=Has({"msgId": IDS, "queueOffset": "0", "queueId": "0"})),
            code=320, m="true"),
    ),
    case("320/3", ENCODE, "The items of a batch MUST keep their own flags, tags and unique keys.",
        topic(), put(items(), code=320, m="true", h="99"), visible(3),
        comes(*(Has({"flag": number, "properties": Has({"TAGS": "T"})}) for number in range(3))),
    ),
    only_5_5("320/4", ENCODE, "The items of a batch MUST keep their own unique keys, and get no "
        "property of the broker but CLUSTER.",
        topic(), put(items(), code=320, m="true", properties={"UNIQ_KEY": "CONTAINER"}), visible(3),
        comes(*(Has({"properties": AllOf((Has({"UNIQ_KEY": f"U{number}"}),
            Lacks(("MSG_REGION", "TRACE_ON"))))}) for number in range(3))),
    ),
    case("320/5", ENCODE, "The items of a batch MUST have the birth time of the container and "
        "positions of their own.",
        topic(), put(items(2), code=320, m="true", g="7", save={"id": "ext.msgId:position"}),
        visible(2),
        comes(Has({"bornTimestamp": 7}),
            Has({"bornTimestamp": 7, "commitLogOffset": Number(equal="{=id}")})),
    ),
    case("320/6", BATCH, "A batch sent with code 310 and the batch mark MUST be stored as a batch.",
        topic(), put(items(), stores(0, 0, msgId=IDS), m="true"), visible(3),
        comes(*(with_body(str(number)) for number in range(3))),
    ),
    case("320/7", "SendMessageProcessor.processRequest @ 5.5.0",
        "A request 320 without the batch mark SHOULD be stored as one message.",
        topic(), put(items(), stores(0, 0, msgId=Like("[0-9A-F]{32}")), code=320), visible(1),
    ),
    since_5_3("320/8", BATCH, "A batch to a retry topic MUST be refused with 13.",
        put(items(), refuses(13, Like("batch request does not support retry group .*")), code=320,
            m="true", to="%RETRY%{group}"),
    ),
    case("320/9", "DefaultMessageStore.checkMessages @ 5.5.0",
        "A container with a delay level MUST be refused with 13.",
        topic(), put(items(), refuses(13, ANY), code=320, m="true", properties={"DELAY": "1"}),
        ask(30, {"topic": "{topic}", "queueId": "0"}, offset(0)),
    ),
    case("320/10", ENCODE, "Nothing of a batch with a truncated item MUST be stored.",
        topic(), put(items()[:-3], refuses(1), code=320, m="true"),
        ask(30, {"topic": "{topic}", "queueId": "0"}, offset(0)),
    ),
    case("320/11", ENCODE, "A delay level inside an item SHOULD be ignored, and the message be "
        "visible at once.",
        topic(), put(items(1, DELAY="3"), code=320, m="true"), comes(with_body("0", queueOffset=0)),
    ),
    since_5_3("320/12", "SendMessageProcessor.handlePutMessageResult @ 5.5.0",
        "The transactionId of a batch MUST be the UNIQ_KEY of its container.",
        topic(), put(items(), stores(0, 0, msgId=IDS, transactionId="CONTAINER"), code=320,
            m="true", properties={"UNIQ_KEY": "CONTAINER"}),
    ),
    case("320/13", BATCH, "A batch of one message MUST be stored.",
        topic(), put(items(1), stores(0, 0, msgId=Like("[0-9A-F]{32}")), code=320, m="true"),
        comes(with_body("0")),
    ),
    case("320/14", BATCH, "A batch of 200 messages MUST be stored whole.",
        topic(), put(items(200), stores(0, 0, msgId=ANY), code=320, m="true"), visible(200),
    ),
    case("320/15", "AbstractSendMessageProcessor.msgCheck @ 5.5.0",
        "A batch to an unknown queue MUST be refused.",
        topic(), put(items(), Response(code=29, remark=ANY), Response(code=1, remark=ANY), code=320,
            m="true", queue=9),
    ),
    case("320/16", "CommitLog.asyncPutMessages @ 5.5.0",
        "A batch MUST be stored behind messages and before later ones.",
        topic(), put("a"), put(items(2), code=320, m="true"), put("b", stores(0, 3)), visible(4),
        comes(with_body("a"), with_body("0"), with_body("1"), with_body("b")),
    ),
)  # fmt: skip
