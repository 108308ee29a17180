"""``rocketwire-admin`` with a Java broker that requires credentials and, over TLS, a client certificate."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from rocketwire_tools.admin.actions.export_documents import EXPORTED_KEYS
from tests.peers import cache as java_cache
from tests.peers.messages import unique
from tests.peers.peers import CURRENT, JavaBroker, JavaNameServer, JavaPeer
from tests.peers.processes import wait_until
from tests.peers.shared_peers import have_here
from tests.support.admin_in_process import Run
from tests.support.admin_in_process import run as run_here
from tests.support.admin_process import run
from tests.support.builders.certificates import authority
from tests.support.exporter_in_process import scrape

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


CLUSTER = "DefaultCluster"
AUTH = "org.apache.rocketmq.auth"
SECURED = {
    "maxMessageSize": 4 * 1024 * 1024,
    "autoCreateTopicEnable": "true",
    "autoCreateSubscriptionGroup": "true",
    "authenticationEnabled": "true",
    "authenticationProvider": f"{AUTH}.authentication.provider.DefaultAuthenticationProvider",
    "authenticationMetadataProvider": f"{AUTH}.authentication.provider.LocalAuthenticationMetadataProvider",
    "initAuthenticationUser": '{"username":"rocket","password":"wire1234"}',
    "innerClientAuthenticationCredentials": '{"accessKey":"rocket","secretKey":"wire1234"}',
    "authorizationEnabled": "true",
    "authorizationProvider": f"{AUTH}.authorization.provider.DefaultAuthorizationProvider",
    "authorizationMetadataProvider": f"{AUTH}.authorization.provider.LocalAuthorizationMetadataProvider",
}
LONG = ("--request-timeout", "120")
RIGHT = ("--access-key", "rocket", "--secret-key", "wire1234")
"""The one user that is there from the start, of type Super."""


class Secured(NamedTuple):
    """The running servers.

    Attributes:
        server: address of the name server.
        broker: address of the broker.
        peer: mqadmin with the right credentials.
        certificates: folder with ``ca.pem``, ``other.pem`` and the operator's ``operator.pem`` and
            ``operator.key``.
    """

    server: str
    broker: str
    peer: JavaPeer
    certificates: Path

    def ours(self, line: str, *options: str, **environment: str) -> Run:
        """An operator's command, in this process."""
        words = ("-n", self.server, *LONG, "--output", "json")
        return run_here(*line.split(), *words, *options, **environment)

    def rows(self, line: str) -> Any:
        """Return the output of such a command for the right user."""
        done = self.ours(line, *RIGHT)
        assert done.status == 0, done.complaint
        return json.loads(done.out)

    def java(self, line: str) -> list[list[str]]:
        """Words of the lines that mqadmin prints."""
        output = self.peer.admin(self.server, line)
        return [one.split() for one in output.out.splitlines()]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A name server and a broker that take TLS and plain connections; the broker wants a certificate with the first."""
    have_here(partial(java_cache.classes, CURRENT, "Peer.java"))
    folder = tmp_path_factory.mktemp("secured")
    ca = authority()
    (folder / "ca.pem").write_bytes(ca.certificate_pem)
    (folder / "other.pem").write_bytes(authority("another").certificate_pem)
    ca.issue("server").write(folder, "server")
    ca.issue("operator").write(folder, "operator")
    told = [
        "tls.test.mode.enable=false",
        f"tls.server.certPath={folder}/server.pem",
        f"tls.server.keyPath={folder}/server.key",
    ]
    wanted = [
        "tls.server.need.client.auth=require",
        "tls.server.authClient=true",
        f"tls.server.trustCertPath={folder}/ca.pem",
    ]
    (folder / "server.properties").write_text("\n".join(told))
    (folder / "broker.properties").write_text("\n".join(told + wanted))
    (folder / "peer" / "conf").mkdir(parents=True)
    (folder / "peer" / "conf" / "tools.yml").write_text("accessKey: rocket\nsecretKey: wire1234\n")
    with (
        JavaNameServer(folder / "ns", jvm=_tls(folder / "server.properties")) as server,
        JavaBroker(
            folder / "broker",
            [server.address],
            SECURED,
            jvm=["-XX:MaxDirectMemorySize=512m", *_tls(folder / "broker.properties")],
        ) as broker,
        JavaPeer(folder / "peer") as peer,
    ):
        broker.wait_registered(server.port)
        yield Secured(server.address, broker.address, peer, folder)


def _tls(file: Path) -> list[str]:
    return ["-Dtls.server.mode=permissive", f"-Dtls.config.file={file}"]


@pytest.mark.full
def test_a_broker_that_wants_credentials_is_not_called_unreachable(secured: Secured) -> None:
    done = secured.ours("doctor -q")
    refused = [row for row in json.loads(done.out) if row["kind"] == "broker"]
    assert [(row["id"], row["name"]) for row in refused] == [("broker-refused", "broker-a")]
    assert "--access-key" in refused[0]["advice"]
    assert all(row["kind"] != "broker" for row in rows_of(secured.ours("doctor -q", *RIGHT)))


def rows_of(done: Run) -> list[dict[str, Any]]:
    """The rows of a run that may have found something."""
    rows: list[dict[str, Any]] = json.loads(done.out)
    return rows


@pytest.mark.full
def test_users_are_told_as_by_mqadmin(secured: Secured) -> None:
    broker, name = secured.broker, unique("user")
    made = secured.rows(f"createUser -b {broker} -u {name} -p secret1 -t Normal")
    assert {one["setting"]: one["change"]["new"] for one in made} == {
        "username": name,
        "password": "(hidden)",
        "userType": "Normal",
    }
    expected = {
        "brokerAddr": broker,
        "username": name,
        "userType": "Normal",
        "userStatus": "enable",
    }
    assert secured.rows(f"getUser -b {broker} -u {name}") == [expected]
    assert [name, "secret1", "Normal", "enable"] in secured.java(f"getUser -b {broker} -u {name}")
    other = unique("user")
    secured.java(f"createUser -c {CLUSTER} -u {other} -p secret2 -t Super")
    found = {one["username"]: one["userType"] for one in secured.rows(f"listUser -c {CLUSTER}")}
    assert found.items() >= {"rocket": "Super", name: "Normal", other: "Super"}.items()
    assert [one["username"] for one in secured.rows(f"listUser -b {broker} -f {other}")] == [other]
    line = f"updateUser -c {CLUSTER} -u {name} -s disable"
    dry = secured.rows(f"{line} --dry-run")
    assert secured.rows(f"getUser -b {broker} -u {name}") == [expected]
    assert dry == secured.rows(line)
    assert [one["change"] for one in dry] == [{"old": "enable", "new": "disable"}]
    assert [name, "secret1", "Normal", "disable"] in secured.java(f"listUser -b {broker}")
    assert secured.rows(f"copyUser -f {broker} -t {broker} -u {name}") == []  # nothing differs
    secured.rows(f"deleteUser -b {broker} -u {name}")
    assert secured.ours(f"deleteUser -b {broker} -u {name}", *RIGHT).status == 1
    secured.rows(f"deleteUser -b {broker} -u {other}")
    gone = secured.ours(f"getUser -b {broker} -u {name}", *RIGHT)
    assert (gone.status, gone.out) == (1, "[]\n")
    left = {words[0] for words in secured.java(f"listUser -b {broker}") if words}
    assert "rocket" in left
    assert not {name, other} & left


@pytest.mark.full
def test_policies_are_told_as_by_mqadmin(secured: Secured) -> None:
    broker, name = secured.broker, unique("policy")
    who = f"User:{name}"
    secured.rows(f"createUser -b {broker} -u {name} -p secret1")
    secured.rows(f"createAcl -b {broker} -s {who} -r Topic:a*,Group:* -a Pub,Sub -d Allow")
    found = secured.rows(f"getAcl -b {broker} -s {who}")
    told = sorted((one["resource"], one["actions"], one["decision"]) for one in found)
    assert told == [("Group:*", "Pub,Sub", "Allow"), ("Topic:a*", "Pub,Sub", "Allow")]
    printed = secured.java(f"getAcl -b {broker} -s {who}")
    line = next(words for words in printed if "Topic:a*" in words)
    assert (line[0], line[-1]) == (who, "Allow")
    secured.rows(f"updateAcl -b {broker} -s {who} -r Topic:a* -a Sub -d Deny -i 192.168.0.0/24")
    (changed,) = (
        one
        for one in secured.rows(f"listAcl -c {CLUSTER} -s {who}")
        if one["resource"] == "Topic:a*"
    )
    assert (changed["decision"], changed["sourceIp"]) == ("Deny", "192.168.0.0/24")
    assert any("Deny" in words for words in secured.java(f"listAcl -b {broker} -s {who}"))
    assert secured.rows(f"copyAcl -f {broker} -t {broker} -s {who}") == []  # nothing differs
    allow = f"updateAcl -b {broker} -s {who} -r Topic:a* -d Allow"
    dry = secured.rows(f"{allow} --dry-run")
    assert dry == secured.rows(allow)
    assert [one["change"] for one in dry] == [{"old": "Deny", "new": "Allow"}]
    (kept,) = (
        one for one in secured.rows(f"getAcl -b {broker} -s {who}") if one["resource"] == "Topic:a*"
    )
    assert (kept["actions"], kept["sourceIp"]) == ("Sub", "192.168.0.0/24")
    wrong = secured.ours(f"deleteAcl -b {broker} -s {who} -r Topic:b*", *RIGHT)
    assert (wrong.status, "Topic:b*" in wrong.complaint) == (1, True)
    secured.rows(f"deleteAcl -b {broker} -s {who} -r Topic:a*")
    assert [one["resource"] for one in secured.rows(f"getAcl -b {broker} -s {who}")] == ["Group:*"]
    secured.rows(f"deleteAcl -b {broker} -s {who}")
    assert secured.ours(f"getAcl -b {broker} -s {who}", *RIGHT).status == 1
    stranger = secured.ours(
        f"createAcl -b {broker} -s User:nobody -r Topic:* -a Pub -d Allow", *RIGHT
    )
    assert (stranger.status, stranger.out) == (1, "")
    secured.rows(f"deleteUser -b {broker} -u {name}")


def test_what_a_user_may_is_what_the_policies_say(secured: Secured) -> None:
    broker, name, topic, other = secured.broker, unique("may"), unique("may"), unique("may-not")
    for one in (topic, other):
        secured.rows(f"updateTopic -c {CLUSTER} -t {one} -r 1 -w 1")
        wait_until(partial(_routed, secured, one), f"a route of {one}")
    secured.rows(f"createUser -b {broker} -u {name} -p secret1")
    secured.rows(
        f"createAcl -b {broker} -s User:{name} -r Topic:{topic},Group:* -a Pub,Sub -d Allow"
    )
    words = ("-n", secured.server, *LONG, "--access-key", name, "--secret-key", "secret1")

    sent = run("produce", *words, "-t", topic, "--order-key", "k", given=b"hello\nagain\n")
    assert (sent.status, sent.lines[0]["status"]) == (0, "SEND_OK"), sent.complaint
    group = unique("g")
    options = ("-g", group, "--from", "first", "--count", "1", "--timeout", "200")
    for text in ("hello", "again"):  # what of a poll was not printed needs no further permission
        got = run("consume", *words, "-t", topic, "--pull", *options)
        assert (got.status, [one["body"] for one in got.lines]) == (0, [text]), got.complaint
    blind = run("consume", *words, "-t", topic, "-g", unique("g"), "--from", "last")
    assert (blind.status, blind.out) == (1, b"")
    assert "GET_MAX_OFFSET (30): NO_PERMISSION (16)" in blind.complaint
    refused = run("produce", *words, "-t", other, given=b"hello\n")
    assert (refused.status, refused.out) == (1, b"")
    assert "NO_PERMISSION" in refused.complaint
    operator = secured.ours(f"createUser -b {broker} -u x -p y", *words[4:])
    assert (operator.status, "NO_PERMISSION" in operator.complaint) == (1, True)


def _routed(secured: Secured, topic: str) -> bool:
    return secured.ours(f"topicRoute -t {topic}").status == 0


def test_credentials_come_from_options_the_environment_and_a_profile(
    secured: Secured, tmp_path: Path
) -> None:
    line = f"brokerStatus -b {secured.broker}"
    profile = tmp_path / "admin.toml"
    profile.write_text('[default]\naccess-key = "rocket"\nsecret-key = "wire1234"\n')
    keys = {"ROCKETWIRE_ACCESS_KEY": "rocket", "ROCKETWIRE_SECRET_KEY": "wire1234"}

    assert secured.ours(line, *RIGHT).status == 0
    assert secured.ours(line, **keys).status == 0
    assert secured.ours(line, "--profile-file", str(profile)).status == 0
    # an option counts before the environment, and that before the profile
    for options, environment in (
        (("--secret-key", "wrong"), keys),
        (("--profile-file", str(profile)), {"ROCKETWIRE_SECRET_KEY": "wrong"}),
        (("--access-key", "nobody", "--secret-key", "wire1234"), {}),
        ((), {}),
    ):
        done = secured.ours(line, *options, **environment)
        assert (done.status, done.out) == (1, ""), options
        assert "NO_PERMISSION" in done.complaint
        assert "wire1234" not in done.complaint


@pytest.mark.full
@pytest.mark.parametrize("keys", [("rocket", "wrong"), None], ids=["wrong", "none"])
def test_messages_of_strangers_are_neither_taken_nor_given(
    secured: Secured, keys: tuple[str, str] | None
) -> None:
    who = ("--access-key", keys[0], "--secret-key", keys[1]) if keys else ()
    words = ("-n", secured.server, *LONG, *who, "-t", "TBW102")
    for done in (
        run("produce", *words, "--count", "2"),
        run("consume", *words, "-g", unique("g"), "--count", "1", "--timeout", "200"),
    ):
        assert (done.status, done.out) == (1, b"")
        assert "NO_PERMISSION" in done.complaint.splitlines()[-1]


def test_everything_goes_over_tls_with_the_right_certificates(secured: Secured) -> None:
    here = secured.certificates
    ours = ("--cert", f"{here}/operator.pem", "--key-file", f"{here}/operator.key")
    words = ("-n", secured.server, *LONG, *RIGHT, "--ca", f"{here}/ca.pem", *ours)
    topic = unique("tls")
    made = secured.ours(f"updateTopic -c {CLUSTER} -t {topic} -r 1 -w 1", *words[4:])
    assert made.status == 0, made.complaint
    wait_until(lambda: _routed(secured, topic), f"a route of {topic}")
    sent = run("produce", *words, "-t", topic, given=b"hello\n")
    assert sent.status == 0, sent.complaint
    options = ("-g", unique("g"), "--from", "first", "--count", "1", "--timeout", "200")
    got = run("consume", *words, "-t", topic, *options)
    assert (got.status, [one["body"] for one in got.lines]) == (0, ["hello"]), got.complaint


@pytest.mark.full
def test_a_certificate_that_is_wrong_or_missing_is_told(secured: Secured) -> None:
    here = secured.certificates
    status = f"brokerStatus -b {secured.broker}"
    strange = secured.ours("topicList", "--ca", f"{here}/other.pem")
    assert (strange.status, strange.out) == (3, "")
    assert "certificate" in strange.complaint
    system = secured.ours("topicList", "--tls")
    assert (system.status, "certificate" in system.complaint) == (3, True)
    assert secured.ours("topicList", "--insecure").status == 0
    anonymous = secured.ours(status, *RIGHT, "--ca", f"{here}/ca.pem")
    assert (anonymous.status, anonymous.out) == (3, "")
    assert "alert" in anonymous.complaint  # the broker's own remark
    missing = secured.ours("topicList", "--ca", f"{here}/nothing.pem")
    assert (missing.status, "nothing.pem" in missing.complaint) == (2, True)
    for words in (("produce", "--count", "1"), ("consume", "-g", "g", "--count", "1")):
        done = run(*words, "-n", secured.server, *LONG, "-t", "TBW102", "--ca", f"{here}/other.pem")
        assert (done.status, done.out) == (3, b""), done.complaint


@pytest.mark.full
def test_what_is_taken_along_is_what_mqadmin_takes_along(secured: Secured, tmp_path: Path) -> None:
    """Here, because mqadmin 5.5.0 cannot export from a broker that has a static topic."""
    secured.rows(f"updateTopic -b {secured.broker} -t {unique('export')} -r 3 -w 2")
    secured.rows(f"updateSubGroup -b {secured.broker} -g {unique('export')} -r 7")
    theirs, own = tmp_path / "theirs", tmp_path / "own"

    def both(command: str, name: str) -> tuple[Any, Any]:
        said = secured.peer.admin(secured.server, f"{command} -f {theirs}")
        assert "success" in said.out, said.err
        written = secured.rows(f"{command} -f {own}")
        assert written == {"exported": str(own / name)}
        return json.loads((own / name).read_text()), json.loads((theirs / name).read_text())

    mine, java = both(f"exportMetadata -c {CLUSTER} -s", "metadata.json")
    assert mine.keys() == java.keys()
    for table in ("topicConfigTable", "subscriptionGroupTable"):
        assert mine[table] == java[table]
    mine, java = both(f"exportConfigs -c {CLUSTER}", "configs.json")
    assert mine == java
    assert set(mine["brokerConfigs"]["broker-a"]) <= set(EXPORTED_KEYS)
    mine, java = both(f"exportMetrics -c {CLUSTER}", "metrics.json")
    assert mine["totalData"].keys() == java["totalData"].keys()
    for table in ("totalTps", "totalOneDayNum"):
        assert mine["totalData"][table].keys() == java["totalData"][table].keys()
    found, expected = mine["evaluateReport"]["broker-a"], java["evaluateReport"]["broker-a"]
    assert found.keys() == expected.keys()
    assert found["runtimeEnv"] == expected["runtimeEnv"]
    found, expected = found["runtimeQuota"], expected["runtimeQuota"]
    assert found.keys() == expected.keys()
    for name in ("topicSize", "groupSize", "oneDayNum"):
        assert found[name] == expected[name]
    assert secured.ours("exportConfigs -c nowhere", *RIGHT).status == 1


@pytest.mark.full
def test_the_exporter_needs_the_right_secret_and_certificates(secured: Secured) -> None:
    place = {"cluster": CLUSTER, "brokerIP": secured.broker}
    # Java's broker has no statistics in its first second (StoreStatsService), and answers SYSTEM_ERROR
    line = f"brokerStatus -b {secured.broker}"
    wait_until(lambda: secured.ours(line, *RIGHT).status == 0, "the broker's statistics")

    right = scrape(secured.server, *LONG, *RIGHT)
    assert right.status == 0, right.failures()
    assert right.value("rocketmq_exporter_broker_up", **place) == 1

    wrong = scrape(secured.server, *LONG, "--access-key", "rocket", "--secret-key", "wrong")
    assert wrong.status == 3
    assert wrong.value("rocketmq_exporter_up") == 1
    assert wrong.value("rocketmq_exporter_broker_up", **place) == 0
    denied = wrong.sum("rocketmq_exporter_failures", **place, error="NO_PERMISSION")
    assert denied == wrong.sum("rocketmq_exporter_failures") == 4

    files = secured.certificates
    trust = ("--ca", str(files / "ca.pem"), "--cert", str(files / "operator.pem"))
    key = ("--key-file", str(files / "operator.key"))
    over_tls = scrape(secured.server, *LONG, *RIGHT, *trust, *key)
    assert over_tls.status == 0, over_tls.failures()
    other = scrape(secured.server, *LONG, *RIGHT, "--ca", str(files / "other.pem"))
    assert (other.status, other.value("rocketmq_exporter_up")) == (3, 0)
