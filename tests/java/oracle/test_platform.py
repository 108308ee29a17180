"""Configuration means here what it means to Java: property files, settings, names of cipher suites."""

import random
import ssl
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from rocketwire.errors import DecodeError
from rocketwire.serving.java_properties import flat_text, load_properties, load_update
from rocketwire.serving.tls.ciphers import TLS_1_3, choose, openssl_name
from rocketwire_namesrv.config.config import BY_KEY, Config
from rocketwire_namesrv.config.settings import Owner
from tests.peers.oracle import Oracle

FILES = 20_000
"""Random files; a second of Java."""
PIECES = (
    *("a", "b", "=", ":", " ", "\t", "\f", "\n", "\r", "\r\n", "\\", "\\\\", "\\\n", "#", "!"),
    *(
        "\\u0041",
        "\\u005C",
        "\\ud83d\\ude00",
        "\\uD800",
        "\\u00",
        "\\uu0041",
        "\\t",
        "\\n",
        "\\q",
        "é",
        "😀",
        "\0",
    ),
)
WORDS = ("5", "+7", "-3", " 8", "9 ", "007", "2147483648", "9223372036854775807", "1.5", "", "x", "true", "TRUE", "true ", "yes")  # fmt: skip
CLASSES = {
    Owner.NAMESRV: "org.apache.rocketmq.common.namesrv.NamesrvConfig",
    Owner.SERVER: "org.apache.rocketmq.remoting.netty.NettyServerConfig",
}


@pytest.fixture
def oracle(oracle_of: Callable[[str], Oracle]) -> Oracle:
    return oracle_of("5.5.0")


def nasty_files() -> list[bytes]:
    chance = random.Random(2026)
    return ["".join(chance.choices(PIECES, k=chance.randrange(12))).encode() for _ in range(FILES)]


def ours(read: Callable[[bytes], dict[str, str]], data: bytes) -> dict[str, str] | None:
    try:
        return read(data)
    except DecodeError:
        return None


def differences(
    oracle: Oracle, op: str, read: Callable[[bytes], dict[str, str]]
) -> Iterable[tuple[bytes, Any, Any]]:
    files = nasty_files()
    answers = oracle.ask_all({"op": op, "hex": data.hex()} for data in files)
    for data, answer in zip(files, answers, strict=True):
        here, there = ours(read, data), answer.get("map")
        if here != there:
            yield data, here, there


def test_random_files_are_read_as_java_reads_them(oracle: Oracle) -> None:
    assert list(differences(oracle, "file_properties", load_properties)) == []


def test_random_updates_are_read_as_java_reads_them(oracle: Oracle) -> None:
    assert list(differences(oracle, "update_properties", load_update)) == []


@pytest.mark.parametrize("owner", CLASSES, ids=lambda owner: owner.value)
def test_settings_take_the_values_that_they_take_in_java(oracle: Oracle, owner: Owner) -> None:
    # Every setting with every kind of text, and the text in which 319 shows all of them.
    defaults = Config(listen_port=0)
    names = [name for name, _ in defaults.items(owner)]
    for word in WORDS:
        # with what is refused, Java's server does not start either
        taken = [name for name in names if not any(p.refusal(word) for p in BY_KEY.get(name, ()))]
        data = "".join(f"{name}={word}\n" for name in taken).encode()
        config = defaults.update(load_properties(data))
        if owner is Owner.NAMESRV:  # not by an update, but from a file all the same
            config = Config.load(load_properties(data), home="h")
        shown = {name: text for name, text in config.items(owner) if text is not None}
        java_text = oracle.find("settings", hex=data.hex(), **{"class": CLASSES[owner]})["text"]

        assert without_paths(flat_text(shown)) == without_paths(java_text), word


def without_paths(text: str) -> list[str]:
    return [
        line
        for line in text.splitlines()
        if not line.startswith(("rocketmqHome=", "configStorePath=", "kvConfigPath="))
    ]


def test_a_cipher_suite_that_both_know_has_the_same_number(oracle: Oracle) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("ALL:@SECLEVEL=0")
    listed: list[Any] = list(context.get_ciphers())
    numbers = {entry["name"]: entry["id"] & 0xFFFF for entry in listed}
    javas: dict[str, int] = oracle.find("ciphers")["ids"]
    pairs = {name: (openssl_name(name), number) for name, number in javas.items()}

    shared = {name: number for name, (name_here, number) in pairs.items() if name_here in numbers}
    assert shared == {name: numbers[pairs[name][0]] for name in shared}
    assert set(shared) >= TLS_1_3
    assert {name for name in javas if name not in shared and not_here(name)} == set(javas) - set(
        shared
    )


def not_here(name: str) -> bool:
    # Suites that OpenSSL 3 lacks: fixed Diffie-Hellman, 3DES, RC4, DES, no encryption at all; and Java's mark for renegotiation.
    gone = ("TLS_ECDH_", "_NULL_", "_anon_", "3DES", "_DES", "RC4", "EMPTY_RENEGOTIATION", "_KRB5_")
    return any(entry in name for entry in gone)


def test_javas_default_cipher_suites_are_nearly_all_here(oracle: Oracle) -> None:
    javas = list(oracle.find("ciphers")["ids"])
    choice = choose(",".join(javas))

    assert set(choice.newer) == TLS_1_3
    assert len(choice.older) >= 20
    assert all(map(not_here, choice.unknown))
