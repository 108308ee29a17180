"""Rows of a block, and the numbers of their topics."""

from pathlib import Path
from random import Random

import pytest

from rocketwire.store.folder import read_folder
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.store.engine.rows import Rows, TopicNames
from rocketwire_tools.store.engine.scan import LogScan


@pytest.mark.parametrize("count", [1, 5, 70])
def test_equal_topics_have_one_number_and_different_ones_never(count: int, tmp_path: Path) -> None:
    chance = Random(count)
    names = [chance.choice("ab") * chance.choice((1, 7, 8, 9, 16, 127)) for _ in range(count)]
    names += [name[:-1] + "c" for name in names] + ["c" + name[1:] for name in names]
    topics = chance.choices(names, k=400)
    data = b""
    for topic in topics:
        message = StoredMessage(topic=topic, body=b"x", commit_log_offset=len(data))
        data += encode_stored_message(message)
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "commitlog" / f"{0:020}").write_bytes(data.ljust(1 << 20, b"\0"))

    numbers = TopicNames()
    read: list[str] = [
        numbers.names[number]
        for block in LogScan(files=read_folder([tmp_path]).commit_log, block_size=20_000)
        for number in Rows(block, numbers).topic_numbers.tolist()
    ]

    assert read == topics
    assert numbers.names == list(dict.fromkeys(topics))
