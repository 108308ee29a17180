"""The log says at the start what in a configuration file is taken otherwise than it may have been meant."""

from __future__ import annotations

import pytest

from rocketwire_namesrv.config import Config
from rocketwire_namesrv.config_remarks import config_remarks
from rocketwire_namesrv.properties import load_properties


def remarks(text: str) -> list[str]:
    config = Config.load(load_properties(text.encode()), home="h", config_path="a.properties")
    return list(config_remarks(config))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "enableTopicList=true ",
            "enableTopicList='true ' is taken for false: it is not the word true",
        ),
        ("serverWorkerThreads=9x", "serverWorkerThreads='9x' is no number that fits; it stays 8"),
        (
            "listenPort=99999999999",
            "listenPort='99999999999' is no number that fits; it stays 9876",
        ),
        ("listenport=1", "listenport is no setting; it would be listenPort"),
        ("rocketwire.maxConnection=5", "rocketwire.maxConnection is no setting"),
        (
            "configStorePath=/x",
            "configStorePath counts for nothing here: it is the file given with -c",
        ),
        (
            "enableControllerInNamesrv=true",
            "enableControllerInNamesrv: there is no controller in this name server; run Java's beside it",
        ),
        (
            "clusterTest=true",
            "clusterTest: every request is taken for one for a route, brokers cannot register; the"
            " name server of center is not asked",
        ),
    ],
)
def test_what_may_have_been_meant_otherwise_is_named(text: str, expected: str) -> None:
    assert remarks(text) == [expected]


def test_an_ordinary_file_is_taken_without_a_word() -> None:
    assert remarks("listenPort=1\nenableTopicList=TRUE\nbindAddress=::1\nbrokerName=b\n") == []


def test_values_of_unknown_settings_are_not_told() -> None:
    assert "secret" not in " ".join(remarks("rocketwire.password=secret"))
