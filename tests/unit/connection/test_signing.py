"""ACL signatures, compared with those of Java's client hook."""

from dataclasses import replace
from typing import Any

import pytest

from rocketwire.codes import RequestCode
from rocketwire.errors import LocalProtocolError
from rocketwire.signing import SigningAlgorithm, sign, signed_content, verify
from rocketwire.wire.command import RemotingCommand

PULL = RemotingCommand(
    code=RequestCode.PULL_MESSAGE,
    version=479,
    ext_fields={
        "commitOffset": "0",
        "consumerGroup": "cg",
        "maxMsgNums": "32",
        "queueId": "0",
        "queueOffset": "10",
        "subVersion": "0",
        "suspendTimeoutMillis": "15000",
        "sysFlag": "2",
        "topic": "T",
    },
    body=b"BODY",
)


def test_a_token_is_signed_and_sent() -> None:
    # AclClientRPCHook of 5.5.0 and 5.3.3
    signed = sign(RemotingCommand(code=0), "AK", "SK", "TOKEN")
    assert signed.ext_fields == {
        "AccessKey": "AK",
        "SecurityToken": "TOKEN",
        "Signature": "z6Nv6ImnbI1Pm4r6TYY/CdM9JxQ=",
    }


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({"\uffff": "after", "\U0001f680": "before "}, b"before after"),
        ({"a": None, "b": ""}, b"null"),
    ],
    ids=["names in the order of UTF-16 units", "null"],
)
def test_the_signed_content_is_that_of_java(fields: dict[str, Any], content: bytes) -> None:
    assert signed_content(fields, None) == content


def test_signing_again_replaces_the_signature() -> None:
    assert sign(sign(PULL, "RocketMQ", "old"), "RocketMQ", "new") == sign(PULL, "RocketMQ", "new")


@pytest.mark.parametrize("algorithm", SigningAlgorithm)
def test_a_signature_is_verified_with_the_same_key_only(algorithm: SigningAlgorithm) -> None:
    signed = sign(PULL, "RocketMQ", "12345678", algorithm=algorithm)
    assert verify(signed, "12345678", algorithm=algorithm)
    assert not verify(signed, "12345679", algorithm=algorithm)
    assert not verify(replace(signed, body=b"body"), "12345678", algorithm=algorithm)
    assert not verify(PULL, "12345678", algorithm=algorithm)
    assert not verify(RemotingCommand(code=1), "12345678", algorithm=algorithm)


@pytest.mark.parametrize(("version", "verified"), [(399, True), (400, False)])
def test_old_senders_may_add_the_unique_key_query_later(version: int, verified: bool) -> None:
    signed = sign(replace(PULL, version=version), "AK", "SK")
    later = replace(signed, ext_fields={**(signed.ext_fields or {}), "_UNIQUE_KEY_QUERY": "true"})
    assert verify(later, "SK") is verified


@pytest.mark.parametrize("counted", [True, False], ids=["later brokers", "brokers of 4.9.4"])
def test_a_unique_key_query_is_signed_for_every_broker(counted: bool) -> None:
    """4.9.4 leaves the field out whoever sent it, later ones do if its sender is old."""
    query = replace(PULL, ext_fields={"topic": "T", "_UNIQUE_KEY_QUERY": "false"})
    signed = sign(query, "AK", "SK")
    fields = dict(signed.ext_fields or {})
    if not counted:
        del fields["_UNIQUE_KEY_QUERY"]

    assert signed.version == 399
    assert fields.items() >= ({"_UNIQUE_KEY_QUERY": "false"} if counted else {}).items()
    assert verify(replace(signed, ext_fields=fields), "SK")


def test_an_empty_secret_key_is_refused() -> None:
    with pytest.raises(LocalProtocolError, match="secret key is empty"):
        sign(PULL, "AK", "")
    with pytest.raises(LocalProtocolError, match="secret key is empty"):
        verify(PULL, "")
