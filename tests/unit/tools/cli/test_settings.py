import argparse
import re
import ssl
from pathlib import Path

import pytest

from rocketwire_tools.cli.command import Context, UsageError
from rocketwire_tools.cli.settings import add_settings, context_of
from tests.support.builders.certificates import authority
from tests.support.values import require

OPENS = "sesame"


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


def test_defaults_name_no_server() -> None:
    config = context().config

    assert () == config.namesrv_addr
    assert config.credentials is None
    assert config.tls is None


def test_option_precedes_environment_and_profile(profiles: Path) -> None:
    file = str(profiles)

    assert ("default:1",) == context("--profile-file", file).config.namesrv_addr
    settings = {"ROCKETWIRE_PROFILE_FILE": file, "NAMESRV_ADDR": "env:1"}
    assert ("env:1",) == context(**settings).config.namesrv_addr
    assert ("own:1",) == context(**settings, ROCKETWIRE_NAMESRV_ADDR="own:1").config.namesrv_addr
    assert ("option:1",) == context("-n", "option:1", **settings).config.namesrv_addr
    assert "a=b" == context(ROCKETWIRE_ADDRESS_MAP="a=b").config.address_remap


def test_a_profile_has_every_setting(profiles: Path) -> None:
    result = context("--profile", "prod", ROCKETWIRE_PROFILE_FILE=str(profiles))

    config = result.config
    assert ("prod:1", "prod:2") == config.namesrv_addr
    credentials = require(config.credentials)
    assert ("who", "what") == (credentials.access_key, credentials.secret_key)
    assert config.tls is not None
    assert 7 == result.request_timeout == config.mq_client_api_timeout == config.connect_timeout


@pytest.mark.parametrize(
    ("options", "environment", "text"),
    [
        (["--profile", "none"], {}, "no profile none in"),
        (["--profile", "wrong"], {}, "unknown setting namesrv"),
        (["--profile", "half"], {}, "secret-key is missing"),
        (["--secret-key", "x"], {}, "access-key is missing"),
        (["--ca", "nofile.pem"], {}, "ca: nofile.pem: No such file"),
        (["--key-file", "key.pem"], {}, "key-file is set without cert"),
        (["-n", "nohost"], {}, "nohost"),
        (["--address-map", "a"], {}, "address-map: expected "),
        ([], {"ROCKETWIRE_TLS": "perhaps"}, "ROCKETWIRE_TLS: must be true or false"),
        ([], {"ROCKETWIRE_REQUEST_TIMEOUT": "soon"}, "ROCKETWIRE_REQUEST_TIMEOUT"),
        ([], {"ROCKETWIRE_PROFILE_FILE": "nofile.toml"}, "nofile.toml"),
    ],
)
def test_invalid_setting(
    profiles: Path, options: list[str], environment: dict[str, str], text: str
) -> None:
    environment = {"ROCKETWIRE_PROFILE_FILE": str(profiles)} | environment

    with pytest.raises(UsageError, match=re.escape(text)):
        context(*options, **environment)


def test_certificates_are_checked_by_default() -> None:
    assert ssl.CERT_REQUIRED == require(context("--tls").config.tls).verify_mode
    assert ssl.CERT_NONE == require(context("--insecure").config.tls).verify_mode


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("[default", "admin.toml: "),
        ('namesrv-addr = "x:1"', "namesrv-addr is outside of a profile"),
        ('[default]\nsecret-key = "hush-hush', "admin.toml: "),
        ('[default]\nsecret-key = ["hush-hush"]', "secret-key of the profile: must be a string"),
        (
            '[default]\naccess-key = "a"\nsecret_key = "hush-hush"',
            "unknown setting secret_key; did you mean secret-key?",
        ),
        ('[default]\nsecret-key = "hush-hush"', "access-key is missing"),
    ],
)
def test_error_of_a_profile_has_no_secret(tmp_path: Path, content: str, text: str) -> None:
    path = tmp_path / "admin.toml"
    path.write_text(content)

    with pytest.raises(UsageError, match=re.escape(text)) as caught:
        context("--profile-file", str(path))
    assert "hush" not in str(caught.value)


def test_the_usual_file_of_profiles_is_read_and_need_not_be_there(tmp_path: Path) -> None:
    folder = tmp_path / "rocketwire"
    folder.mkdir()
    (folder / "admin.toml").write_text('[default]\nnamesrv-addr = "usual:1"\n')

    assert ("usual:1",) == context(XDG_CONFIG_HOME=str(tmp_path)).config.namesrv_addr
    assert () == context(XDG_CONFIG_HOME=str(folder)).config.namesrv_addr


def test_home_may_be_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A container may run with a user that it does not know."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", dict[int, object]().__getitem__)

    assert () == context(XDG_CONFIG_HOME="").config.namesrv_addr


def test_certificate_and_key_in_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cert, key = authority().issue("operator").write(tmp_path, "operator")
    both = tmp_path / "both.pem"
    both.write_bytes(Path(cert).read_bytes() + Path(key).read_bytes())

    assert context("--cert", cert, "--key-file", key).config.tls is not None
    assert context("--cert", str(both)).config.tls is not None
    monkeypatch.setenv("HOME", str(tmp_path))
    assert context(ROCKETWIRE_CERT="~/both.pem").config.tls is not None


def test_a_key_may_be_encrypted(tmp_path: Path) -> None:
    cert, key = authority().issue("operator").write(tmp_path, "operator", OPENS)
    words = ("--cert", cert, "--key-file", key)

    assert context(*words, ROCKETWIRE_KEY_PASSWORD=OPENS).config.tls is not None
    with pytest.raises(UsageError, match="key-password is missing"):
        context(*words)
    with pytest.raises(UsageError, match="key-password is wrong"):
        context(*words, "--key-password", "open barley")


def test_certificates_and_keys_that_are_none_are_named(tmp_path: Path) -> None:
    cert, key = authority().issue("operator").write(tmp_path, "operator")
    _, foreign_key = authority().issue("other").write(tmp_path, "other")
    store = tmp_path / "store.jks"
    store.write_bytes(b"\xfe\xed\xfe\xed")
    for words, text in (
        (("--ca", str(store)), "ca: no certificate (PEM) in"),
        (("--ca", str(tmp_path)), "ca: "),
        (("--cert", str(store)), "cert: no certificate (PEM) in"),
        (("--cert", cert), "cert (no key-file is set): no private key (PEM) in"),
        (("--cert", cert, "--key-file", str(store)), "key-file: no private key (PEM) in"),
        (("--cert", cert, "--key-file", foreign_key), "certificates: "),
        (("--cert", "none.pem", "--key-file", key), "cert: none.pem: No such file"),
    ):
        with pytest.raises(UsageError, match=f"^{re.escape(text)}"):
            context(*words)


def test_tls_of_a_profile_can_be_switched_off(profiles: Path) -> None:
    file = {"ROCKETWIRE_PROFILE_FILE": str(profiles)}

    assert context("--profile", "prod", "--no-tls", **file).config.tls is None
    assert context("--profile", "prod", **file, ROCKETWIRE_TLS="0").config.tls is None


def test_a_check_of_certificates_that_is_off_can_be_switched_on() -> None:
    tls = context("--no-insecure", "--tls", ROCKETWIRE_INSECURE="1").config.tls

    assert ssl.CERT_REQUIRED == require(tls).verify_mode
