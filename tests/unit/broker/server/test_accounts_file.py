"""The file of accounts at the start, and after a change."""

import sys
from pathlib import Path

import pytest
import trio

from rocketwire.codes import RequestCode
from rocketwire.errors import IllegalValueError
from rocketwire.signing import sign
from rocketwire.wire.command import RemotingCommand
from rocketwire_broker.access.access import Access
from rocketwire_broker.config import Config
from rocketwire_broker.handlers.requests import needs_of
from rocketwire_broker.server.accounts_file import load_access, watch_accounts
from rocketwire_broker.state.broker import Broker

TOML = '[[accounts]]\naccessKey = "{}"\nsecretKey = "secret"\n'
YAML = "accounts:\n- accessKey: rocket\n  secretKey: secret\n"
USER = '{"username":"rocket","password":"secret"}'


def admits(access: Access | None, key: str, code: int = RequestCode.HEART_BEAT) -> bool:
    request = sign(RemotingCommand(code=code, opaque=1), key, "secret")
    return access is None or access.refusal(request, "127.0.0.1", needs_of(request, "c")) is None


def test_without_accounts_every_request_may_be_sent() -> None:
    assert load_access(Config()) is None


def load_text(folder: Path, name: str, text: str) -> Access | None:
    (folder / name).write_text(text)
    return load_access(Config(accounts_file=str(folder / name)))


@pytest.mark.parametrize(
    ("name", "text"), [("a.toml", TOML.format("rocket")), ("a.yml", YAML), ("a.yaml", YAML)]
)
def test_a_file_has_a_form_by_its_name(tmp_path: Path, name: str, text: str) -> None:
    access = load_text(tmp_path, name, text)

    assert (admits(access, "rocket"), admits(access, "x")) == (True, False)


@pytest.mark.parametrize(
    ("name", "text"), [("a.toml", "x"), ("a.toml", "a = 1"), ("a.yml", "a: ["), ("a.yml", "1")]
)
def test_an_error_names_the_file(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(IllegalValueError, match=name):
        load_text(tmp_path, name, text)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)

    with pytest.raises(IllegalValueError, match=r"rocketwire\[acl\]"):
        load_text(tmp_path, "a.yml", YAML)


def test_the_initial_user_is_an_administrator() -> None:
    access = load_access(Config(initial_user=USER, access_required=True))

    assert admits(access, "rocket", RequestCode.UPDATE_BROKER_CONFIG)


@pytest.mark.parametrize(
    "line",
    [
        'secretKey: "TopSecret',
        "secretKey: *TopSecret",
        "secretKey: !TopSecret x",
        "secretKey: [TopSecret",
        "{secretKey:TopSecret}",
    ],
)
def test_secret_in_broken_yaml_is_not_shown(line: str, tmp_path: Path) -> None:
    with pytest.raises(IllegalValueError, match=r"accounts\.yml: ") as caught:
        load_text(tmp_path, "accounts.yml", f"accounts:\n- {line}\n")
    assert "TopSecret" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["1", "{}", '{"username":"a"}', '{"password":"TopSecret"}', '"TopSecret', '["TopSecret"]'],
)
def test_secret_of_a_broken_initial_user_is_not_shown(text: str) -> None:
    reason = "initAuthenticationUser.*must be JSON with username and"
    with pytest.raises(IllegalValueError, match=reason) as caught:
        load_access(Config(initial_user=text))
    assert "TopSecret" not in str(caught.value)


def test_access_control_without_accounts_is_an_error() -> None:
    with pytest.raises(IllegalValueError, match="name a file of accounts"):
        load_access(Config(access_required=True))


async def test_a_changed_file_is_used_unless_it_is_bad(
    tmp_path: Path,
    nursery: trio.Nursery,
    autojump_clock: trio.abc.Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    file = tmp_path / "accounts.toml"
    file.write_text(TOML.format("one"))
    broker = Broker(Config(accounts_file=str(file)), 0)
    broker.access = load_access(broker.config)
    nursery.start_soon(watch_accounts, broker)
    await trio.testing.wait_all_tasks_blocked()

    file.write_text("bad and longer")
    await trio.sleep(2)
    assert (admits(broker.access, "one"), admits(broker.access, "longer")) == (True, False)
    assert "the accounts of before stay in use" in caplog.text

    file.write_text(TOML.format("longer"))
    await trio.sleep(2)
    assert (admits(broker.access, "one"), admits(broker.access, "longer")) == (False, True)
