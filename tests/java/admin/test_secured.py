"""``rocketwire-admin`` with a Java broker that requires credentials and, over TLS, a client certificate."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rocketwire_tools.admin.commands.exports import EXPORTED_KEYS
from tests.java.admin.commands import CLUSTER, LONG, columns
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
RIGHT = ("--access-key", "rocket", "--secret-key", "wire1234")
"""The one user that is there from the start, of type Super."""


class Secured(NamedTuple):
    """The running servers.

    The folder of certificates has ``ca.pem``, ``other.pem``, ``operator.pem`` and ``operator.key``.
    """

    server: str
    broker: str
    peer: JavaPeer
    certificates: Path

    def ours(self, line: str, *options: str, **environment: str) -> Run:
        words = ("-n", self.server, *LONG, "--output", "json")
        return run_here(*line.split(), *words, *options, **environment)

    def rows(self, line: str) -> Any:
        answer = self.ours(line, *RIGHT)
        assert answer.status == 0, answer.complaint
        return json.loads(answer.out)

    def expect_error(self, line: str, text: str = "", *options: str, status: int = 1) -> None:
        answer = self.ours(line, *options)
        assert (answer.status, answer.out, text in answer.complaint) == (status, "", True), answer

    def create_topic(self, word: str, *options: str) -> str:
        name = unique(word)
        created = self.ours(f"updateTopic -c {CLUSTER} -t {name} -r 1 -w 1", *RIGHT, *options)
        assert created.status == 0, created.complaint
        wait_until(lambda: self.ours(f"topicRoute -t {name}").status == 0, f"a route of {name}")
        return name

    def java(self, line: str) -> list[list[str]]:
        output = self.peer.admin(self.server, line)
        return [line.split() for line in output.out.splitlines()]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    # A name server and a broker that take TLS and plain connections; the broker wants a certificate with the first.
    have_here(partial(java_cache.classes, CURRENT, "Peer.java"))
    folder = tmp_path_factory.mktemp("site")
    ca = authority()
    (folder / "ca.pem").write_bytes(ca.certificate_pem)
    (folder / "other.pem").write_bytes(authority("another").certificate_pem)
    ca.issue("server").write(folder, "server")
    ca.issue("operator").write(folder, "operator")
    server_lines = [
        "tls.test.mode.enable=false",
        f"tls.server.certPath={folder}/server.pem",
        f"tls.server.keyPath={folder}/server.key",
    ]
    client_lines = [
        "tls.server.need.client.auth=require",
        "tls.server.authClient=true",
        f"tls.server.trustCertPath={folder}/ca.pem",
    ]
    (folder / "server.properties").write_text("\n".join(server_lines))
    (folder / "broker.properties").write_text("\n".join(server_lines + client_lines))
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
def test_doctor_names_missing_credentials(site: Secured) -> None:
    answer = site.ours("doctor -q")
    (refused,) = [row for row in json.loads(answer.out) if row["kind"] == "broker"]
    assert (refused["id"], refused["name"]) == ("broker-refused", "broker-a")
    assert "--access-key" in refused["advice"]
    findings = json.loads(site.ours("doctor -q", *RIGHT).out)
    assert all(row["kind"] != "broker" for row in findings)


@pytest.mark.full
def test_users_are_shown_as_by_mqadmin(site: Secured) -> None:
    place, name, second = f"-b {site.broker}", unique("user"), unique("user")
    created = site.rows(f"createUser {place} -u {name} -p secret1 -t Normal")
    assert {row["setting"]: row["change"]["new"] for row in created} == {
        "username": name,
        "password": "(hidden)",
        "userType": "Normal",
    }
    user = {
        "brokerAddr": site.broker,
        "username": name,
        "userType": "Normal",
        "userStatus": "enable",
    }
    assert site.rows(f"getUser {place} -u {name}") == [user]
    assert [name, "secret1", "Normal", "enable"] in site.java(f"getUser {place} -u {name}")
    site.java(f"createUser -c {CLUSTER} -u {second} -p secret2 -t Super")
    users = {row["username"]: row["userType"] for row in site.rows(f"listUser -c {CLUSTER}")}
    assert users.items() >= {"rocket": "Super", name: "Normal", second: "Super"}.items()
    (row,) = site.rows(f"listUser {place} -f {second}")
    assert row["username"] == second
    line = f"updateUser -c {CLUSTER} -u {name} -s disable"
    dry = site.rows(f"{line} --dry-run")
    assert site.rows(f"getUser {place} -u {name}") == [user]
    assert dry == site.rows(line)
    assert [row["change"] for row in dry] == [{"old": "enable", "new": "disable"}]
    assert [name, "secret1", "Normal", "disable"] in site.java(f"listUser {place}")
    assert site.rows(f"copyUser -f {site.broker} -t {site.broker} -u {name}") == []
    site.rows(f"deleteUser {place} -u {name}")
    assert site.ours(f"deleteUser {place} -u {name}", *RIGHT).status == 1
    site.rows(f"deleteUser {place} -u {second}")
    missing = site.ours(f"getUser {place} -u {name}", *RIGHT)
    assert (missing.status, missing.out) == (1, "[]\n")
    remaining = {words[0] for words in site.java(f"listUser {place}") if words}
    assert "rocket" in remaining
    assert not {name, second} & remaining


@pytest.mark.full
def test_policies_are_shown_as_by_mqadmin(site: Secured) -> None:
    name = unique("policy")
    user, place = f"User:{name}", f"-b {site.broker} -s User:{name}"

    def read_policy(line: str) -> dict[str, Any]:
        (policy,) = [row for row in site.rows(line) if row["resource"] == "Topic:a*"]
        return dict(policy)

    site.rows(f"createUser -b {site.broker} -u {name} -p secret1")
    site.rows(f"createAcl {place} -r Topic:a*,Group:* -a Pub,Sub -d Allow")
    assert columns(site.rows(f"getAcl {place}"), "resource actions decision") == [
        ["Group:*", "Pub,Sub", "Allow"],
        ["Topic:a*", "Pub,Sub", "Allow"],
    ]
    words = next(words for words in site.java(f"getAcl {place}") if "Topic:a*" in words)
    assert (words[0], words[-1]) == (user, "Allow")
    site.rows(f"updateAcl {place} -r Topic:a* -a Sub -d Deny -i 192.168.0.0/24")
    policy = read_policy(f"listAcl -c {CLUSTER} -s {user}")
    assert (policy["decision"], policy["sourceIp"]) == ("Deny", "192.168.0.0/24")
    assert any("Deny" in words for words in site.java(f"listAcl {place}"))
    assert site.rows(f"copyAcl -f {site.broker} -t {site.broker} -s {user}") == []
    allow = f"updateAcl {place} -r Topic:a* -d Allow"
    dry = site.rows(f"{allow} --dry-run")
    assert dry == site.rows(allow)
    assert [row["change"] for row in dry] == [{"old": "Deny", "new": "Allow"}]
    policy = read_policy(f"getAcl {place}")
    assert (policy["actions"], policy["sourceIp"]) == ("Sub", "192.168.0.0/24")
    missing = site.ours(f"deleteAcl {place} -r Topic:b*", *RIGHT)
    assert (missing.status, "Topic:b*" in missing.complaint) == (1, True)
    site.rows(f"deleteAcl {place} -r Topic:a*")
    assert [row["resource"] for row in site.rows(f"getAcl {place}")] == ["Group:*"]
    site.rows(f"deleteAcl {place}")
    assert site.ours(f"getAcl {place}", *RIGHT).status == 1
    line = f"createAcl -b {site.broker} -s User:nobody -r Topic:* -a Pub -d Allow"
    site.expect_error(line, "", *RIGHT)
    site.rows(f"deleteUser -b {site.broker} -u {name}")


def test_a_user_may_do_what_policies_allow(site: Secured) -> None:
    name, topic, forbidden = unique("may"), site.create_topic("may"), site.create_topic("no")
    place = f"-b {site.broker}"
    site.rows(f"createUser {place} -u {name} -p secret1")
    line = f"createAcl {place} -s User:{name} -r Topic:{topic},Group:* -a Pub,Sub -d Allow"
    site.rows(line)
    keys = ("--access-key", name, "--secret-key", "secret1")
    words = ("-n", site.server, *LONG, *keys)

    sent = run("produce", *words, "-t", topic, "--order-key", "k", given=b"hello\nagain\n")
    assert (sent.status, sent.lines[0]["status"]) == (0, "SEND_OK"), sent.complaint
    options = ("-g", unique("g"), "--from", "first", "--count", "1", "--timeout", "200")
    for text in ("hello", "again"):  # a message that was polled and not printed needs no permission
        consumed = run("consume", *words, "-t", topic, "--pull", *options)
        assert consumed.status == 0, consumed.complaint
        assert [line["body"] for line in consumed.lines] == [text]
    refused = run("consume", *words, "-t", topic, "-g", unique("g"), "--from", "last")
    assert (refused.status, refused.out) == (1, b"")
    assert "GET_MAX_OFFSET (30): NO_PERMISSION (16)" in refused.complaint
    refused = run("produce", *words, "-t", forbidden, given=b"hello\n")
    assert (refused.status, refused.out) == (1, b"")
    assert "NO_PERMISSION" in refused.complaint
    site.expect_error(f"createUser {place} -u x -p y", "NO_PERMISSION", *keys)


def test_credentials_come_from_options_the_environment_and_a_profile(
    site: Secured, tmp_path: Path
) -> None:
    line = f"brokerStatus -b {site.broker}"
    profile = tmp_path / "admin.toml"
    profile.write_text('[default]\naccess-key = "rocket"\nsecret-key = "wire1234"\n')
    keys = {"ROCKETWIRE_ACCESS_KEY": "rocket", "ROCKETWIRE_SECRET_KEY": "wire1234"}

    assert site.ours(line, *RIGHT).status == 0
    assert site.ours(line, **keys).status == 0
    assert site.ours(line, "--profile-file", str(profile)).status == 0
    # an option counts before the environment, and that before the profile
    for options, environment in (
        (("--secret-key", "wrong"), keys),
        (("--profile-file", str(profile)), {"ROCKETWIRE_SECRET_KEY": "wrong"}),
        (("--access-key", "nobody", "--secret-key", "wire1234"), {}),
        ((), {}),
    ):
        refused = site.ours(line, *options, **environment)
        assert (refused.status, refused.out) == (1, ""), options
        assert "NO_PERMISSION" in refused.complaint
        assert "wire1234" not in refused.complaint


def test_everything_goes_over_tls_with_the_right_certificates(site: Secured) -> None:
    folder = site.certificates
    pair = ("--cert", f"{folder}/operator.pem", "--key-file", f"{folder}/operator.key")
    tls = ("--ca", f"{folder}/ca.pem", *pair)
    topic = site.create_topic("tls", *tls)
    words = ("-n", site.server, *LONG, *RIGHT, *tls, "-t", topic)
    sent = run("produce", *words, given=b"hello\n")
    assert sent.status == 0, sent.complaint
    options = ("-g", unique("g"), "--from", "first", "--count", "1", "--timeout", "200")
    consumed = run("consume", *words, *options)
    assert consumed.status == 0, consumed.complaint
    assert [line["body"] for line in consumed.lines] == ["hello"]


@pytest.mark.full
def test_a_wrong_or_missing_certificate_is_an_error(site: Secured) -> None:
    folder = site.certificates
    wrong, right = ("--ca", f"{folder}/other.pem"), ("--ca", f"{folder}/ca.pem")
    site.expect_error("topicList", "certificate", *wrong, status=3)
    assert site.ours("topicList", "--insecure").status == 0
    site.expect_error("topicList", "certificate", "--tls", status=3)
    # an alert is the broker's own remark
    site.expect_error(f"brokerStatus -b {site.broker}", "alert", *RIGHT, *right, status=3)
    site.expect_error("topicList", "nothing.pem", "--ca", f"{folder}/nothing.pem", status=2)
    for words in (("produce", "--count", "1"), ("consume", "-g", "g", "--count", "1")):
        refused = run(*words, "-n", site.server, *LONG, "-t", "TBW102", *wrong)
        assert (refused.status, refused.out) == (3, b""), refused.complaint


@pytest.mark.full
def test_exports_are_those_of_mqadmin(site: Secured, tmp_path: Path) -> None:
    # Here, because mqadmin 5.5.0 cannot export from a broker that has a static topic.
    site.rows(f"updateTopic -b {site.broker} -t {unique('export')} -r 3 -w 2")
    site.rows(f"updateSubGroup -b {site.broker} -g {unique('export')} -r 7")
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"

    def export_documents(command: str, name: str) -> tuple[Any, Any]:
        output = site.peer.admin(site.server, f"{command} -c {CLUSTER} -f {theirs}")
        assert "success" in output.out, output.err
        exported = site.rows(f"{command} -c {CLUSTER} -f {ours}")
        assert exported == {"exported": str(ours / name)}
        return json.loads((ours / name).read_text()), json.loads((theirs / name).read_text())

    mine, java = export_documents("exportMetadata -s", "metadata.json")
    assert mine.keys() == java.keys()
    for table in ("topicConfigTable", "subscriptionGroupTable"):
        assert mine[table] == java[table]
    mine, java = export_documents("exportConfigs", "configs.json")
    assert mine == java
    assert set(mine["brokerConfigs"]["broker-a"]) <= set(EXPORTED_KEYS)
    mine, java = export_documents("exportMetrics", "metrics.json")
    assert mine["totalData"].keys() == java["totalData"].keys()
    for totals in ("totalTps", "totalOneDayNum"):
        assert mine["totalData"][totals].keys() == java["totalData"][totals].keys()
    ours, theirs = (document["evaluateReport"]["broker-a"] for document in (mine, java))
    assert ours.keys() == theirs.keys()
    assert ours["runtimeEnv"] == theirs["runtimeEnv"]
    quotas = [report["runtimeQuota"] for report in (ours, theirs)]
    assert quotas[0].keys() == quotas[1].keys()
    for size in ("topicSize", "groupSize", "oneDayNum"):
        assert quotas[0][size] == quotas[1][size]
    assert site.ours("exportConfigs -c nowhere", *RIGHT).status == 1


@pytest.mark.full
def test_the_exporter_needs_the_right_secret_and_certificates(site: Secured) -> None:
    place = {"cluster": CLUSTER, "brokerIP": site.broker}
    # Java's broker has no statistics in its first second (StoreStatsService), and answers SYSTEM_ERROR
    line = f"brokerStatus -b {site.broker}"
    wait_until(lambda: site.ours(line, *RIGHT).status == 0, "the broker's statistics")

    right = scrape(site.server, *LONG, *RIGHT)
    assert right.status == 0, right.failures()
    assert right.value("rocketmq_exporter_broker_up", **place) == 1

    wrong = scrape(site.server, *LONG, "--access-key", "rocket", "--secret-key", "wrong")
    assert wrong.status == 3
    assert wrong.value("rocketmq_exporter_up") == 1
    assert wrong.value("rocketmq_exporter_broker_up", **place) == 0
    denied = wrong.sum("rocketmq_exporter_failures", **place, error="NO_PERMISSION")
    assert denied == wrong.sum("rocketmq_exporter_failures") == 4

    files = site.certificates
    pair = ("--cert", str(files / "operator.pem"), "--key-file", str(files / "operator.key"))
    over_tls = scrape(site.server, *LONG, *RIGHT, "--ca", str(files / "ca.pem"), *pair)
    assert over_tls.status == 0, over_tls.failures()
    doubted = scrape(site.server, *LONG, *RIGHT, "--ca", str(files / "other.pem"))
    assert (doubted.status, doubted.value("rocketmq_exporter_up")) == (3, 0)
