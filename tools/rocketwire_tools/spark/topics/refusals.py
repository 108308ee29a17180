"""What users read of an error of a request: the advice is about secrets, certificates, addresses."""

from __future__ import annotations

from typing import Final

from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelError

OF_TLS: Final = (
    "see options caFile, certFile, keyFile and tlsServerName, and what the servers require"
)
_OF_ACCESS: Final = ("AclException", "AuthenticationException", "Authorization")
"""What remarks of brokers have: those of 4.x refuse with code 1."""


def is_about_access(error: Exception) -> bool:
    """Whether a broker of 4.x or 5.x rejected the credentials, or what their account may do."""
    if not isinstance(error, BrokerError):
        return False
    remark = error.remark or ""
    return error.code == ResponseCode.NO_PERMISSION or any(text in remark for text in _OF_ACCESS)


def is_about_tls(error: Exception) -> bool:
    """Whether a connection failed because of a certificate, or because one side has no TLS."""
    text = str(error)
    return isinstance(error, ChannelError) and ("TLS handshake" in text or "[SSL" in text)


def describe(error: Exception, name_servers: str) -> str:
    """What has failed and what to do, in one line.

    Args:
        error: of a question to name servers or brokers.
        name_servers: as option ``nameServers`` has them.
    """
    text = " ".join(str(error).split()) or type(error).__name__
    advice = f"see whether name servers {name_servers} and their brokers run and can be reached"
    if is_about_tls(error):
        advice = OF_TLS
    elif is_about_access(error):
        advice = (
            "see the credentials, and let the account subscribe to the topic and the group (Sub),"
            " and get the topic (Get) for timestamps and compacted topics"
        )
    return f"{text}; {advice}"


def pull_advice(error: BrokerError) -> str:
    """What to do about a broker that refuses a pull."""
    if is_about_access(error):
        return (
            "see the credentials, let the account subscribe to the topic and the group (Sub), and"
            " see the permission of the topic"
        )
    return _OF_PULLS.get(int(error.code), "see the log of the broker")


_OF_PULLS: Final = {
    int(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST): "create the group, or set option 'group'",
    int(ResponseCode.SYSTEM_ERROR): (
        "with option 'sql' the broker needs enablePropertyFilter=true"
    ),
}
