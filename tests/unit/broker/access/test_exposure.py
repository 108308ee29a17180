"""Warnings if other machines may use the broker without an account."""

import pytest

from rocketwire.serving.tls.settings import TlsSettings
from rocketwire_broker.access.access import find_exposure
from rocketwire_broker.config import Config

CERTIFICATES = TlsSettings(
    server_mode="enforcing", test_mode=False, auth_client=True, need_client_auth="require"
)


@pytest.mark.parametrize(
    ("config", "address", "has_accounts", "is_exposed"),
    [
        (Config(), "0.0.0.0", False, True),
        (Config(), "::", False, True),
        (Config(), "192.0.2.1", False, True),
        (Config(tls=TlsSettings(server_mode="enforcing")), "0.0.0.0", False, True),
        (Config(tls=CERTIFICATES), "0.0.0.0", False, False),
        (Config(), "0.0.0.0", True, False),
        (Config(), "127.0.0.1", False, False),
        (Config(), "::1", False, False),
    ],
)
def test_exposed_broker(config: Config, address: str, has_accounts: bool, is_exposed: bool) -> None:
    events = find_exposure(config, address, has_accounts=has_accounts)

    assert [event.text.split(" can ")[0] for event in events] == [
        "any host that reaches 127.0.0.1:10911"
    ] * is_exposed
