"""The settings that a request may change (318), and their allowed values.

Rules of this file: pure.  A request can only change keys in ``ALLOWED``; unknown keys are ignored,
as in Java, even if the configuration file has them. A value that Java cannot read is ignored, too;
an invalid one that it can read is refused. One refused entry refuses the whole request.

Java only has a list of forbidden settings, and therefore a request could make it write any file
(CVE-2023-33246, CVE-2023-37582).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from rocketwire_namesrv.config.config import Config

BLACK_LIST_REMARK: Final = "Can not update config in black list."
"""Java's, which tools know."""

_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_INTEGER: Final = re.compile("[+-]?[0-9]+")
_MAX_TEXT: Final = 256
_DANGEROUS: Final = re.compile("path|home|dir$|file|password|secret|accesskey|blacklist", re.I)
"""Names of paths and secrets, in this server, in Java's, or in a broker."""
_START_ONLY: Final = re.compile(r"bindAddress$|(rocketwire|tls|com\.rocketmq)\.")

_SWITCHES: Final = (
    "clusterTest",
    "orderMessageEnable",
    "returnOrderTopicConfigToBroker",
    "supportActingMaster",
    "enableAllTopicList",
    "enableTopicList",
    "notifyMinBrokerIdChanged",
    "enableControllerInNamesrv",
    "needWaitForService",
    "deleteTopicWithBrokerRegistration",
    "enableShutdownGracefully",
    "serverNettyWorkerGroupEnable",
    "serverPooledByteBufAllocatorEnable",
    "useEpollNativeSelector",
)
_TEXTS: Final = ("productEnvName",)
_THREADS: Final = (1, 1024)
_QUEUE: Final = (1, 10_000_000)
_BUFFER: Final = (0, 64 * 1024 * 1024)
_NUMBERS: Final = {
    "listenPort": (0, 65_535),
    "scanNotActiveBrokerInterval": (10, 600_000),
    "waitSecondsForService": (0, 3_600),
    "serverChannelMaxIdleTimeSeconds": (10, 86_400),
    "shutdownWaitTimeSeconds": (0, 600),
    "clientRequestThreadPoolNums": _THREADS,
    "defaultThreadPoolNums": _THREADS,
    "serverWorkerThreads": _THREADS,
    "serverCallbackExecutorThreads": (0, 1024),
    "serverSelectorThreads": _THREADS,
    "clientRequestThreadPoolQueueCapacity": _QUEUE,
    "defaultThreadPoolQueueCapacity": _QUEUE,
    "unRegisterBrokerQueueCapacity": _QUEUE,
    "serverOnewaySemaphoreValue": _QUEUE,
    "serverAsyncSemaphoreValue": _QUEUE,
    "serverSocketBacklog": (1, 65_535),
    "serverSocketSndBufSize": _BUFFER,
    "serverSocketRcvBufSize": _BUFFER,
    "writeBufferHighWaterMark": _BUFFER,
    "writeBufferLowWaterMark": _BUFFER,
}

ALLOWED: Final = frozenset((*_SWITCHES, *_TEXTS, *_NUMBERS))
"""Keys that a request may change."""


class UpdateRefusedError(Exception):
    """An update is refused; the text is the remark of the answer."""


class Change(NamedTuple):
    key: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.key}: {self.old} -> {self.new}"


def changes_by(config: Config, entries: Mapping[str, str]) -> tuple[Config, tuple[Change, ...]]:
    """Apply an update to a configuration.

    Args:
        config: before the update.
        entries: of the request.

    Returns:
        The updated configuration, and the changes.

    Raises:
        UpdateRefusedError: at least one entry is not allowed; nothing is changed then.
    """
    old = config.flat()
    if not config.denied_keys.isdisjoint(entries):
        raise UpdateRefusedError(BLACK_LIST_REMARK)
    for key, text in entries.items():
        _check(key, text)
    allowed = {key: text for key, text in entries.items() if key in ALLOWED}
    updated = config.update(allowed)
    new = updated.flat()
    changed = tuple(
        Change(key, old.get(key, "null"), new[key]) for key in allowed if old.get(key) != new[key]
    )
    return updated, changed


def _check(key: str, text: str) -> None:
    if key not in ALLOWED:
        if _DANGEROUS.search(key):
            raise UpdateRefusedError(BLACK_LIST_REMARK)
        if _START_ONLY.match(key):
            raise UpdateRefusedError(f"Can not update config: start alone sets {key!a}.")
        return
    if _CONTROLS.search(text) or len(text) > _MAX_TEXT:
        raise UpdateRefusedError(f"Can not update config: {key} is no such text.")
    if key in _NUMBERS and _INTEGER.fullmatch(text):
        minimum, maximum = _NUMBERS[key]
        if not minimum <= int(text) <= maximum:
            remark = f"Can not update config: {key} must be from {minimum} to {maximum}."
            raise UpdateRefusedError(remark)
