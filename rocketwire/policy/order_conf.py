"""The configuration of an ordered topic's queues: ``broker:queues;broker:queues``.

Java: ``DefaultMQAdminExtImpl.createOrUpdateOrderConf``, ``UpdateOrderConfCommand``.
"""

from __future__ import annotations

import re
from typing import Final

from rocketwire.errors import LocalProtocolError

_ITEM: Final = re.compile(r"[^:;\s]+:[0-9]{1,5}")


def merge_order_conf(current: str | None, update: str) -> str:
    """Merge the brokers of ``update`` into the current configuration.

    Brokers keep their order here; Java uses the order of a hash map.

    Raises:
        LocalProtocolError: ``update`` is not ``broker:queues``, separated by ``;``.
    """
    items = [item.strip() for item in update.split(";")]
    if not all(_ITEM.fullmatch(item) for item in items):
        raise LocalProtocolError(f"{update[:80]!r}: must be broker:queues;broker:queues")
    current_items = [item for item in (current or "").split(";") if item]
    merged = {item.partition(":")[0]: item for item in [*current_items, *items]}
    return ";".join(merged.values())
