"""The log warns at the start about settings that may have been meant differently."""

import pytest

from rocketwire.serving.java_properties import PropertiesFile, load_entries
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.config.warnings import config_remarks


def remarks(text: str, **system: str) -> list[str]:
    entries = PropertiesFile("a.properties", load_entries(text.encode()))
    config = Config.load(entries, home="h", config_path="a.properties", refusals=[])
    return list(config_remarks(config, entries, system))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "enableTopicList=true ",
            "enableTopicList=true : read as false, because it is not the word true",
        ),
        (
            "tls.test.mode.enable=flase",
            "tls.test.mode.enable=flase: read as false, because it is not the word true",
        ),
        (
            "serverOnewaySemaphoreValue=9x",
            "serverOnewaySemaphoreValue=9x: ignored, because it is not a whole number from"
            " -2147483648 to 2147483647; the server uses 256",
        ),
        (
            "serverChannelMaxIdleTimeSeconds=12O",
            "serverChannelMaxIdleTimeSeconds=12O: ignored, because it is not a whole number from 0 to"
            " 2147483647 seconds; the server uses 120",
        ),
        (
            "listenPort=99999999999",
            "listenPort=99999999999: ignored, because it is not a whole number from 0 to 65535; the"
            " server uses 9876",
        ),
        (
            "waitSecondsForService=-3",
            "waitSecondsForService=-3: should be a whole number from 0 to 2147483647 seconds; the"
            " server does not wait, as with 0",
        ),
        (
            "serverWorkerThreads=0",
            "serverWorkerThreads=0: should be a whole number from 1 to 2147483647; Java's name server"
            " does not start with it; this one ignores it",
        ),
        (
            "writeBufferHighWaterMark=x",  # sets one property of the server and one of the client
            "writeBufferHighWaterMark=x: ignored, because it is not a whole number from -2147483648"
            " to 2147483647; the server uses 0",
        ),
        (
            "listenport=1",
            "listenport is not a setting of this name server; did you mean listenPort?",
        ),
        (
            "tls.server.certpath=x",
            "tls.server.certpath is not a setting of this name server; did you mean"
            " tls.server.certPath?",
        ),
        (
            "rocketwire.maxConnection=5",
            "rocketwire.maxConnection is not a setting of this name server; did you mean"
            " rocketwire.maxConnections?",
        ),
        ("rocketwire.colour=5", "rocketwire.colour is not a setting of this name server"),
        (
            "configStorePath=/x",
            "configStorePath has no effect: updates are stored in the file given with -c",
        ),
        (
            "enableControllerInNamesrv=true",
            "enableControllerInNamesrv=true has no effect: this name server has no controller; run"
            " Java's beside it",
        ),
        (
            "clusterTest=true",
            "clusterTest=true: the server takes every request for a route request, and brokers cannot"
            " register; it does not ask the name server of center",
        ),
    ],
)
def test_doubtful_line_is_named(text: str, expected: str) -> None:
    assert remarks(f"# a comment\n\n{text}\n") == [f"a.properties, line 3: {expected}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "rocketwire.warmStartSeconds=45\nrocketwire.knownBrokersPath=\n",
            [
                "a.properties, line 1: rocketwire.warmStartSeconds has no effect, because"
                " rocketwire.knownBrokersPath is empty"
            ],
        ),
        (
            "listenPort=1\nfoo=a\nlistenPort=2\n",
            ["a.properties, line 1: listenPort is set again in line 3, and only that counts"],
        ),
        (
            "listenPort=1\nenableTopicList=TRUE\nbindAddress=::1\nbrokerName=b\n"
            "tls.server.authClient=True\nrocketwire.maxConnectionsPerAddress=0",
            [],
        ),
        ("listenPort=98765\nrocketwire.allowConfigUpdate=yes\nrocketwire.maxTopics=5x", []),
    ],
    ids=["no file", "twice", "ordinary", "refused"],
)
def test_remarks_on_several_lines(text: str, expected: list[str]) -> None:
    assert remarks(text) == expected


def test_values_of_unknown_settings_are_not_shown() -> None:
    assert "secret" not in " ".join(remarks("rocketwire.password=secret"))


def test_remarks_on_our_system_properties() -> None:
    system = {
        "rocketwire.maxTopic": "5",
        "tls.test.mode.enable": "yes",
        "tls.server.mode": "enforcing",
        "rocketmq.listenport": "1",
    }
    assert remarks("", **system) == [
        "-Drocketwire.maxTopic is not a setting of this name server; did you mean"
        " rocketwire.maxTopics?",
        "-Dtls.test.mode.enable=yes: read as false, because it is not the word true",
    ]


def test_names_of_settings_cannot_break_a_line() -> None:
    (remark,) = remarks("rocketwire.a\\nb=1")

    assert "rocketwire.a\\x0ab is not a setting" in remark


def test_a_table_that_is_no_file_has_no_lines() -> None:
    entries = {"serverSelectorThreads": "-1", "listenport": "1"}
    config = Config.load(entries, home="h")

    assert list(config_remarks(config, entries, {})) == [
        "serverSelectorThreads=-1: should be a whole number from 0 to 2147483647; Java's name server"
        " does not start with it; this one ignores it",
        "listenport is not a setting of this name server; did you mean listenPort?",
    ]
