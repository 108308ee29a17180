"""Permitted requests by the address of a connection."""

from dataclasses import replace
from typing import Any

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.serving.tls.settings import TlsSettings
from rocketwire_namesrv.config.access_control import (
    Access,
    AccessRefused,
    Exposed,
    Role,
    find_exposure,
)
from rocketwire_namesrv.config.config import Config, ConfigError
from rocketwire_namesrv.protocol.handlers import Peer
from rocketwire_namesrv.protocol.session import Session
from rocketwire_namesrv.protocol.state import State
from tests.support.fakes.sansio_server import (
    Server,
    events,
    identity,
    registration_body,
    replies,
    request,
)
from tests.support.values import require

OWN = "127.0.0.0/8"
OTHERS = "10.0.0.0/8, 192.168.1.1;fd00::/8"
CERTIFICATES = TlsSettings(
    server_mode="enforcing", test_mode=False, auth_client=True, need_client_auth="require"
)


def missing_roles(address: str, **lists: Any) -> frozenset[Role]:
    result = Access.of(Config(**lists)).missing_roles(address)
    return frozenset() if result is None else result.roles


@pytest.mark.parametrize(
    ("address", "inside"),
    [
        ("10.1.2.3:1", True),
        ("192.168.1.1:1", True),
        ("192.168.1.2:1", False),
        ("[fd00::1]:1", True),
        ("[fe80::1]:1", False),
        ("[::ffff:10.0.0.1]:1", True),
        ("unknown", False),
        ("client:1", False),
    ],
)
def test_a_list_has_addresses_and_networks(address: str, inside: bool) -> None:
    assert (missing_roles(address, read_addresses=OTHERS) == frozenset()) is inside


def test_without_a_list_all_are_permitted() -> None:
    assert missing_roles("1.2.3.4:5") == frozenset()
    assert missing_roles("unknown", broker_addresses="none") == {Role.BROKER}
    assert missing_roles("1.2.3.4:5", admin_addresses=" none ") == {Role.ADMIN}


def test_a_list_that_is_none_is_no_start() -> None:
    with pytest.raises(ConfigError, match=r"rocketwire\.brokerAddresses: '10.0.0.300'"):
        State(Config(broker_addresses="10.0.0.1 10.0.0.300"))


ALL_CODES = (
    *(*range(100, 107), 205, 206, 216, 217, 219, 224, 304, 311, 312, 313, 318, 319, 322),
    *(327, 901, 904),
)


@pytest.mark.parametrize(
    ("lists", "codes"),
    [
        ({"admin_addresses": OTHERS}, {100, 102, 205, 216, 318, 319, 327}),
        ({"broker_addresses": OTHERS}, {103, 104, 217, 322, 904}),
        ({"read_addresses": OTHERS}, {101, 105, 106, 206, 219, 224, 304, 311, 312, 313, 901}),
        ({"admin_addresses": OWN, "broker_addresses": OWN, "read_addresses": OWN}, set[int]()),
    ],
)
def test_codes_of_readers_brokers_and_operators(lists: dict[str, Any], codes: set[int]) -> None:
    server = Server(Config(**lists))
    refused: set[int] = set()
    for code in ALL_CODES:
        outcome = server.receive(request(code, identity(), b"{}"))
        if any(isinstance(event, AccessRefused) for event in outcome.events):
            assert replies(outcome.send)[0].code == ResponseCode.NO_PERMISSION
            refused.add(code)

    assert refused == codes


def test_refused_broker_is_not_registered() -> None:
    server = Server(Config(broker_addresses=OTHERS))
    (refusal,) = events(server, 103, identity(), registration_body(("TA", "TB")))

    assert refusal.text == (
        "request REGISTER_BROKER (103) of 127.0.0.1:50001 refused: its address is not in"
        " rocketwire.brokerAddresses"
    )
    assert not server.state.table.live


def test_refused_reader_gets_no_fast_route() -> None:
    server = Server(Config(read_addresses=OTHERS))
    server.register()
    data = request(Code.GET_ROUTEINFO_BY_TOPIC, {"topic": "TA"})
    assert server.session.answer_routes(data, server.now) is None
    assert server.session.answer_one_route(data, server.now) is None
    assert replies(server.receive(data).send)[0].code == ResponseCode.NO_PERMISSION
    permitted = Session(server.state, Peer(9, "10.0.0.1:1"))

    assert replies(require(permitted.answer_routes(data, server.now)))[0].code == 0


@pytest.mark.parametrize(
    ("config", "address", "is_exposed"),
    [
        (Config(), "0.0.0.0", True),
        (Config(bind_address="::"), "::", True),
        (Config(bind_address="somewhere"), "10.0.0.1", True),
        (Config(bind_address="somewhere"), "fe80::1%eth0", True),
        (Config(bind_address="localhost"), "127.0.0.1", False),
        (Config(bind_address="ip6-localhost"), "::1", False),
        (Config(bind_address="127.1.2.3"), "127.1.2.3", False),
        (Config(bind_address="mapped"), "::ffff:127.0.0.1", False),
        (Config(admin_addresses=OTHERS), "10.0.0.1", True),
        (Config(admin_addresses=OTHERS, broker_addresses=OTHERS), "10.0.0.1", False),
        (Config(tls=CERTIFICATES), "10.0.0.1", False),
        (Config(tls=replace(CERTIFICATES, server_mode="permissive")), "10.0.0.1", True),
        (Config(tls=replace(CERTIFICATES, need_client_auth="optional")), "10.0.0.1", True),
    ],
)
def test_exposure_of_a_server(config: Config, address: str, is_exposed: bool) -> None:
    result = find_exposure(config, address)

    assert [type(event) for event in result] == [Exposed] * is_exposed
