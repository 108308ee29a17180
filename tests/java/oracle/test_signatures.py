"""Java's client hook of the current and of a middle release signs as we do; vectors have those of others."""

from collections.abc import Iterator

import pytest

from rocketwire.signing import SigningAlgorithm, sign, signature_of, signed_content
from rocketwire.wire.command import RemotingCommand
from tests.peers.oracle import Oracle
from tests.peers.peers import CURRENT, MIDDLE
from tests.unit.connection.test_signing import PULL

pytestmark = pytest.mark.full


@pytest.fixture(scope="module", params=[CURRENT, MIDDLE])
def java(request: pytest.FixtureRequest) -> Iterator[Oracle]:
    # The classes of a release; ``AclClientRPCHook`` of 4.9.4 is in another package, with the same content and key.
    with Oracle(request.param) as running:
        yield running


@pytest.mark.parametrize(
    ("command", "credentials"),
    [
        pytest.param(PULL, ("RocketMQ", "12345678", None), id="pull"),
        pytest.param(RemotingCommand(code=0), ("AK", "SK", "TOKEN"), id="token"),
    ],
)
def test_java_signs_a_command_the_same(
    java: Oracle, command: RemotingCommand, credentials: tuple[str, str, str | None]
) -> None:
    access_key, secret_key, token = credentials
    answer = java.find(
        "sign",
        ext=dict(command.ext_fields or {}),
        body=command.body.hex() if command.body else None,
        access_key=access_key,
        secret_key=secret_key,
        security_token=token,
    )
    signed = sign(command, access_key, secret_key, token)

    assert answer["ext"] == signed.ext_fields
    assert bytes.fromhex(answer["content"]) == signed_content(signed.ext_fields or {}, command.body)


@pytest.mark.parametrize("algorithm", SigningAlgorithm)
def test_java_signs_bytes_the_same(java: Oracle, algorithm: SigningAlgorithm) -> None:
    key = "k"
    question = {"hex": b"abc".hex(), "secret_key": key, "algorithm": algorithm.value}
    answer = java.find("sign_bytes", **question)

    assert answer["signature"] == signature_of(b"abc", key, algorithm=algorithm)
