"""Options that reach a cluster, and the secrets that they do not show."""

import pickle
from pathlib import Path

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.connection import Connection

SERVERS = {"nameServers": "127.0.0.1:9876"}


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NAMESRV_ADDR", "ROCKETWIRE_ACCESS_KEY", "ROCKETWIRE_SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_it_travels_to_workers_and_skips_the_options_of_others() -> None:
    connection = Connection.from_options(
        {"nameservers": "a:1;b:2", "REQUESTTIMEOUT": "4", "subscribe": "orders"}
    )

    assert pickle.loads(pickle.dumps(connection)) == connection
    config = connection.client_config()
    assert config.namesrv_addr == "a:1;b:2"
    assert config.mq_client_api_timeout == 4
    assert config.credentials is None
    assert config.tls is None


@pytest.mark.parametrize(
    "text", ["accessKey=me\nsecretKey=a=b:c\n", "secretKey: 'a=b:c'\naccessKey: me"]
)
def test_file_has_the_credentials_and_no_value_shows_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys"
    path.write_text(f"# of the test\n{text}")

    connection = Connection.from_options({**SERVERS, "credentialsFile": str(path)})

    credentials = connection.client_config().credentials
    assert credentials is not None
    assert (credentials.access_key, credentials.secret_key) == ("me", "a=b:c")
    assert b"a=b:c" not in pickle.dumps(connection)
    assert "a=b:c" not in repr(connection)


def test_environment_has_the_credentials_without_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETWIRE_ACCESS_KEY", "me")
    connection = Connection.from_options(SERVERS)
    with pytest.raises(OptionError, match="ROCKETWIRE_SECRET_KEY is not set"):
        connection.client_config()

    monkeypatch.setenv("ROCKETWIRE_SECRET_KEY", "hidden")

    credentials = connection.client_config().credentials
    assert credentials is not None
    assert credentials.secret_key == "hidden"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "set option 'nameServers'"),
        ({"nameServers": "nowhere"}, "option 'nameServers': "),
        ({**SERVERS, "secretKey": "hidden"}, "'secretKey' would show a secret"),
        ({**SERVERS, "addressMap": "a"}, "option 'addressMap': expected "),
        ({**SERVERS, "tls": "yes"}, "'yes' is not one of true, false"),
        ({**SERVERS, "requestTimeout": "0"}, "'0' is not a number of seconds"),
        ({**SERVERS, "requestTimeout": "soon"}, "'soon' is not a number of seconds"),
        ({**SERVERS, "keyFile": "key.pem"}, "'keyFile' needs option 'certFile'"),
        ({**SERVERS, "caFile": "c", "keyPasswordFile": "p"}, "'keyPasswordFile' needs option"),
    ],
)
def test_invalid_options_are_refused_by_name(options: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message) as error:
        Connection.from_options(options)

    assert "hidden" not in str(error.value)


@pytest.mark.parametrize(
    ("option", "content", "message"),
    [
        ("credentialsFile", None, "No such file"),
        ("credentialsFile", b"\xff", "it is not UTF-8"),
        ("credentialsFile", b"accessKey=me", "no line 'secretKey=...'"),
        ("credentialsFile", b"", "no line 'accessKey=...'"),
        ("caFile", None, "No such file"),
        ("certFile", b"no certificate", "certificates .*file: "),
    ],
)
def test_file_that_is_missing_or_invalid_is_named(
    tmp_path: Path, option: str, content: bytes | None, message: str
) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    connection = Connection.from_options({**SERVERS, option: str(path)})

    with pytest.raises(OptionError, match=message):
        connection.client_config()


def test_names_have_the_namespace_where_brokers_read_them() -> None:
    connection = Connection.from_options({**SERVERS, "namespace": "shop"})

    assert (
        connection.name_at_broker("orders")
        == connection.name_at_broker("shop%orders")
        == "shop%orders"
    )
    assert connection.name_at_broker("%DLQ%bills") == "%DLQ%shop%bills"
    assert connection.name_at_broker("%LMQ%light") == "%LMQ%light"
    assert connection.strip_namespace("%DLQ%shop%bills") == "%DLQ%bills"
    assert connection.strip_namespace("other%orders") == "other%orders"
