"""The ACL signature of a request: a pure function of the command and the credentials.

Rules of this file: signed are the values of all ext fields, in the order of their names, and then
the body.  Names, code, opaque, remark and flags are not, so nothing may be added to ``ext_fields``
after signing.  A field with an empty value is signed as empty here and as ``null`` by a server that
got it in a binary header: send it in a JSON header or leave it out.

One field is an exception, ``_UNIQUE_KEY_QUERY``: brokers of 4.9.4 never count it (and so refuse Java's own queries of that release),
later ones count it if the sender's version is above ``V4_9_3``.  So who sends it says to be of that version, and does not sign it.

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
SECURITY_TOKEN: Final = "SecurityToken"  # noqa: S105 - the name of a field
SIGNATURE: Final = "Signature"
UNIQUE_KEY_QUERY: Final = "_UNIQUE_KEY_QUERY"

LAST_VERSION_THAT_LEAVES_OUT_UNIQUE_KEY_QUERY: Final = 399
"""Senders up to this version add the field ``_UNIQUE_KEY_QUERY`` after they have signed."""


class SigningAlgorithm(Enum):
    """How a signature is made (Java: ``SigningAlgorithm``); its client and server use HmacSHA1."""

    HMAC_SHA1 = "HmacSHA1"
    HMAC_SHA256 = "HmacSHA256"
    HMAC_MD5 = "HmacMD5"

    @property
    def digest(self) -> str:
        """Name of the digest in ``hashlib``."""
        return self.value.removeprefix("Hmac").lower()


def sign(
    command: RemotingCommand,
    access_key: str,
    secret_key: str,
    security_token: str | None = None,
    *,
    algorithm: SigningAlgorithm = SigningAlgorithm.HMAC_SHA1,
) -> RemotingCommand:
    """``command`` with access key, token if there is one, and signature among its ext fields; of another version if need be.

    Args:
        command: as it will be sent; all of its ext fields are there.
        access_key: who sends.
        secret_key: known to the sender and the server; it is not sent.
        security_token: of temporary credentials.
        algorithm: what the server expects.

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
    """Whether ``command`` carries the signature of this secret key; compared in constant time.

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
    """The bytes that are signed: the values by the names' UTF-16 order, then the body.

    Args:
        ext_fields: of the command; ``Signature`` is left out, a missing value counts as ``null``.
        body: of the command.
    """
    names = sorted(ext_fields, key=_utf16)
    values = ("null" if value is None else value for value in map(ext_fields.get, names))
    text = "".join(value for name, value in zip(names, values, strict=True) if name != SIGNATURE)
    return encode_utf8(text) + (body or b"")


def signature_of(
    content: bytes, secret_key: str, *, algorithm: SigningAlgorithm = SigningAlgorithm.HMAC_SHA1
) -> str:
    """The signature of ``content``: padded Base64 (Java: ``AclSigner.calSignature``).

    Raises:
        LocalProtocolError: the secret key is empty.
    """
    if not secret_key:
        raise LocalProtocolError("an empty secret key signs nothing")
    return b64encode(hmac.digest(encode_utf8(secret_key), content, algorithm.digest)).decode()


def _utf16(name: str) -> bytes:
    """Sorts names as Java's ``TreeMap`` does: by UTF-16 code units, not by code points."""
    return name.encode("utf-16-be", "surrogatepass")
