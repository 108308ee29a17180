"""The lists of name servers for clients and brokers, as Java asks for them."""

import pytest

from rocketwire_namesrv.admin_http.address_list import (
    MAX_FILE_SIZE,
    AddressListError,
    list_for,
    read_lists,
)

LISTS = read_lists(b"# comment\nnsaddr=10.0.0.1:9876; mq.example:9876;\nnsaddr-east=[::1]:1\n")


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/rocketmq/nsaddr", "10.0.0.1:9876;mq.example:9876"),
        ("/rocketmq/nsaddr-east", "[::1]:1"),
        ("/rocketmq/nsaddr-east-2", "[::1]:1"),
        ("/rocketmq/nsaddr-west", "10.0.0.1:9876;mq.example:9876"),
        ("/rocketmq/other", None),
        ("/rocketmq/other-east", None),
        ("/rocketmq/", None),
        ("/nsaddr", None),
    ],
)
def test_a_unit_without_a_list_gets_that_of_its_subgroup(path: str, answer: str | None) -> None:
    assert list_for(LISTS, path) == answer


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"nsaddr=", "nsaddr: has no address"),
        (b"nsaddr=10.0.0.1", "nsaddr: '10.0.0.1' must be host:port"),
        (b"nsaddr=a:1,b:2", "nsaddr: 'a:1,b:2' must be host:port"),
        (b"nsaddr=a:0", "must be host:port"),
        (b"nsaddr=a:65536", "must be host:port"),
        (b"nsaddr=a\\u00g0:1", "line 1"),
        (b"#" * (MAX_FILE_SIZE + 1), "it is larger than 65536 bytes"),
    ],
)
def test_an_invalid_list_makes_the_file_invalid(data: bytes, complaint: str) -> None:
    with pytest.raises(AddressListError, match=complaint):
        read_lists(data)


def test_a_file_of_the_largest_size_is_read() -> None:
    line = b"nsaddr=a:1\n"

    assert read_lists(line + b"#" * (MAX_FILE_SIZE - len(line))) == {"nsaddr": "a:1"}
