"""Settings from environment variables."""

from __future__ import annotations

import pytest

from rocketwire.client import ClientConfig, Credentials
from rocketwire.errors import IllegalValueError


def test_variables_are_read_by_the_type_of_their_setting() -> None:
    config = ClientConfig.from_env(
        {
            "NAMESRV_ADDR": "a:1;b:2",
            "ROCKETWIRE_UNIT_NAME": "u",
            "ROCKETWIRE_VIP_CHANNEL_ENABLED": "TRUE",
            "ROCKETWIRE_VERSION": "401",
            "ROCKETWIRE_MQ_CLIENT_API_TIMEOUT": "1.5",
            "ROCKETWIRE_CLIENT_IP": "",
        }
    )

    assert config == ClientConfig(
        namesrv_addr="a:1;b:2",
        unit_name="u",
        vip_channel_enabled=True,
        version=401,
        mq_client_api_timeout=1.5,
    )


def test_credentials_are_read() -> None:
    variables = {"ROCKETWIRE_ACCESS_KEY": "a", "ROCKETWIRE_SECRET_KEY": "s"}

    assert ClientConfig.from_env(variables).credentials == Credentials("a", "s")
    variables["ROCKETWIRE_SECURITY_TOKEN"] = "t"
    assert ClientConfig.from_env(variables).credentials == Credentials("a", "s", "t")


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("ROCKETWIRE_UNIT_MODE", "yes", "expected true or false, got 'yes'"),
        ("ROCKETWIRE_VERSION", "new", "expected a whole number, got 'new'"),
        ("ROCKETWIRE_CONNECT_TIMEOUT", "1s", "expected a number, got '1s'"),
    ],
)
def test_an_invalid_value_is_rejected_with_the_name_of_its_variable(
    variable: str, text: str, expected: str
) -> None:
    with pytest.raises(IllegalValueError, match=f"{variable}: {expected}"):
        ClientConfig.from_env({variable: text})


def test_an_invalid_setting_is_rejected() -> None:
    with pytest.raises(IllegalValueError, match="connect_timeout"):
        ClientConfig.from_env({"ROCKETWIRE_CONNECT_TIMEOUT": "-1"})
