"""Properties, message ids, unique keys, checksums and signatures."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.java.oracle.vectors import nasty
from tests.java.oracle.vectors.sheet import Javas, Line, Sheet, same_or
from tests.peers.oracle import Oracle

NAME, PART = "\1", "\2"
ODD_PROPERTIES = (
    "", "a", f"a{NAME}", f"a{NAME}b", f"a{NAME}b{PART}", f"a{NAME}b{PART}{PART}c{NAME}d", f"{NAME}b{PART}", f"a{NAME}{PART}b{NAME}c{PART}",
    f"a{NAME}b{PART}a{NAME}c{PART}", f"a{NAME}b{NAME}c{PART}", PART, NAME, f"{PART}a{NAME}b", f"a{PART}b{NAME}c{PART}", f"a{NAME}b{PART}x",
    f"a{NAME}\0{PART}", f"a=b{PART}c{NAME}d\n{PART}", f"\ud83d{NAME}\ude80{PART}",
)  # fmt: skip
HOSTS = ("10.0.0.1", "0.0.0.1", "255.255.255.255", "127.0.0.1", "2001:db8:0:0:0:0:0:1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")  # fmt: skip
KEYS = (
    "0A00000100002A139A5700000001ABCD",
    "0A000001FFFFFFFFFFFFFFFFFFFFFFFF",
    "00000000000000000000000000000000",
    "0a000001abcd2a139a57deadbeef0001",
    "7F0000010FA418B4AAC2000000007FFF",
    "20010DB80000000000000000000000010FA418B4AAC2000000000001",
)
DIGITS = "Java writes digits in upper case"
HAND_MADE = "not as Java writes it"
SECRETS = {**nasty.TEXTS, "secret": "12345678"}


def sheets(java: Javas) -> Iterator[Sheet]:
    oracle = java.newest
    how = "MessageDecoder.messageProperties2String and string2messageProperties"
    yield Sheet("vectors/texts/properties.jsonl", how, list(_properties(oracle)))
    how = "MessageDecoder.createMessageId and decodeMessageId"
    yield Sheet("vectors/texts/message-ids.jsonl", how, list(_ids(oracle)))
    how = "by hand; MessageClientIDSetter.getIPFromID and getPidFromID read them"
    yield Sheet("vectors/texts/unique-keys.jsonl", how, list(_keys(oracle)))
    yield Sheet("vectors/checksums/crc32.jsonl", "UtilAll.crc32", list(_checksums(oracle)))
    how = "AclClientRPCHook.doBeforeRequest"
    yield Sheet("vectors/signatures/commands.jsonl", how, list(_sign(oracle)))
    how = "AclSigner.calSignature"
    yield Sheet("vectors/signatures/bytes.jsonl", how, list(_sign_bytes(oracle)))


def _properties(oracle: Oracle) -> Iterator[Line]:
    maps: dict[str, Mapping[str, str | None]] = {"none": {}, "null value": {"a": None, "b": "c"}}
    for title, text in nasty.WITHOUT_PROPERTY_SEPARATORS.items():
        maps[f"value {title}"] = {"a": text, "z": "y"}
        maps[f"name {title}"] = {text: "a", "z": "y"}
    for title, properties in maps.items():
        text = oracle.find("props_encode", map=properties)["text"]
        read = oracle.find("props_decode", text=text)["map"]
        encoded = oracle.find("props_encode", map=read)["text"]
        line: Line = {"id": title, "text": text, "map": properties, "value": read}
        yield {**line, "reencodes": same_or("a map has no order in Java", encoded, text)}
    for text in ODD_PROPERTIES:
        read = oracle.find("props_decode", text=text)["map"]
        yield {"id": f"odd {text!a}", "text": text, "value": read, "reencodes": HAND_MADE}


def _ids(oracle: Oracle) -> Iterator[Line]:
    for host in HOSTS:
        for port, offset in ((10911, 0), (0, -1), (65535, (1 << 63) - 1), (1, -(1 << 63))):
            text = oracle.find("msgid_create", host=host, port=port, offset=offset)["msgid"]
            for written in sorted({text, text.lower()}):
                read = oracle.find("msgid_decode", msgid=written)
                value = {name: read[name] for name in ("host", "port", "offset")}
                reencodes = same_or(DIGITS, text, written)
                yield {"id": written, "text": written, "value": value, "reencodes": reencodes}


def _keys(oracle: Oracle) -> Iterator[Line]:
    for text in KEYS:
        read = oracle.find("uniqid_decode", id=text)
        reencodes = True if text == text.upper() else DIGITS
        value = {"ip": read["ip"], "pid": read["pid"]}
        yield {"id": text, "text": text, "value": value, "reencodes": reencodes}


def _checksums(oracle: Oracle) -> Iterator[Line]:
    datas = {"empty": b"", **nasty.BODIES, "digits": b"123456789", "zeros": bytes(1000)}
    datas |= {f"byte {byte}": bytes((byte,)) for byte in (0, 1, 0x7F, 0x80, 0xFF)}
    datas |= {f"text {title}": text.encode() for title, text in nasty.TEXTS.items()}
    for title, data in datas.items():
        crc = oracle.find("crc32", hex=data.hex())["crc"]
        yield {"id": title, "hex": data.hex(), "value": crc}


def _sign(oracle: Oracle) -> Iterator[Line]:
    cases: dict[str, dict[str, Any]] = {"nothing": {}, "no field": {"ext": {}}}
    for title, text in nasty.TEXTS.items():
        cases[f"field {title}"] = {"ext": {"a": text, text: "b", "Z": "c"}}
        if text:
            cases[f"secret {title}"] = {"ext": {"a": "b"}, "secret_key": text}
        cases[f"access {title}"] = {"ext": {"a": "b"}, "access_key": text}
    for title, body in nasty.BODIES.items():
        cases[f"body {title}"] = {"ext": {"a": "b"}, "body": body.hex()}
    cases["token"] = {"ext": {"a": "b"}, "security_token": "t"}
    cases["empty token"] = {"ext": {"a": "b"}, "security_token": ""}
    order = {"\uffff": "1", "\U0001f680": "2", "b": "3", "B": "4", "": "5", "AccessKe": "6"}
    cases["order of names"] = {"ext": order}
    cases["signed before"] = {"ext": {"Signature": "old", "AccessKey": "other", "a": "b"}}
    for title, members in cases.items():
        question = {"access_key": "access", "secret_key": "secret", **members}
        signature = oracle.find("sign", code=10, opaque=7, **question)
        shown = {name: signature[name] for name in ("ext", "content", "signature")}
        yield {"id": title, **question, "value": shown}


def _sign_bytes(oracle: Oracle) -> Iterator[Line]:
    for algorithm in ("HmacSHA1", "HmacSHA256", "HmacMD5"):
        for title, data in {"empty": b"", **nasty.BODIES}.items():
            for secret in ("secret", "\u4e3b\U0001f680", "k" * 200):
                request = {"hex": data.hex(), "secret_key": secret, "algorithm": algorithm}
                signature = oracle.find("sign_bytes", **request)
                title_of = f"{algorithm} {title} {len(secret)}"
                yield {"id": title_of, **request, "value": signature["signature"]}
