"""Cipher suites by Java's names; ``tests/java/oracle/test_platform.py`` compares all of them with Java's own numbers."""

import ssl
from collections.abc import Sequence

import pytest
import trio
from trio.testing import memory_stream_pair

from rocketwire.serving.tls import ciphers
from rocketwire.serving.tls.certificates import TlsError, make_client_context, make_server_context
from rocketwire.serving.tls.ciphers import TLS_1_3, CipherChoice, choose, openssl_name, restrict
from rocketwire.serving.tls.settings import TlsSettings
from rocketwire.serving.tls.stream import TlsStream

OLDER = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
ALL_NEWER = ",".join(sorted(TLS_1_3))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
        ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
        ("TLS_DHE_RSA_WITH_AES_128_CBC_SHA256", "DHE-RSA-AES128-SHA256"),
        ("TLS_DHE_DSS_WITH_AES_256_CBC_SHA", "DHE-DSS-AES256-SHA"),
        ("TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"),
        ("SSL_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"),
        ("TLS_ECDHE_ECDSA_WITH_AES_128_CCM", "ECDHE-ECDSA-AES128-CCM"),
        ("TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8", "ECDHE-ECDSA-AES128-CCM8"),
        ("TLS_ECDHE_RSA_WITH_ARIA_128_GCM_SHA256", "ECDHE-ARIA128-GCM-SHA256"),
        ("TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"),
        ("ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
        ("SSL_RSA_WITH_3DES_EDE_CBC_SHA", "SSL_RSA_WITH_3DES_EDE_CBC_SHA"),
        ("TLS_ECDH_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDH_RSA_WITH_AES_128_CBC_SHA"),
    ],
)
def test_a_name_of_javas_has_one_of_openssls(name: str, expected: str) -> None:
    assert openssl_name(name) == expected


def test_known_ciphers_are_sorted_by_version() -> None:
    choice = choose(f"{OLDER}, TLS_AES_128_GCM_SHA256,,{OLDER},TLS_X,ALL,aNULL")

    assert choice == CipherChoice(
        older=("ECDHE-RSA-AES128-GCM-SHA256",),
        newer=("TLS_AES_128_GCM_SHA256",),
        unknown=("TLS_X", "ALL", "aNULL"),
    )


def test_remarks_on_a_list() -> None:
    remarks = choose("TLS_AES_128_GCM_SHA256,TLS_X").remarks

    assert remarks[0] == "tls.ciphers contains unknown names: TLS_X"
    assert remarks[1].startswith("TLS 1.3 is not spoken")
    assert choose(f"{ALL_NEWER},{OLDER}").remarks == ()


async def negotiate(names: str, client: ssl.SSLContext | None = None) -> tuple[str, str]:
    """Version and suite between a server in test mode and a client that takes anything."""
    if client is None:
        client = make_client_context(TlsSettings())
    ours, theirs = memory_stream_pair()
    stream = trio.SSLStream(ours, client)
    server = TlsStream(theirs, make_server_context(TlsSettings(ciphers=names)))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.do_handshake)
        await stream.do_handshake()
    suite, version, _ = stream.cipher()
    return version, suite


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (OLDER, ("TLSv1.2", "ECDHE-RSA-AES128-GCM-SHA256")),
        (ALL_NEWER, ("TLSv1.3", "TLS_AES_256_GCM_SHA384")),
        (f"{OLDER},{ALL_NEWER}", ("TLSv1.3", "TLS_AES_256_GCM_SHA384")),
        (f"TLS_AES_128_GCM_SHA256,{OLDER}", ("TLSv1.2", "ECDHE-RSA-AES128-GCM-SHA256")),
    ],
)
async def test_only_named_suites_are_negotiated(names: str, expected: tuple[str, str]) -> None:
    can_choose = hasattr(ssl.SSLContext, "set_ciphersuites")
    if can_choose and expected[0] == "TLSv1.2" and "TLS_AES" in names:
        pytest.skip("this Python can choose among the suites of TLS 1.3")
    version, suite = await negotiate(names)

    assert suite == expected[1]
    assert (version == "TLSv1.3") == (expected[0] == "TLSv1.3")


@pytest.mark.parametrize(
    "settings",
    [
        TlsSettings(ciphers="TLS_X"),
        TlsSettings(ciphers=OLDER, protocols="TLSv1.3"),
        TlsSettings(ciphers=ALL_NEWER, protocols="TLSv1.2"),
    ],
)
def test_a_list_that_leaves_nothing_is_no_certificate(settings: TlsSettings) -> None:
    with pytest.raises(TlsError, match=r"tls\.ciphers"):
        make_server_context(settings)


def test_a_python_that_can_choose_among_the_new_suites_does() -> None:
    suites: list[str] = []

    class Context(ssl.SSLContext):
        def set_ciphersuites(self, names: str) -> None:
            suites.append(names)

    context = Context(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.maximum_version = ssl.TLSVersion.TLSv1_3
    restrict(context, choose("TLS_AES_128_GCM_SHA256"))

    assert suites == ["TLS_AES_128_GCM_SHA256"]
    assert context.minimum_version == ssl.TLSVersion.TLSv1_3


def test_there_are_no_suites_without_encryption_or_certificate() -> None:
    names: Sequence[str] = sorted(ciphers._list_suites())  # pyright: ignore[reportPrivateUsage] - operators may name these

    assert [name for name in names if "NULL" in name or "ADH" in name or "PSK" in name] == []
