"""Compare ACL signatures with Java's ``AclClientRPCHook`` and ``AclSigner``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.signing import SigningAlgorithm, sign, signature_of, signed_content
from rocketwire.wire.command import RemotingCommand
from tests.fuzz.trials import Outcome, Trial, javas, ours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fuzz.chance import Chance
    from tests.peers.oracle import Oracle

ROUND = 2000


def _content(fields: dict[str, str | None], body: bytes) -> str:
    return signed_content(fields, body).hex()


def _signature(data: bytes, key: str, algorithm: SigningAlgorithm) -> str:
    return signature_of(data, key, algorithm=algorithm)


class Signatures:
    """Signatures of commands as a client makes them, of any bytes, and the text that a server signs again."""

    name = "signature"

    def trials(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]:
        """One third each."""
        for start in range(0, count, ROUND):
            size = min(ROUND, count - start)
            third = size // 3
            yield from self._commands(chance, oracle, size - 2 * third)
            yield from self._contents(chance, oracle, third)
            yield from self._bytes(chance, oracle, third)

    def _commands(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]:
        cases = [
            {
                "ext": chance.maybe(lambda: chance.texts(halves=True)),
                "body": chance.data().hex() or None,
                "access_key": chance.text(),
                "secret_key": chance.text(halves=True),
                "security_token": chance.maybe(chance.text),
            }
            for _ in range(count)
        ]
        for case, answer in zip(
            cases, oracle.ask_all({"op": "sign", **case} for case in cases), strict=True
        ):

            def signed(case: dict[str, Outcome] = case) -> Outcome:
                body = None if case["body"] is None else bytes.fromhex(case["body"])
                command = RemotingCommand(code=0, ext_fields=case["ext"], body=body)
                made = sign(command, case["access_key"], case["secret_key"], case["security_token"])
                return dict(made.ext_fields or {})

            yield Trial(
                kind="sign a command",
                data=repr(case).encode(),
                java=javas(answer, "ext"),
                ours=ours(signed),
            )

    def _contents(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]:
        cases = [(self._fields(chance), chance.data()) for _ in range(count)]
        questions = (
            {"op": "verify_content", "ext": ext, "body": body.hex() or None} for ext, body in cases
        )
        for (ext, body), answer in zip(cases, oracle.ask_all(questions), strict=True):
            our = ours(_content, ext, body)
            data = repr((ext, body)).encode()
            yield Trial(
                kind="content to verify", data=data, java=javas(answer, "content"), ours=our
            )

    def _fields(self, chance: Chance) -> dict[str, str | None]:
        fields: dict[str, str | None] = dict(chance.texts(8, halves=True))
        for name in (
            "Signature",
            "AccessKey",
            "SecurityToken",
            "_UNIQUE_KEY_QUERY",
            "a",
            "Z",
            "\uffff",
            "🚀",
        ):
            if chance.one_in(3):
                fields[name] = chance.maybe(chance.text)
        return fields

    def _bytes(self, chance: Chance, oracle: Oracle, count: int) -> Iterator[Trial]:
        algorithms = list(SigningAlgorithm)
        cases = [
            (chance.data(100), chance.text(halves=True), chance.choice(algorithms))
            for _ in range(count)
        ]
        questions = (
            {"op": "sign_bytes", "hex": data.hex(), "secret_key": key, "algorithm": algorithm.value}
            for data, key, algorithm in cases
        )
        for (data, key, algorithm), answer in zip(cases, oracle.ask_all(questions), strict=True):
            our = ours(_signature, data, key, algorithm)
            yield Trial(
                kind="sign bytes",
                data=data,
                java=javas(answer, "signature"),
                ours=our,
                about=repr(key),
            )
