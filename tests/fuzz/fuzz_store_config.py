"""Any bytes are a configuration file of a broker or a ``DecodeError``, and its offsets are numbers."""

from __future__ import annotations

from rocketwire.store.config_files import consumer_offsets, decode_config, delay_offsets
from tests.fuzz import seeds, stores


def read(data: bytes) -> None:
    """As each file that has offsets."""
    config = decode_config(data)
    for table in ("offsetTable", "pullOffsetTable"):
        for queues in consumer_offsets(config, table).values():
            assert all(isinstance(number, int) for pair in queues.items() for number in pair)
    assert all(isinstance(number, int) for pair in delay_offsets(config).items() for number in pair)


def start() -> list[bytes]:
    """Those of all stores, and some whose keys are no numbers of Java's."""
    odd = [
        b'{"offsetTable":{"a@b":{"--1":1,"-":2,"\xd9\xa3":3,"%b":4,0:true}}}' % seeds.NINES,
        b'{"offsetTable":{"%b":1,"\xc2\xb2":2,1:1e3,2:null}}' % seeds.NINES,
        b'{"offsetTable":[1],"pullOffsetTable":{"a@b@c":{},"@":{},"a@b":7}}',
    ]
    return [*stores.seeds("/config/"), *odd]
