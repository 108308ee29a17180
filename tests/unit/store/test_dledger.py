"""Entries of DLedger, in the layout that ``test_layouts`` holds against Java's sizes."""

from __future__ import annotations

from struct import pack

import pytest

from rocketwire.errors import DecodeError
from rocketwire.store import dledger

ENTRY = dledger.DLedgerEntry(dledger.DATA, 52, 7, 2, 1000, 0, 0, 0, 4)
DATA = pack(">iiqqqiiii", *ENTRY) + b"body"


def test_an_entry_stands_at_its_position() -> None:
    assert dledger.decode_entry(b"__" + DATA, 2, 998) == ENTRY
    assert dledger.decode_entry(DATA, 0, 0) is None


@pytest.mark.parametrize(
    "change",
    [
        {"magic": 9},
        {"size": 53},
        {"size": 47, "body_size": -1},
        {"size": 148, "body_size": 100},
    ],
)
def test_an_entry_whose_numbers_disagree_is_none(change: dict[str, int]) -> None:
    data = pack(">iiqqqiiii", *ENTRY._replace(**change)) + b"body"

    assert dledger.decode_entry(data, 0, 1000) is None


@pytest.mark.parametrize("position", [-1, 5])
def test_no_entry_stands_elsewhere(position: int) -> None:
    assert dledger.decode_entry(DATA, position, 1000) is None


def test_a_blank_ends_a_file() -> None:
    assert dledger.blank_size(pack(">ii", -1, 100), 0) == 100
    assert dledger.blank_size(pack(">ii", -1, 7), 0) is None
    assert dledger.blank_size(pack(">ii", 1, 100), 0) is None
    assert dledger.blank_size(b"1234567", 0) is None


def test_the_index_names_an_entry() -> None:
    unit = dledger.DLedgerIndex(dledger.DATA, 1000, 52, 7, 2)
    data = pack(">iqiqq", *unit)

    assert dledger.decode_index(data, 0) == unit
    assert dledger.decode_index(bytes(32), 0) is None
    assert dledger.decode_index(data, 1) is None
    assert dledger.decode_index(data, -1) is None


def test_a_member_notes_its_end_and_its_term_line_by_line() -> None:
    """The bytes are those of the fixture ``dledger-5.5.0``, with other numbers."""
    noted = dledger.decode_dledger_checkpoint(b"committedIndex=240\nendIndex=241\n")
    term = dledger.decode_dledger_term(b"#comment\n voteLeader = n0\ncurrTerm=3\n")

    assert noted == (241, 240)
    assert term == (3, "n0")
    assert dledger.decode_dledger_term(b"currTerm=-1").vote_leader == ""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "endIndex is missing"),
        (bytes(100), "endIndex is missing"),
        (b"endIndex=1", "committedIndex is missing"),
        (b"endIndex=x\ncommittedIndex=1", "endIndex is no number"),
        (b"endIndex=9223372036854775808\ncommittedIndex=1", "endIndex is no number"),
        (b"endIndex=1\ncommittedIndex=\xc2\xb2", "committedIndex is no number"),
    ],
)
def test_a_checkpoint_without_its_numbers_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        dledger.decode_dledger_checkpoint(data)
