"""Errors of secrets and of certificates."""

from __future__ import annotations

import pytest

from rocketwire.codes import RequestCode
from rocketwire.errors import BrokerError, ChannelBrokenError, ConnectFailedError
from rocketwire_tools.spark.topics.refusals import (
    describe,
    is_about_access,
    is_about_tls,
    pull_advice,
)


@pytest.mark.parametrize(
    ("code", "remark", "expected"),
    [
        (16, None, True),
        (1, "org.apache.rocketmq.acl.common.AclException: Check signature failed", True),
        (1, "java.lang.NullPointerException", False),
        (2, None, False),
    ],
)
def test_brokers_of_both_generations_refuse_accounts(
    code: int, remark: str | None, *, expected: bool
) -> None:
    error = BrokerError(code, remark, RequestCode.PULL_MESSAGE, "b:1")

    assert is_about_access(error) is expected
    assert not is_about_access(ConnectFailedError("b:1: no TLS handshake"))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ConnectFailedError("b:1: no TLS handshake: certificate verify failed"), True),
        (ChannelBrokenError("b:1: the connection was lost: [SSL: SSLV3_ALERT_BAD_CERTIFICATE]"), True),
        (ConnectFailedError("b:1: refused"), False),
        (ValueError("[SSL"), False),
    ],
)  # fmt: skip
def test_connections_fail_because_of_certificates(error: Exception, *, expected: bool) -> None:
    assert is_about_tls(error) is expected


@pytest.mark.parametrize(
    ("code", "remark", "advice"),
    [
        (16, None, "see the credentials"),
        (1, "AclException: No default permission", "see the credentials"),
        (1, "does not support SQL92", "the broker needs enablePropertyFilter=true"),
        (26, None, "create the group"),
        (9, None, "see the log"),
    ],
)
def test_a_refused_pull_has_its_advice(code: int, remark: str | None, advice: str) -> None:
    assert advice in pull_advice(BrokerError(code, remark, RequestCode.PULL_MESSAGE, "b:1"))


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ConnectFailedError("n:1: refused"), "n:1: refused; see whether name servers n:1 and"),
        (ConnectFailedError("n:1: no TLS handshake"), "n:1: no TLS handshake; see options caFile"),
        (BrokerError(16, "two\nlines", RequestCode.PULL_MESSAGE, "b:1"), "two lines; see the cred"),
        (ValueError(), "ValueError; see whether"),
    ],
)
def test_an_error_is_described_in_one_line(error: Exception, line: str) -> None:
    assert line in describe(error, "n:1")
    assert "\n" not in describe(error, "n:1")
