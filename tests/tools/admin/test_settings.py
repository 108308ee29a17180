from __future__ import annotations

import argparse
import ssl
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.admin.command import Context, UsageError
from rocketwire_tools.admin.connecting import context_of
from rocketwire_tools.admin.settings import add_settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    path = tmp_path / "admin.toml"
    path.write_text(
        """
[default]
namesrv-addr = "default:1"
[prod]
namesrv-addr = "prod:1;prod:2"
access-key = "who"
secret-key = "what"
tls = true
request-timeout = 7
[wrong]
namesrv = "x:1"
[half]
access-key = "who"
""",
        "utf-8",
    )
    return path


def context(*options: str, **environment: str) -> Context:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_settings(parser)
    environment.setdefault("XDG_CONFIG_HOME", "nowhere")
    return context_of(parser.parse_args(options), environment)


def test_without_any_setting_nobody_is_connected_to() -> None:
    config = context().config

    assert () == config.namesrv_addr
    assert config.credentials is None
    assert config.tls is None


def test_an_option_counts_before_the_environment_and_that_before_the_profile(
    profiles: Path,
) -> None:
    file = str(profiles)

    assert ("default:1",) == context("--profile-file", file).config.namesrv_addr
    told = {"ROCKETWIRE_PROFILE_FILE": file, "NAMESRV_ADDR": "env:1"}
    assert ("env:1",) == context(**told).config.namesrv_addr
    assert ("own:1",) == context(**told, ROCKETWIRE_NAMESRV_ADDR="own:1").config.namesrv_addr
    assert ("option:1",) == context("-n", "option:1", **told).config.namesrv_addr


def test_a_profile_has_every_setting(profiles: Path) -> None:
    made = context("--profile", "prod", ROCKETWIRE_PROFILE_FILE=str(profiles))

    assert ("prod:1", "prod:2") == made.config.namesrv_addr
    assert made.config.credentials is not None
    assert ("who", "what") == (
        made.config.credentials.access_key,
        made.config.credentials.secret_key,
    )
    assert made.config.tls is not None
    assert 7 == made.request_timeout == made.config.mq_client_api_timeout
    assert 7 == made.config.connect_timeout


@pytest.mark.parametrize(
    ("options", "environment", "said"),
    [
        (["--profile", "none"], {}, "there is no profile none"),
        (["--profile", "wrong"], {}, "no setting is called namesrv"),
        (["--profile", "half"], {}, "secret-key is missing"),
        (["--secret-key", "x"], {}, "access-key is missing"),
        (["--ca", "nofile.pem"], {}, "there is no file nofile.pem"),
        (["-n", "nohost"], {}, "nohost"),
        ([], {"ROCKETWIRE_TLS": "perhaps"}, "ROCKETWIRE_TLS is neither true nor false"),
        ([], {"ROCKETWIRE_REQUEST_TIMEOUT": "soon"}, "ROCKETWIRE_REQUEST_TIMEOUT"),
        ([], {"ROCKETWIRE_PROFILE_FILE": "nofile.toml"}, "nofile.toml"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(
    profiles: Path, options: list[str], environment: dict[str, str], said: str
) -> None:
    environment = {"ROCKETWIRE_PROFILE_FILE": str(profiles)} | environment

    with pytest.raises(UsageError) as caught:
        context(*options, **environment)

    assert said in str(caught.value)


def test_certificates_are_checked_unless_told_otherwise() -> None:
    checked, believed = context("--tls").config.tls, context("--insecure").config.tls

    assert checked is not None
    assert ssl.CERT_REQUIRED == checked.verify_mode
    assert believed is not None
    assert ssl.CERT_NONE == believed.verify_mode


def test_tls_of_a_profile_can_be_switched_off(profiles: Path) -> None:
    file = {"ROCKETWIRE_PROFILE_FILE": str(profiles)}

    assert context("--profile", "prod", "--no-tls", **file).config.tls is None
    assert context("--profile", "prod", **file, ROCKETWIRE_TLS="0").config.tls is None
