"""The ACL signature of a request: a pure function of the command and the credentials.

The signature covers the values of all ext fields, in the order of their names, and then the body.
It does not cover names, code, opaque, remark and flags.  Do not add ext fields after signing.  This
module signs an empty value as empty; a server that received it in a binary header checks ``null``.
Send such a field in a JSON header or omit it.

``_UNIQUE_KEY_QUERY`` is an exception.  Brokers of 4.9.4 never sign it (and therefore reject Java's
own queries of that release); later brokers sign it if the sender's version is above ``V4_9_3``.  So
a command with this field is sent with version ``V4_9_3``, and the field is not signed.

Java: ``AclClientRPCHook``, ``AclUtils.combineRequestContent``, ``AclSigner``.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Final

from rocketwire.errors import LocalProtocolError
from rocketwire.wire.java_utf8 import encode_utf8

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.wire.command import RemotingCommand

ACCESS_KEY: Final = "AccessKey"
SECURITY_TOKEN: Final = "SecurityToken"  # noqa: S105 - a field name
SIGNATURE: Final = "Signature"
UNIQUE_KEY_QUERY: Final = "_UNIQUE_KEY_QUERY"

# Senders up to this version add the field ``_UNIQUE_KEY_QUERY`` after signing
LAST_VERSION_THAT_LEAVES_OUT_UNIQUE_KEY_QUERY: Final = 399


class SigningAlgorithm(Enum):
    """Hash function of a signature (Java: ``SigningAlgorithm``); Java uses HmacSHA1."""

    HMAC_SHA1 = "HmacSHA1"
    HMAC_SHA256 = "HmacSHA256"
    HMAC_MD5 = "HmacMD5"

    @property
    def digest(self) -> str:
        return self.value.removeprefix("Hmac").lower()


def sign(
    command: RemotingCommand,
    access_key: str,
    secret_key: str,
    security_token: str | None = None,
    *,
    algorithm: SigningAlgorithm = SigningAlgorithm.HMAC_SHA1,
) -> RemotingCommand:
    """Return ``command`` with access key, security token and signature in its ext fields.

    The version is lowered if the command has the field ``_UNIQUE_KEY_QUERY``.

    Args:
        command: the command with all of its other ext fields.
        access_key: name of the sender's account.
        secret_key: shared by the sender and the server; it is not sent.
        security_token: token of temporary credentials, or None.
        algorithm: the server's algorithm.

    Raises:
        LocalProtocolError: the secret key is empty.
    """
    fields = dict(command.ext_fields or {})
    fields[ACCESS_KEY] = access_key
    if security_token is not None:
        fields[SECURITY_TOKEN] = security_token
    version, signed = command.version, fields
    if UNIQUE_KEY_QUERY in fields:
        version = min(version, LAST_VERSION_THAT_LEAVES_OUT_UNIQUE_KEY_QUERY)
        signed = {name: value for name, value in fields.items() if name != UNIQUE_KEY_QUERY}
    content = signed_content(signed, command.body)
    fields[SIGNATURE] = signature_of(content, secret_key, algorithm=algorithm)
    return replace(command, version=version, ext_fields=fields)


def verify(
    command: RemotingCommand,
    secret_key: str,
    *,
    algorithm: SigningAlgorithm = SigningAlgorithm.HMAC_SHA1,
) -> bool:
    """Return whether ``command`` is signed with this secret key; compares in constant time.

    Raises:
        LocalProtocolError: the secret key is empty.
    """
    fields = dict(command.ext_fields or {})
    claimed = fields.get(SIGNATURE)
    if command.version <= LAST_VERSION_THAT_LEAVES_OUT_UNIQUE_KEY_QUERY:
        fields.pop(UNIQUE_KEY_QUERY, None)
    content = signed_content(fields, command.body)
    expected = signature_of(content, secret_key, algorithm=algorithm)
    return claimed is not None and hmac.compare_digest(encode_utf8(claimed), expected.encode())


def signed_content(ext_fields: Mapping[str, str | None], body: bytes | None) -> bytes:
    """Return the bytes to sign: the values in the UTF-16 order of the names, then the body.

    Args:
        ext_fields: ext fields; ``Signature`` is skipped, None is signed as ``null``.
        body: body of the command.
    """
    names = sorted(ext_fields, key=_utf16)
    values = ("null" if value is None else value for value in map(ext_fields.get, names))
    text = "".join(value for name, value in zip(names, values, strict=True) if name != SIGNATURE)
    return encode_utf8(text) + (body or b"")


def signature_of(
    content: bytes, secret_key: str, *, algorithm: SigningAlgorithm = SigningAlgorithm.HMAC_SHA1
) -> str:
    """Return the signature of ``content`` in padded Base64 (Java: ``AclSigner.calSignature``).

    Raises:
        LocalProtocolError: the secret key is empty.
    """
    if not secret_key:
        raise LocalProtocolError("the secret key is empty")
    return b64encode(hmac.digest(encode_utf8(secret_key), content, algorithm.digest)).decode()


def _utf16(name: str) -> bytes:
    # Java's ``TreeMap`` sorts names by UTF-16 code units.
    return name.encode("utf-16-be", "surrogatepass")
