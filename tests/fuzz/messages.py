"""Compare stored messages with Java's ``MessageDecoder``."""

from collections.abc import Iterator

from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message, unwrap_inner_batch
from tests.fuzz.chance import Chance
from tests.fuzz.trials import Outcome, Trial, javas, ours
from tests.peers.oracle import Oracle

ROUND = 2000
BORN_V6, STORE_V6 = 0x10, 0x20


def show(message: StoredMessage) -> Outcome:
    return {
        "topic": message.topic,
        "flag": message.flag,
        "body": None if message.body is None else message.body.hex(),
        "properties": None if message.properties is None else dict(message.properties),
        "queueId": message.queue_id,
        "storeSize": message.store_size,
        "queueOffset": message.queue_offset,
        "commitLogOffset": message.commit_log_offset,
        "sysFlag": message.sys_flag,
        "bornTimestamp": message.born_timestamp,
        "storeTimestamp": message.store_timestamp,
        "bornHost": f"{message.born_host.ip}|{message.born_host.port}",
        "storeHost": f"{message.store_host.ip}|{message.store_host.port}",
        "reconsumeTimes": message.reconsume_times,
        "preparedTransactionOffset": message.prepared_transaction_offset,
        "bodyCRC": message.body_crc,
        "msgId": message.msg_id,
        "offsetMsgId": message.offset_msg_id,
    }


def read_all(data: bytes) -> Outcome:
    # As a Java client reads a pull answer, up to the first message that cannot be read.
    return [show(message) for message in decode_stored_messages(data, strict=False)]


def unwrap_all(data: bytes) -> Outcome:
    messages = decode_stored_messages(data, strict=False)
    return [show(inner) for message in messages for inner in unwrap_inner_batch(message)]


def _write(message: StoredMessage) -> str:
    return encode_stored_message(message).hex()


def _properties(chance: Chance) -> dict[str, str | None]:
    return {chance.text(): chance.text() for _ in range(chance.below(4))}


class StoredMessages:
    name = "stored-message"

    def trials(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]:
        for start in range(0, count, ROUND):
            size = min(ROUND, count - start)
            messages = [self._message(chance) for _ in range(max(1, size // 4))]
            questions = (
                {"op": "msg_encode", "value": self._value(message), "compress": False}
                for message in messages
            )
            written: list[bytes] = []
            for message, answer in zip(messages, oracle.ask_all(questions), strict=True):
                our = ours(_write, message)
                yield Trial(
                    kind="write", data=repr(message).encode(), java=javas(answer, "hex"), ours=our
                )
                hexadecimal = (
                    answer["hex"] if answer["ok"] else our
                )  # Java reads the second layout without writing it
                if isinstance(hexadecimal, str):
                    written.append(bytes.fromhex(hexadecimal))
            cases = [self._case(chance, written or [b""]) for _ in range(size - len(messages))]
            answers = oracle.ask_all(
                {"op": "msg_decode", "hex": data.hex(), "unwrap": verb.startswith("unwrap")}
                for verb, data in cases
            )
            for (verb, data), answer in zip(cases, answers, strict=True):
                our = ours(unwrap_all if verb.startswith("unwrap") else read_all, data)
                yield Trial(kind=verb, data=data, java=javas(answer, "messages"), ours=our)

    def _message(self, chance: Chance) -> StoredMessage:
        born, store = (
            Host.of(chance.data(0) + self._address(chance), chance.below(65536)) for _ in range(2)
        )
        flags = chance.choice((0, 0, 0, 0xC0, chance.whole(16))) & ~(BORN_V6 | STORE_V6 | 0x701)
        flags |= BORN_V6 * born.is_ipv6 | STORE_V6 * store.is_ipv6
        body = self._body(chance)
        if flags & 0xC0 == 0xC0 and chance.below(3):
            body = encode_batch(
                BatchMessage(
                    body=chance.data(), flag=chance.whole(32), properties=_properties(chance)
                )
                for _ in range(chance.below(4))
            )
        return StoredMessage(
            topic=chance.text() * (1 if chance.below(20) else 30),
            body=body or None,
            flag=chance.whole(32),
            properties=_properties(chance),
            queue_id=chance.whole(32),
            queue_offset=chance.whole(64),
            commit_log_offset=chance.whole(64),
            sys_flag=flags,
            body_crc=chance.whole(32),
            born_timestamp=chance.whole(64),
            born_host=born,
            store_timestamp=chance.whole(64),
            store_host=store,
            reconsume_times=chance.whole(32),
            prepared_transaction_offset=chance.whole(64),
        )

    def _address(self, chance: Chance) -> bytes:
        return bytes(chance.below(256) for _ in range(16 if chance.one_in(3) else 4))

    def _body(self, chance: Chance) -> bytes:
        return b"" if chance.one_in(6) else chance.data() * (1 + chance.below(3))

    def _value(self, message: StoredMessage) -> dict[str, Outcome]:
        unwritten = ("storeSize", "msgId", "offsetMsgId")
        value = {name: value for name, value in show(message).items() if name not in unwritten}
        return {**value, "body": value["body"] or ""}  # Java's encoder wants an array

    def _case(self, chance: Chance, written: list[bytes]) -> tuple[str, bytes]:
        data = b"".join(chance.choice(written) for _ in range(1 + chance.below(3)))
        verb = chance.choice(("read", "unwrap"))
        if chance.one_in(3):
            return f"{verb} what Java wrote", data
        place = chance.below(len(data) + 1)
        if chance.one_in(4) and len(data) > 40:  # the fields before the first host decide most
            return f"{verb} damaged", chance.damage(data[:40], 1) + data[40:]
        damaged = chance.damage(data[place : place + 60], 1)
        return f"{verb} damaged", data[:place] + damaged + data[place + 60 :]
