"""Options of the sink."""

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.sink.options import read_sink_options

SERVERS = {"nameServers": "127.0.0.1:9876"}


def test_case_does_not_matter() -> None:
    settings = read_sink_options(
        {
            "NAMESERVERS": "a:1",
            "TOPIC": "orders",
            "Group": "g",
            "IDS": "Stable",
            "runid": "r",
            "inflight": "4",
            "batchsize": "64k",
            "compressabove": "4k",
            "maxmessagesize": "8m",
            "sendtimeout": "1.5",
            "retrytimeout": "0",
            "checkpointlocation": "/data/c",
            "queryName": "q",
        }
    )

    assert settings.topic == "orders"
    assert settings.group == "g"
    assert settings.stable_ids
    assert settings.run_id == "r"
    assert settings.in_flight == 4
    assert settings.batch_size == 64 << 10
    assert settings.compress_above == 4096
    assert settings.max_message_size == 8 << 20
    assert (settings.send_timeout, settings.retry_timeout) == (1.5, 0)


def test_argument_of_save_is_a_topic() -> None:
    assert read_sink_options({**SERVERS, "path": "orders"}).topic == "orders"
    assert read_sink_options({**SERVERS, "topic": "a", "path": "b"}).topic == "a"


@pytest.mark.parametrize(
    ("option", "text", "reason"),
    [
        ("foo", "1", "unknown option 'foo' of the sink; the options are topic, group"),
        ("topic", "no topic", "option 'topic': topic 'no topic': only letters"),
        ("group", "DEFAULT_PRODUCER", "option 'group': DEFAULT_PRODUCER is reserved"),
        ("ids", "often", "option 'ids': 'often' is not one of stable, new"),
        ("inFlight", "0", "option 'inFlight': '0' is not a number from 1 to 1024"),
        ("batchSize", "5m", "option 'batchSize': '5m' is not a size from 1 to 4194304 bytes"),
        ("sendTimeout", "0", "option 'sendTimeout': must be above 0"),
        ("retryTimeout", "soon", "option 'retryTimeout': 'soon' is not a number of seconds"),
        ("runId", "x", "option 'runId' needs option ids=stable"),
        ("secretKey", "x", "option 'secretKey' would show a secret"),
    ],
)
def test_invalid_option_is_refused_by_name(option: str, text: str, reason: str) -> None:
    with pytest.raises(OptionError) as refused:
        read_sink_options({**SERVERS, option.lower(): text})  # as Spark passes it
    assert str(refused.value).startswith(reason)
