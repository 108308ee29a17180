"""Brokers of 5.5.0 and 4.9.4 that want a secret, over TLS, as Spark's source and sink reach them.

Most tests use the classes that Spark calls, in this process: no Spark is started.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import pytest
import trio

from rocketwire.client import ClientConfig, Credentials, Message, open_client, open_producer
from rocketwire.client.admin.admin import Admin
from rocketwire.client.consumer.queues import get_queues
from rocketwire.errors import RocketWireError
from rocketwire.messages.topic_config import TopicConfig
from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.connection import close_sessions
from rocketwire_tools.spark.topics.planning import UnreachableError
from rocketwire_tools.spark.topics.pulling import PullFailedError
from rocketwire_tools.spark.topics.sink.attempts import SinkError
from rocketwire_tools.spark.topics.sink.options import read_sink_options
from rocketwire_tools.spark.topics.sink.sending import write_partition
from tests.peers.peers import CURRENT, OLD, JavaBroker, JavaNameServer
from tests.spark.conftest import without_spark
from tests.spark.topics_of_java import read_here
from tests.support.admin_in_process import run as run_here
from tests.support.builders.certificates import authority

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

# PySpark leaves sockets to the collector
pytestmark = [pytest.mark.java, pytest.mark.full, pytest.mark.filterwarnings("default")]

ACCESS, SECRET = "operators", "wire1234567"
READER, READERS_SECRET = "onlyreads", "wire7654321"
AUTH = "org.apache.rocketmq.auth"
OF_5 = {
    "brokerClusterName": "c5",
    "authenticationEnabled": "true",
    "authenticationProvider": f"{AUTH}.authentication.provider.DefaultAuthenticationProvider",
    "authenticationMetadataProvider": f"{AUTH}.authentication.provider.LocalAuthenticationMetadataProvider",
    "initAuthenticationUser": f'{{"username":"{ACCESS}","password":"{SECRET}"}}',
    "innerClientAuthenticationCredentials": f'{{"accessKey":"{ACCESS}","secretKey":"{SECRET}"}}',
    "authorizationEnabled": "true",
    "authorizationProvider": f"{AUTH}.authorization.provider.DefaultAuthorizationProvider",
    "authorizationMetadataProvider": f"{AUTH}.authorization.provider.LocalAuthorizationMetadataProvider",
}
OF_4 = {"brokerClusterName": "c4", "aclEnable": "true"}
ACL_OF_4 = f"""
accounts:
- accessKey: {ACCESS}
  secretKey: {SECRET}
  admin: true
- accessKey: {READER}
  secretKey: {READERS_SECRET}
  admin: false
  defaultTopicPerm: DENY
  defaultGroupPerm: DENY
  topicPerms:
  - t5=SUB
  - t4=SUB
  groupPerms:
  - spark-rocketwire=SUB
"""
TOPICS = {CURRENT: "t5", OLD: "t4"}
releases = pytest.mark.parametrize("topic", TOPICS.values(), ids=TOPICS)


class Secured(NamedTuple):
    """The running servers; ``t5`` and ``t4`` have twenty messages at the broker of each release."""

    address: str
    folder: Path

    def options(self, topic: str, **options: str) -> dict[str, str]:
        keys = {"credentialsFile": str(self.folder / "keys")}
        return {"nameServers": self.address, "subscribe": topic, **keys, **options}

    @property
    def tls(self) -> dict[str, str]:
        return {
            "caFile": str(self.folder / "ca.pem"),
            "certFile": str(self.folder / "spark.pem"),
            "keyFile": str(self.folder / "spark.key"),
            "keyPasswordFile": str(self.folder / "password"),
        }


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    without_spark()
    folder = tmp_path_factory.mktemp("secured")
    ca = authority()
    (folder / "ca.pem").write_bytes(ca.certificate_pem)
    (folder / "other.pem").write_bytes(authority("another").certificate_pem)
    ca.issue("server").write(folder, "server")
    ca.issue("spark").write(folder, "spark", "open sesame")
    (folder / "password").write_text("open sesame\n")
    for name, secret in (("keys", SECRET), ("wrong", "another-secret")):
        (folder / name).write_text(f"accessKey={ACCESS}\nsecretKey={secret}\n")
    (folder / "reader").write_text(f"accessKey={READER}\nsecretKey={READERS_SECRET}\n")
    server = [f"tls.server.certPath={folder}/server.pem", f"tls.server.keyPath={folder}/server.key"]
    client = [
        "tls.server.need.client.auth=require",
        "tls.server.authClient=true",
        f"tls.server.trustCertPath={folder}/ca.pem",
    ]
    (folder / "ns.properties").write_text("\n".join(["tls.test.mode.enable=false", *server]))
    (folder / "broker.properties").write_text(
        "\n".join(["tls.test.mode.enable=false", *server, *client])
    )
    acl = folder / OLD / "conf" / "plain_acl.yml"
    acl.parent.mkdir(parents=True)
    acl.write_text(ACL_OF_4)
    jvm = ["-XX:MaxDirectMemorySize=512m", f"-Dtls.config.file={folder}/broker.properties"]
    with (
        JavaNameServer(folder / "ns", jvm=[f"-Dtls.config.file={folder}/ns.properties"]) as names,
        JavaBroker(folder / CURRENT, [names.address], OF_5, name="b5", jvm=jvm) as new,
        JavaBroker(folder / OLD, [names.address], OF_4, name="b4", version=OLD, jvm=jvm) as old,
    ):
        for broker in (new, old):
            broker.wait_registered(names.port)
        brokers = {new.address: ("t5", "written-t5"), old.address: ("t4", "written-t4")}
        trio.run(_fill, names.address, brokers)
        for line in (
            f"createUser -b {new.address} -u {READER} -p {READERS_SECRET} -t Normal",
            f"createAcl -b {new.address} -s User:{READER} -r Topic:t5,Group:spark-rocketwire -a Sub -d Allow",
        ):
            words = ("-n", names.address, "--access-key", ACCESS, "--secret-key", SECRET)
            output = run_here(*line.split(), *words)
            assert output.status == 0, output.complaint
        yield Secured(names.address, folder)


async def _fill(address: str, brokers: dict[str, tuple[str, str]]) -> None:
    config = ClientConfig(namesrv_addr=address, credentials=Credentials(ACCESS, SECRET))
    async with open_client(config) as client, open_producer(client, "fillers") as producer:
        admin = Admin(client)
        for broker, topic in (
            (address_of_broker, topic)
            for address_of_broker, topics in brokers.items()
            for topic in topics
        ):
            config_of_topic = TopicConfig(topic_name=topic, read_queue_nums=2, write_queue_nums=2)
            await admin.topics.create_or_update(config_of_topic, broker=broker)
            with trio.fail_after(60):
                while True:  # it is registered a moment later
                    try:
                        await client.refresh_route(topic)
                        assert await get_queues(client, topic)
                        break
                    except RocketWireError:
                        await trio.sleep(0.1)
            bodies = [b"%d" % number for number in range(20)] if topic[0] == "t" else []
            await producer.send_many([Message(topic, body) for body in bodies])


@pytest.fixture(autouse=True)
def _new_sessions(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("ROCKETWIRE_ACCESS_KEY", "ROCKETWIRE_SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    close_sessions()
    yield
    close_sessions()


def are_twenty(places: list[Any]) -> bool:
    return len(places) == len(set(places)) == 20


@releases
def test_secret_comes_from_a_file(servers: Secured, topic: str) -> None:
    assert are_twenty(read_here(servers.options(topic)))


@releases
def test_all_goes_over_tls_with_a_certificate_of_the_client(servers: Secured, topic: str) -> None:
    assert are_twenty(read_here(servers.options(topic, **servers.tls)))


@releases
def test_account_that_may_only_subscribe_reads(servers: Secured, topic: str) -> None:
    keys = str(servers.folder / "reader")

    assert are_twenty(read_here(servers.options(topic, credentialsFile=keys)))


def wrong(servers: Secured) -> Iterator[tuple[dict[str, str], str]]:
    folder, tls = servers.folder, servers.tls
    of_secrets = "(Sub), and "
    of_certificates = (
        "see options caFile, certFile, keyFile and tlsServerName, and what the servers"
    )
    yield {"credentialsFile": str(folder / "wrong")}, of_secrets
    yield {"credentialsFile": str(folder / "reader"), "group": "of-others"}, of_secrets
    yield {"credentialsFile": ""}, of_secrets
    yield {**tls, "caFile": str(folder / "other.pem")}, of_certificates
    yield {"caFile": tls["caFile"]}, of_certificates
    (folder / "empty").touch()
    yield {**tls, "keyPasswordFile": str(folder / "empty")}, "the files, and option keyPasswordFile"


@releases
def test_wrong_options_are_an_error_of_one_line(servers: Secured, topic: str) -> None:
    for options, text in wrong(servers):
        close_sessions()
        chosen = {key: value for key, value in servers.options(topic, **options).items() if value}
        with pytest.raises((OptionError, PullFailedError, UnreachableError)) as error:
            read_here(chosen)
        assert text in str(error.value)
        assert "\n" not in str(error.value)
        assert SECRET not in str(error.value)


@releases
def test_rows_are_written_with_a_secret_over_tls(servers: Secured, topic: str) -> None:
    pa: Any = importlib.import_module("pyarrow")
    target = f"written-{topic}"

    def write(**options: str) -> None:
        options = {"nameServers": servers.address, "topic": target, "retryTimeout": "1", **options}
        batches = iter([pa.record_batch({"body": ["a", "b"]})])
        write_partition(("body",), read_sink_options(options), batches, "run", 0)

    write(credentialsFile=str(servers.folder / "keys"), **servers.tls)
    with pytest.raises(SinkError, match="check the credentials, and that they permit to publish"):
        write(credentialsFile=str(servers.folder / "wrong"))
    with pytest.raises(SinkError, match="see options caFile, certFile, keyFile and tlsServerName"):
        write(credentialsFile=str(servers.folder / "keys"), caFile=servers.tls["caFile"])
    assert len(read_here(servers.options(target))) == 2


def test_no_plan_and_no_event_shows_a_secret(servers: Secured, spark: SparkSession) -> None:
    options = servers.options("t5,t4", **servers.tls)
    frame = spark.read.format("rocketmq").options(**options).load()
    assert frame.count() == 40
    with contextlib.redirect_stdout(io.StringIO()) as plan_text:
        frame.explain(mode="extended")
    plan = plan_text.getvalue()
    folder = Path(urlsplit(spark.conf.get("spark.eventLog.dir") or "").path)
    texts = [plan, *(path.read_text("utf-8") for path in folder.rglob("*") if path.is_file())]
    assert "rocketmq" in plan
    assert any("t5,t4" in text or "RocketMQ" in text or "rocketmq" in text for text in texts[1:])
    for text, secret in itertools.product(texts, (SECRET, "open sesame")):
        assert secret not in text
