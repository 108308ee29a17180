"""Requests of every code for a name server, plausible and damaged, the same for the same seed."""

import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any, Final

from rocketwire.codes import RequestCode, SerializeType
from rocketwire.errors import EncodeError
from rocketwire.messages._codec.fields import ext_fields_of
from rocketwire.messages.operations.registry import OPERATIONS
from rocketwire.wire.command import RemotingCommand, encode
from tests.fuzz.chance import Chance
from tests.support.name_servers import SERVED_CODES

CODES: Final = tuple(sorted({int(code) for code in RequestCode}))
PATHS: Final = (
    *("../../x", "/etc/passwd", "kvConfig.json", "file:///etc/passwd", "$(touch x)", "`touch x`"),
    *("a\0b", "%RETRY%g"),
)
NAMES: Final = ("TopicA", "TopicB", "b1", "b2", "C", "D", "n", "ORDER_TOPIC_CONFIG")
CONFIG_KEYS: Final = (
    *("configStorePath", "kvConfigPath", "rocketmqHome", "enableTopicList", "supportActingMaster"),
    *("notifyMinBrokerIdChanged", "listenPort", "tls.server.certPath", "tls.config.file"),
    *("rocketwire.allowConfigUpdate", "rocketwire.knownBrokersPath", "productEnvName"),
    *("orderMessageEnable", "clusterTest", "scanNotActiveBrokerInterval"),
)


class Requests:
    """Makes requests.

    Args:
        addresses: of brokers; every broker that registers has one of these or one that is none.
    """

    def __init__(self, chance: Chance, addresses: Sequence[str]) -> None:
        self._chance = chance
        self._addresses = tuple(addresses)

    def next(self, opaque: int) -> bytes:
        chance = self._chance
        number = chance.below(20)
        code = chance.choice(SERVED_CODES) if number < 14 else chance.choice(CODES)
        if number == 19:
            code = chance.whole(16)
        command = RemotingCommand(
            code=code,
            version=chance.choice((513, 513, 513, 479, 401, 300, 0, -1)),
            opaque=opaque,
            flag=chance.choice((0, 0, 0, 0, 2, chance.below(8))),
            ext_fields=self._fields(code),
            body=self._body(code),
            serialize_type=chance.choice(
                (SerializeType.JSON, SerializeType.JSON, SerializeType.ROCKETMQ)
            ),
        )
        try:
            frame = encode(command)
        except (EncodeError, UnicodeEncodeError):
            return b""
        return chance.damage(frame) if chance.one_in(40) else frame

    def _fields(self, code: int) -> dict[str, str]:
        operation = OPERATIONS.get(code)
        header = None if operation is None else operation.request_header
        names = [] if header is None else [field.wire for field in ext_fields_of(header).values()]
        fields = {name: self._value(name) for name in names if not self._chance.one_in(12)}
        if code == RequestCode.REGISTER_BROKER:
            fields.pop("bodyCrc32", None)
        if self._chance.one_in(10):
            fields |= {key: self._text() for key in self._chance.texts(4)}
        return fields

    def _value(self, name: str) -> str:
        chance = self._chance
        lower = name.lower()
        if chance.one_in(15):
            return self._text()
        if "addr" in lower:
            return chance.choice((*self._addresses, "nowhere", "../x:1"))
        if lower.endswith("id") or "millis" in lower or "num" in lower:
            return str(chance.choice((0, 0, 1, 2, chance.whole(64))))
        if lower in {"compressed", "enableactingmaster", "order"}:
            return chance.choice(("true", "false"))
        return chance.choice(NAMES)

    def _text(self) -> str:
        chance = self._chance
        return chance.choice(PATHS) if chance.below(3) else chance.text()

    def _body(self, code: int) -> bytes | None:
        chance = self._chance
        if code == RequestCode.REGISTER_BROKER:
            return self._registration()
        if code == RequestCode.UPDATE_NAMESRV_CONFIG:
            return self._properties()
        if code == RequestCode.REGISTER_TOPIC_IN_NAMESRV:
            queue = {
                "brokerName": chance.choice(NAMES),
                "perm": 6,
                "readQueueNums": 4,
                "topicSysFlag": 0,
                "writeQueueNums": chance.whole(32),
            }
            return json.dumps({"queueDatas": [queue] * chance.below(3)}).encode()
        if code == RequestCode.QUERY_DATA_VERSION:
            return b'{"counter":%d,"timestamp":1}' % chance.below(3)
        kinds = (None, None, b"{}", b"[]", b'{"@type":"java.lang.Runtime"}', chance.data(200))
        return chance.choice(kinds)

    def _registration(self) -> bytes | None:
        chance = self._chance
        topics: dict[str, Any] = {
            name: {
                "attributes": {},
                "order": False,
                "perm": chance.below(8),
                "readQueueNums": chance.below(9),
                "topicFilterType": "SINGLE_TAG",
                "topicName": name,
                "topicSysFlag": chance.below(4),
                "writeQueueNums": chance.below(9),
            }
            for name in (self._value("topic") for _ in range(chance.below(60)))
        }
        version = {"counter": chance.below(5), "stateVersion": chance.below(2), "timestamp": 1}
        wrapper = {"dataVersion": version, "topicConfigTable": topics}
        text = json.dumps({"topicConfigSerializeWrapper": wrapper, "filterServerList": []}).encode()
        packed = b"\0\0\0\2{}" + struct.pack(">i", chance.below(3)) + b"\0" * chance.below(12)
        kinds = (
            text,
            text,
            text,
            chance.damage(text),
            zlib.compress(packed),
            zlib.compress(bytes(1 << 22)),
        )
        return chance.choice((*kinds, None))

    def _properties(self) -> bytes:
        chance = self._chance
        lines: list[str] = []
        for _ in range(chance.below(4)):
            key = chance.choice(CONFIG_KEYS)
            if chance.one_in(3):
                key = "".join(
                    f"\\u{ord(letter):04x}" if chance.one_in(4) else letter for letter in key
                )
            value = chance.choice(("true", "false", "0", "9876", self._text()))
            lines.append(key + chance.choice(("=", ":", " ", "\\\n=")) + value)
        return chance.choice(("\n", "\r", "\r\n")).join(lines).encode("utf-8", "replace")
