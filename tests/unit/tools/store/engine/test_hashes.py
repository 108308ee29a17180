"""Hash codes of many texts are those of each."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.policy.java_strings import string_hash
from rocketwire.store.folder import read_folder
from rocketwire.store.index_file import key_hash
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.store.engine.index_keys import key_hashes
from rocketwire_tools.store.engine.properties import TEXT, pa, string_hashes
from rocketwire_tools.store.engine.rows import Rows, TopicNames
from rocketwire_tools.store.engine.scan import LogScan

TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.text("abc#1")
LONG = st.integers(1, 5000).map(lambda size: "".join(chr(33 + n % 90) for n in range(size)))


@given(st.lists(TEXTS | LONG), st.sampled_from(["", "a#", "t" * 99]))
def test_hash_codes_are_those_of_java(texts: list[str], begin: str) -> None:
    begins = np.full(len(texts), string_hash(begin))

    hashes = string_hashes(pa.array(["left out", *texts], TEXT)[1:], begins)

    assert hashes.tolist() == [string_hash(begin + text) for text in texts]


def test_entries_are_unique_key_words_and_tag_of_each_row(tmp_path: Path) -> None:
    properties = [
        {"KEYS": " a  größe ", "TAGS": "t", "UNIQ_KEY": "U1"},
        {},
        {"TAGS": "paid"},
        {"KEYS": "c"},
    ]
    data = b""
    for number, row in enumerate(properties):
        message = StoredMessage(
            topic=f"topic{number % 3}", properties=row, commit_log_offset=len(data)
        )
        data += encode_stored_message(message)
    (tmp_path / f"{0:020}").write_bytes(data)
    (block,) = LogScan(files=read_folder([tmp_path / f"{0:020}"]).commit_log)

    rows, hashes, is_tag = key_hashes(Rows(block, TopicNames()))

    expected = [(0, "topic0", "U1"), (0, "topic0", "a"), (0, "topic0", "größe")]
    expected += [(0, "topic0", "T#t"), (2, "topic2", "T#paid"), (3, "topic0", "c")]
    assert rows.tolist() == [row for row, _, _ in expected]
    assert hashes.tolist() == [key_hash(topic, key) for _, topic, key in expected]
    assert is_tag.tolist() == [key.startswith("T#") for _, _, key in expected]


def test_smallest_hash_code_is_0_in_an_index(tmp_path: Path) -> None:
    assert string_hash("t#qolygtg") == -(1 << 31)
    message = StoredMessage(topic="t", properties={"KEYS": "qolygtg"})
    (tmp_path / f"{0:020}").write_bytes(encode_stored_message(message))
    (block,) = LogScan(files=read_folder([tmp_path / f"{0:020}"]).commit_log)

    assert key_hashes(Rows(block, TopicNames()))[1].tolist() == [0]
