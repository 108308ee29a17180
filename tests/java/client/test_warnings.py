"""A rejection by Java's name server or broker is a warning with reason and advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.client import open_client
from rocketwire.client.admin import open_admin
from rocketwire.messages.groups import SubscriptionGroupConfig
from tests.java.client.test_membership import AUTH
from tests.peers.client_settings import patient
from tests.peers.messages import create_topic, unique, until
from tests.support.fakes.consumer_fakes import FLAVOURS, consumer, list_logged

if TYPE_CHECKING:
    from rocketwire.client import ClientInstance
    from tests.peers.cluster import JavaCluster

pytestmark = pytest.mark.full


async def warned(
    flavour: str,
    client: ClientInstance,
    topic: str,
    group: str,
    text: str,
    caplog: pytest.LogCaptureFixture,
) -> list[str]:
    """The warnings of a consumer until one of them has the text, and no more than that."""
    caplog.clear()
    async with consumer(flavour, client, topic, group):
        await until(lambda: any(text in line for line in list_logged(caplog)))
        return [line for line in list_logged(caplog) if text in line]


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_a_topic_that_java_does_not_know_is_one_warning(
    flavour: str, java_cluster: JavaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    topic = unique("nosuchtopic")
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        lines = await warned(
            flavour, client, topic, unique("g"), "check the name, or create", caplog
        )
    assert len(lines) == 1
    assert f"topic {topic}: no route (" in lines[0]


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_a_topic_that_may_not_be_read_is_one_warning(
    flavour: str, java_cluster: JavaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("unreadable"), perm=2)
        lines = await warned(
            flavour, client, topic, unique("g"), f"queues of topic {topic}", caplog
        )
    assert len(lines) == 1
    assert "read permission" in lines[0]


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_a_group_that_may_not_consume_is_one_warning(
    flavour: str, java_cluster: JavaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    group = unique("disabled")
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("orders"))
        async with open_admin(client) as admin:
            disabled = SubscriptionGroupConfig(group_name=group, consume_enable=False)
            await admin.groups.create_or_update(disabled, broker=java_cluster.master.address)
        lines = await warned(flavour, client, topic, group, f"of topic {topic} from broker", caplog)
    assert len(lines) == 1
    assert "NO_PERMISSION (16)" in lines[0]
    assert "check the permission of the topic" in lines[0]


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_a_broker_that_does_not_authenticate_the_client_is_a_warning(
    flavour: str, java_cluster: JavaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    java_cluster.broker("broker-strict", options=AUTH)
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        await client.route("broker-strict")  # each broker has a topic of its name
        lines = await warned(flavour, client, "broker-strict", unique("g"), "check ", caplog)
    assert any("NO_PERMISSION (16)" in line for line in lines)


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_a_group_that_the_broker_does_not_know_and_does_not_create_is_a_warning(
    flavour: str, java_cluster: JavaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    java_cluster.broker("broker-fixed", options={"autoCreateSubscriptionGroup": "false"})
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        await client.route("broker-fixed")
        lines = await warned(flavour, client, "broker-fixed", unique("g"), "updateSubGroup", caplog)
    assert len(lines) == 1
