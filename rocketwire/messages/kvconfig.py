"""The name server's key-value configuration: codes 100, 101, 102 and 219."""

from __future__ import annotations

from collections.abc import Mapping

from rocketwire.messages._codec.fields import NULLABLE_STRING, STRING, ext, mapping, member
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PutKVConfigRequestHeader:
    """Stores one value (code 100).
    Java: ``remoting.protocol.header.namesrv.PutKVConfigRequestHeader``."""

    namespace: str | None = ext(STRING, required=True)
    key: str | None = ext(STRING, required=True)
    value: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetKVConfigRequestHeader:
    """Asks for one value (code 101).
    Java: ``remoting.protocol.header.namesrv.GetKVConfigRequestHeader``."""

    namespace: str | None = ext(STRING, required=True)
    key: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetKVConfigResponseHeader:
    """The requested value. Java: ``remoting.protocol.header.namesrv.GetKVConfigResponseHeader``."""

    value: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteKVConfigRequestHeader:
    """Removes one value (code 102).
    Java: ``remoting.protocol.header.namesrv.DeleteKVConfigRequestHeader``."""

    namespace: str | None = ext(STRING, required=True)
    key: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetKVListByNamespaceRequestHeader:
    """Asks for everything in one namespace (code 219).
    Java: ``remoting.protocol.header.namesrv.GetKVListByNamespaceRequestHeader``."""

    namespace: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class KVTable:
    """A table of texts; several responses use it."""

    table: Mapping[str, str] | None = member(mapping(STRING, STRING), default={})


@dataclass(frozen=True, slots=True, kw_only=True)
class KVConfigSerializeWrapper:
    """The name server's file of all namespaces, ``kvConfig.json``.
    Java: ``namesrv.kvconfig.KVConfigSerializeWrapper``."""

    config_table: Mapping[str, Mapping[str, str | None]] | None = member(
        mapping(STRING, mapping(STRING, NULLABLE_STRING))
    )
