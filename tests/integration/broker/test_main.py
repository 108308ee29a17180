"""The commands ``rocketwire`` and ``rocketwire-broker`` as processes."""

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.peers import raw_call
from tests.peers.dev_cluster import PROGRAM, DevBroker
from tests.peers.processes import LOOPBACK, Child

pytestmark = pytest.mark.process

ANY_PORTS = ("--port", "0", "--broker-port", "0", "--status-port", "0")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_is_ready_when_it_prints_so_and_ends_at_a_signal(tmp_path: Path, number: int) -> None:
    (tmp_path / "topics.toml").write_text("[topics.orders]\nqueues = 2\n")
    child = Child("dev", [*PROGRAM, "dev", *ANY_PORTS, "--topics", "topics.toml"], tmp_path)
    child.wait_until(lambda: "ready: " in child.output, "ready")
    ready = re.fullmatch(
        r"status page: http://127\.0\.0\.1:\d+/\n"
        r"ready: name server 127\.0\.0\.1:(\d+), broker broker-a at (127\.0\.0\.1:\d+)\n",
        child.output,
    )

    assert ready is not None, child.output
    assert raw_call.brokers(int(ready[1])) == {ready[2]}
    assert raw_call.routes_to(int(ready[1]), "orders", ready[2])
    broker_port = ready[2].rpartition(":")[2]
    ports = ("--port", ready[1], "--broker-port", broker_port, "--status-port", "0")
    with socket.create_connection((LOOPBACK, int(broker_port))):
        child.signal(number)  # a script starts the next one at once
        second = Child("second", [*PROGRAM, "dev", *ports], tmp_path)
        assert child.process.wait(60) == 128 + number
        second.wait_until(lambda: "ready: " in second.output, "ready again")
    second.stop()


def test_a_broker_alone_joins_another_cluster(tmp_path: Path) -> None:
    with (
        DevBroker(tmp_path / "a") as first,
        DevBroker(tmp_path / "b", [f"{LOOPBACK}:{first.name_server_port}"], name="b") as second,
    ):
        addresses = raw_call.brokers(first.name_server_port)

    assert addresses == {first.address, second.address}


def test_several_brokers_run_in_one_process(tmp_path: Path) -> None:
    child = Child("dev", [*PROGRAM, "dev", *ANY_PORTS, "--brokers", "x,y"], tmp_path)
    child.wait_until(lambda: "broker y at " in child.output, "ready")
    ready = re.findall(r"ready: name server \S+:(\d+), broker (\S) at (\S+)", child.output)

    assert [name for _, name, _ in ready] == ["x", "y"]
    assert raw_call.brokers(int(ready[0][0])) == {address for _, _, address in ready}
    child.stop()


def test_a_text_of_others_changes_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "store/commitlog").mkdir(parents=True)
    (tmp_path / "store/commitlog/x\n\x1b[2J").touch()
    arguments = ["broker", "--store", "store", *ANY_PORTS[2:]]
    child = Child("broker", [*PROGRAM, *arguments], tmp_path)
    child.wait_until(lambda: "ready: " in child.output, "ready")
    child.stop()

    assert "/x\\x0a\\x1b[2J is not a file of the commit log, it is ignored\n" in child.output


def test_a_port_in_use_ends_the_start_with_a_reason() -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        ended = run("dev", "--port", "0", "--broker-port", str(taken.getsockname()[1]))

    assert ended.returncode == 255
    assert "the broker cannot start: Failed to bind to 127.0.0.1:" in ended.stderr
    assert ended.stderr.endswith("; stop the program that listens there, or choose another port\n")


def test_wrong_settings_end_the_start_with_a_reason(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("listenPort=x\n")

    topics, accounts = tmp_path / "topics.toml", tmp_path / "plain_acl.yml"
    topics.write_text("topics = 5\n")
    accounts.write_text("accounts: [\n")

    for arguments, reason in (
        (("-c", str(conf)), f"{conf}: listenPort=x: must be a whole number"),
        (("-c", "missing"), "missing: no such file or directory"),
        (("--delay-levels", "1x"), "messageDelayLevel: '1x'"),
        (("--topics", str(topics)), f"{topics}: topics: must be a table"),
        (
            ("--accounts", str(accounts), "--broker-port", "0"),
            f"{accounts}: expected the node content",
        ),
        (("--store", str(conf)), f"{conf}: file exists"),
    ):
        ended = run("broker", *arguments, "--status-port", "-1")
        assert ended.returncode == 255
        assert ended.stderr.startswith(f"the broker cannot start: {reason}")
        assert ended.stderr.count("\n") == 1
    assert run().returncode == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("aclEnable=true\n", "name a file of accounts"),
        ("rocketwire.accountsFile=missing.toml\n", "missing.toml"),
        ("tls.test.mode.enable=false\n", "tls.server.certPath"),
    ],
)
def test_missing_accounts_and_certificates_end_the_start(
    tmp_path: Path, text: str, reason: str
) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text(f"listenPort=0\n{text}")
    ended = run("broker", "-c", str(conf), "--status-port", "-1")

    assert ended.returncode == 255
    assert ended.stderr.startswith("the broker cannot start: ")
    assert reason in ended.stderr


def test_properties_without_an_effect_are_named(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("sendMessageThreadPoolNums=16\nbrokerRole=SYNC_MASTER\n")
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = run("broker", "-c", str(conf), "--broker-port", port, "--status-port", "-1")

    assert f"warning: {conf}: no effect here: sendMessageThreadPoolNums\n" in ended.stderr


def test_a_folder_in_use_ends_the_start_with_a_reason(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with DevBroker(tmp_path, options={"storePathRootDir": store}):
        ended = run("dev", "--port", "0", "--broker-port", "0", "--store", str(store))

    assert ended.returncode == 255
    assert f"the broker cannot start: another broker uses the store in {store}" in ended.stderr


def test_help_is_there() -> None:
    text = subprocess.run(
        [sys.executable, "-c", "from rocketwire_broker.__main__ import broker; broker(['-h'])"],
        capture_output=True, text=True, timeout=120, check=True,
    ).stdout  # fmt: skip

    assert "usage: rocketwire-broker" in text
    assert "--namesrvAddr" in text
