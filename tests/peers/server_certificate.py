"""The certificate of all Java servers, pair once: each would make one of its own at its start."""

from datetime import UTC, datetime
from pathlib import Path

from rocketwire.serving.tls.certificates import make_self_signed
from tests.peers import cache as java_cache


def server_certificate() -> Path:
    """The folder with the certificate and the key of all servers: ``server.pem`` and ``server.key``.

    They are like those that a server of Java's makes itself in TLS test mode, which is the default.
    """

    def make(folder: Path) -> None:
        pair = make_self_signed(datetime.now(UTC))
        (folder / "server.pem").write_bytes(pair.certificate)
        (folder / "server.key").write_bytes(pair.key)

    return java_cache.build_once(java_cache.cache_folder() / "certificate", make)


def with_certificate() -> list[str]:
    """JVM options of a server that speaks TLS as by default, but makes no certificate at its start.

    To make one it loads 900 classes of Bouncy Castle and looks for a large prime number: 1 to 2 s
    of CPU time, which is a third of a broker's start.
    """
    folder = server_certificate()
    return [
        "-Dtls.test.mode.enable=false",
        f"-Dtls.server.certPath={folder / 'server.pem'}",
        f"-Dtls.server.keyPath={folder / 'server.key'}",
        "-Dtls.server.need.client.auth=optional",  # as in test mode
    ]
