"""TLS settings have the sources and meanings of Java's."""

import pytest

from rocketwire.serving.tls.settings import ClientAuth, TlsMode, TlsSettings
from rocketwire_namesrv.config.config import Config


def test_by_default_tls_is_permissive_with_a_certificate_of_our_own_making() -> None:
    settings = TlsSettings.load({})

    assert settings.mode is TlsMode.PERMISSIVE
    assert settings.test_mode
    assert settings.config_file == "/etc/rocketmq/tls.properties"
    assert settings.client_auth is ClientAuth.NONE
    assert settings.remarks == ()


def test_a_configuration_made_by_a_program_reads_no_file() -> None:
    assert Config().tls == TlsSettings()
    assert Config().tls.config_file == ""


@pytest.mark.parametrize("mode", TlsMode)
def test_the_mode_is_a_system_property(mode: TlsMode) -> None:
    options = f"-Dtls.server.mode={mode.value}"

    assert Config.load(home="", environment={"JAVA_OPT_EXT": options}).tls.mode is mode


@pytest.mark.parametrize("text", ["Enforcing", "ENFORCING", "", "off"])
def test_another_mode_is_permissive_with_a_remark(text: str) -> None:
    settings = TlsSettings.load({"tls.server.mode": text})

    assert settings.mode is TlsMode.PERMISSIVE
    assert settings.remarks == (f"tls.server.mode={text!r} is no mode, permissive is taken",)


def test_later_sources_win() -> None:
    system = {
        "tls.test.mode.enable": "false",
        "tls.server.certPath": "1",
        "tls.server.keyPath": "1",
        "tls.server.keyPassword": "1",
        "tls.client.authServer": "TRUE",
    }
    entries = {"tls.server.certPath": "2", "tls.server.keyPath": "2"}

    settings = TlsSettings.load(system, entries).over({"tls.server.keyPath": "3"})

    assert settings == TlsSettings(
        config_file="/etc/rocketmq/tls.properties",
        test_mode=False,
        cert_path="2",
        key_path="3",
        key_password="1",
        auth_server=True,
    )


@pytest.mark.parametrize(
    ("text", "expected"), [("true", True), ("True", True), ("true ", False), ("1", False)]
)
def test_a_switch_is_on_only_for_the_word(text: str, expected: bool) -> None:
    assert TlsSettings.load({"tls.server.authClient": text}).auth_client is expected


@pytest.mark.parametrize("key", ["tls.server.mode", "tls.config.file"])
def test_a_setting_where_java_does_not_look_earns_a_remark_alone(key: str) -> None:
    settings = TlsSettings.load({}, {key: "enforcing"})

    assert settings.mode is TlsMode.PERMISSIVE
    assert settings.config_file == "/etc/rocketmq/tls.properties"
    assert settings.remarks == (f"{key} counts as a system property only (-D{key}=...)",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ClientAuth.NONE),
        ("none", ClientAuth.NONE),
        ("OPTIONAL", ClientAuth.OPTIONAL),
        ("Require", ClientAuth.REQUIRE),
    ],
)
def test_client_authentication_is_written_in_any_case(text: str, expected: ClientAuth) -> None:
    settings = TlsSettings(test_mode=False, auth_client=True, need_client_auth=text)

    assert settings.client_auth is expected
    assert settings.remarks == ()


def test_another_client_authentication_is_none_with_a_remark() -> None:
    settings = TlsSettings(test_mode=False, auth_client=True, need_client_auth="required")

    assert settings.client_auth is ClientAuth.NONE
    (remark,) = settings.remarks
    assert "'required' is none of none, optional, require" in remark


def test_unverified_certificates_are_not_requested() -> None:
    settings = TlsSettings(test_mode=False, need_client_auth="require")

    assert settings.client_auth is ClientAuth.NONE
    assert settings.remarks == (
        "no client is asked for a certificate, because any would do: tls.server.authClient is"
        " false",
    )


def test_in_test_mode_and_without_tls_nothing_is_remarked() -> None:
    assert TlsSettings(need_client_auth="required", ciphers="TLS_X").remarks == ()
    assert TlsSettings(server_mode="disabled", misplaced=("tls.server.mode",)).remarks == ()


def test_no_request_changes_them() -> None:
    entries = {"tls.server.certPath": "mine.pem"}
    config = Config.load(entries, home="")

    changed = config.update({"tls.server.certPath": "yours.pem"})

    assert changed.tls.cert_path == "mine.pem"
    assert changed.flat()["tls.server.certPath"] == "mine.pem"


@pytest.mark.parametrize("key", ["tls.server.keyPassword", "tls.client.keyPassword"])
def test_password_is_in_the_file_only(key: str) -> None:
    config = Config.load({key: "open sesame"}, home="")

    assert "open sesame" not in config.text()
    assert "open sesame" not in repr(config.tls)
    assert b"open sesame" in config.to_properties()
