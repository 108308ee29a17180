"""The text that fixes the queues of an ordered topic: ``broker:queues;broker:queues``.

Java: ``DefaultMQAdminExtImpl.createOrUpdateOrderConf``, ``UpdateOrderConfCommand``.
"""

from __future__ import annotations

import re
from typing import Final

from rocketwire.errors import LocalProtocolError

_ITEM: Final = re.compile(r"[^:;\s]+:[0-9]{1,5}")


def merged_order_conf(known: str | None, text: str) -> str:
    """What is known, with what ``text`` says of the brokers that it names.

    Java keeps them in the order of a hash map; here they keep their order.

    Raises:
        LocalProtocolError: ``text`` is not ``broker:queues``, several with ``;`` between.
    """
    items = [item.strip() for item in text.split(";")]
    if not all(_ITEM.fullmatch(item) for item in items):
        raise LocalProtocolError(f"not broker:queues;... but {text[:80]!r}")
    old = [item for item in (known or "").split(";") if item]
    return ";".join({item.partition(":")[0]: item for item in [*old, *items]}.values())
