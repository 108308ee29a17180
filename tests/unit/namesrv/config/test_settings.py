"""Values of settings that are refused, doubtful or valid, as observed with a Java server of 5.5.0."""

import re
from pathlib import Path

import pytest

from rocketwire.connection.guards import Guard
from rocketwire_namesrv.config.config import BY_KEY, PROPERTIES, Config
from rocketwire_namesrv.config.limits import Limit
from rocketwire_namesrv.config.settings import BOUNDS, Owner

GUIDE = Path(__file__).parents[4] / "docs" / "guide" / "name-server.md"
OURS = [setting for setting in PROPERTIES if setting.owner is Owner.OURS]
NUMBERS = [setting.key for setting in OURS if setting.value_type is int]


def refusal(key: str, text: str) -> str | None:
    return BY_KEY[key][0].refusal(text)


def doubt(key: str, text: str) -> str | None:
    return BY_KEY[key][0].find_doubt(text)


def test_every_number_of_our_own_has_bounds() -> None:
    assert set(NUMBERS) <= set(BOUNDS)
    assert set(BOUNDS) <= set(BY_KEY)
    assert not any(BOUNDS[key].otherwise for key in NUMBERS)


def test_every_default_is_within_its_bounds() -> None:
    Config().check()
    for setting in PROPERTIES:
        if setting.value_type is int:
            assert setting.refusal(setting.default) is None, setting.key


@pytest.mark.parametrize("key", NUMBERS)
@pytest.mark.parametrize(
    "text", ["", " ", "45s", "12O", "1 ", "0x10", "1e6", "16M", "-2", "9" * 5000]
)
def test_a_number_of_our_own_that_is_none_or_below_all_is_refused(key: str, text: str) -> None:
    reason = refusal(key, text)

    assert reason is not None
    assert reason.startswith(f"must be {BOUNDS[key].text}; the default is ")
    assert doubt(key, text) is None


@pytest.mark.parametrize("key", NUMBERS)
def test_bounds_are_inclusive(key: str) -> None:
    bounds = BOUNDS[key]

    assert refusal(key, str(bounds.minimum)) is None
    assert refusal(key, str(bounds.maximum)) is None
    assert refusal(key, str(bounds.maximum + 1)) is not None
    assert (refusal(key, str(bounds.minimum - 1)) is None) == (
        bounds.minimum == 1 and bool(bounds.zero)
    )


REFUSED = """listenPort=98765;listenPort=-1;scanNotActiveBrokerInterval=0;scanNotActiveBrokerInterval=-5;\
rocketwire.frameMaxLength=0;rocketwire.frameMaxLength=64;rocketwire.headerMaxLength=64;\
rocketwire.maxConnections=0;rocketwire.driver=Auto;rocketwire.allowConfigUpdate=yes;\
rocketwire.allowConfigUpdate=1;rocketwire.allowConfigUpdate=true ;rocketwire.allowConfigUpdate=;\
rocketwire.allowConfigUpdate=on"""
# Java does not start with no threads, but nothing depends on them here
DOUBTFUL = """serverChannelMaxIdleTimeSeconds=-1;waitSecondsForService=-3;shutdownWaitTimeSeconds=-4;\
serverSocketSndBufSize=-1;serverSocketRcvBufSize=-1;connectTimeoutMillis=0;connectTimeoutMillis=-1;\
serverChannelMaxIdleTimeSeconds=12O;listenPort=9876 ;scanNotActiveBrokerInterval=5s;\
enableTopicList=yes;serverWorkerThreads=0;serverSelectorThreads=-1;unRegisterBrokerQueueCapacity=0"""
TAKEN = """serverChannelMaxIdleTimeSeconds=0;waitSecondsForService=0;serverSelectorThreads=0;\
serverOnewaySemaphoreValue=-1;enableTopicList=False;productEnvName=;rocketwire.observePort=-1;\
rocketwire.observePort=0;rocketwire.maxTopics=0;rocketwire.headerMaxLength=0;\
rocketwire.warmStartSeconds=0;rocketwire.allowConfigUpdate=TRUE;rocketwire.knownBrokersPath=;\
rocketwire.readAddresses=;rocketwire.driver= portable """


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (setting, expected)
        for settings, expected in (
            (REFUSED, (True, False)),
            (DOUBTFUL, (False, True)),
            (TAKEN, (False, False)),
        )
        for setting in settings.split(";")
    ],
)
def test_values_are_refused_or_doubtful_or_taken(setting: str, expected: tuple[bool, bool]) -> None:
    key, _, text = setting.partition("=")

    assert (refusal(key, text) is not None, doubt(key, text) is not None) == expected


def test_a_refusal_names_the_valid_values() -> None:
    assert "or 0 (no limit)" in str(refusal("rocketwire.headerMaxLength", "64"))
    assert "must be true or false" in str(refusal("rocketwire.allowConfigUpdate", "on"))
    assert "one of auto, reactor, portable" in str(refusal("rocketwire.driver", "Auto"))


@pytest.mark.parametrize("key", [item.key for item in OURS if item.key.endswith("Addresses")])
def test_a_list_of_addresses_holds_addresses_and_networks_only(key: str) -> None:
    assert refusal(key, "10.0.0.0/8;fd00::/8, 192.168.1.7 ::1") is None
    assert refusal(key, " none ") is None
    for text in ("10.0.0.300", "10.0.0.0/99", "localhost", "none,10.0.0.1", "*"):
        assert "must be a list of IP addresses" in str(refusal(key, text))


def test_a_number_of_a_system_property_is_a_number_as_for_java() -> None:
    setting = BY_KEY["serverSocketBacklog"][0]

    assert setting.refusal("abc") is None
    assert setting.refusal("abc", system=True) is not None
    assert setting.refusal("-1", system=True) is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", None),
        ("a:1;[::1]:2, b.example:65535", None),
        ("a", "a must be host:port, with the second port of a name server"),
        ("a:0", "a:0 must be host:port, with the second port of a name server"),
        ("http://a:1", "http://a:1 must be host:port, with the second port of a name server"),
        (" ".join(f"a:{port}" for port in range(1, 18)), "must name 16 name servers at most"),
    ],
)
def test_peers_are_addresses(text: str, complaint: str | None) -> None:
    assert BY_KEY["rocketwire.peers"][0].refusal(text) == complaint


def test_the_guide_has_the_bounds_of_every_setting_that_is_no_limit() -> None:
    row = re.compile(
        r"^\| `([\w.]+)` \| (?:from )?(-?\d+)(?: to (\d+))?(, or 0)? \| (no start|ignored|as 0|no broker)",
        re.MULTILINE,
    )
    documented = {
        key: (int(minimum), int(maximum or 2**31 - 1), bool(zero), otherwise == "no start")
        for key, minimum, maximum, zero, otherwise in row.findall(GUIDE.read_text("utf-8"))
    }

    assert documented == {
        key: (item.minimum, min(item.maximum, 2**31 - 1), bool(item.zero), not item.otherwise)
        for key, item in BOUNDS.items()
        if key not in {*Limit, *Guard} or key == Guard.IDLE_TIME
    }


def test_limits_have_the_bounds_that_their_page_gives_to_all_of_them() -> None:
    for key in {*Limit, *Guard} - {Guard.IDLE_TIME}:
        bounds = BOUNDS[key]
        is_size = key in {Guard.FRAME_LENGTH, Guard.HEADER_LENGTH}
        assert bounds.minimum == (1024 if is_size else 1)
        assert bounds.maximum == (86_400 if bounds.unit == "seconds" else 2**31 - 1)
        assert bool(bounds.zero) == (key not in {Guard.FRAME_LENGTH, Guard.CONNECTIONS})
