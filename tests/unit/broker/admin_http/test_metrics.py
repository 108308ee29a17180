"""The metrics of the brokers of a process, as Prometheus reads them."""

from prometheus_client.parser import text_string_to_metric_families

from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire_broker.admin_http.metrics import Exposition
from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand


def samples(*homes: BrokerAtHand) -> dict[tuple[str, ...], float]:
    text = Exposition(lambda: [(home.broker, home.now) for home in homes]).text().decode()
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("rocketwire_broker_")
    }


def test_each_broker_has_its_figures() -> None:
    home = BrokerAtHand()
    client = home.connect()
    client.send()
    client.pull(0)
    home.broker.offsets.commit("readers", "orders", 0, 0, home.now)
    home.broker.statistics.limit_hits["rocketwire.maxConnections"] = 2
    result = samples(home, BrokerAtHand(broker_name="broker-b"))

    assert result["rocketwire_broker_stored_total", "broker-a"] == 1
    assert result["rocketwire_broker_stored_total", "broker-b"] == 0
    assert result["rocketwire_broker_topic_stored_total", "broker-a", "orders"] == 1
    assert result["rocketwire_broker_group_lag", "broker-a", "readers"] == 1
    hits = "rocketwire_broker_limit_hits_total"
    assert result[hits, "broker-a", "rocketwire.maxConnections"] == 2


def test_names_that_java_does_not_allow_have_no_series(home: BrokerAtHand) -> None:
    home.broker.topics.put(new_topic('a"\n', 1), home.now)
    home.broker.groups.put(SubscriptionGroupConfig(group_name="<b>"), home.now)

    assert not [key for key in samples(home) if len(key) == 3]
