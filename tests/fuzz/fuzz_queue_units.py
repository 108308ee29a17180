"""Any bytes are units of a queue, of a batch queue and an extension; and what was read comes back."""

from __future__ import annotations

from rocketwire.store import consume_queue
from tests.fuzz import stores


def read(data: bytes) -> None:
    """As each of the three."""
    units = list(consume_queue.decode_units(data))
    assert data.startswith(b"".join(map(consume_queue.encode_unit, units)))
    for unit in units:
        assert not (unit.is_pre_blank and unit.points_to_message)
        offset = consume_queue.extension_offset(unit.tags_code)
        if offset is not None:
            consume_queue.decode_extension(data, offset)
    batches = list(consume_queue.decode_batch_units(data))
    assert data.startswith(b"".join(map(consume_queue.encode_batch_unit, batches)))
    for position in range(0, len(data), consume_queue.UNIT_SIZE):
        extension = consume_queue.decode_extension(data, position)
        assert extension is None or len(extension.bit_map) <= len(data)


def start() -> list[bytes]:
    """Queues of all kinds."""
    return stores.seeds("/consumequeue/", "/batchconsumequeue/", "/consumequeue_ext/")
