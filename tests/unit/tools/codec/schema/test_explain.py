"""``explain``: the ranges are the packet, and their names are those of the declarations."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError
from rocketwire.wire.layouts.functions import BINARY_HEADER, STORED_MESSAGE
from rocketwire_tools.codec.__main__ import LAYOUT_NAMES
from rocketwire_tools.codec.schema.explain import explain
from rocketwire_tools.codec.schema.layouts import LAYOUTS, layout_rows
from rocketwire_tools.codec.schema.walk import ranges
from tests.support import golden
from tests.support.codec_in_process import only, run


def gathered(data: bytes, layout: str = "frame") -> tuple[list[dict[str, Any]], bool]:
    """The ranges, and whether the packet was refused after them."""
    found: list[dict[str, Any]] = []
    try:
        found.extend(explain(data, layout))
    except DecodeError:
        return list(_kept(data, layout)), True
    return found, False


def _kept(data: bytes, layout: str) -> Any:
    pieces = explain(data, layout)
    while True:
        try:
            yield next(pieces)
        except (DecodeError, StopIteration):
            return


def assert_gapless(data: bytes, found: list[dict[str, Any]]) -> None:
    assert data.hex() == "".join(piece["hex"] for piece in found)
    sizes = [len(piece["hex"]) // 2 for piece in found]
    assert [0, *itertools.accumulate(sizes)][:-1] == [piece["offset"] for piece in found]


@pytest.mark.parametrize("vector", golden.vectors(), ids=lambda vector: vector.id)
def test_the_ranges_of_a_packet_are_the_packet(vector: golden.Vector) -> None:
    found, bad = gathered(vector.data)

    assert not bad
    assert_gapless(vector.data, found)
    assert [["offset", "hex", "field", "meaning"]] * len(found) == [list(piece) for piece in found]


@pytest.mark.parametrize("vector", golden.bad_vectors(), ids=lambda vector: vector.id)
def test_the_ranges_of_a_bad_packet_are_the_packet_too(vector: golden.BadVector) -> None:
    found, bad = gathered(vector.data)

    assert bad
    assert_gapless(vector.data, found)


@given(data=st.binary(max_size=200), layout=st.sampled_from(LAYOUT_NAMES))
def test_any_bytes_are_explained_as_far_as_they_go(data: bytes, layout: str) -> None:
    found, _ = gathered(data, layout)

    assert_gapless(data, found)


@given(st.data())
def test_damaged_packets_are_explained_as_far_as_they_go(data: st.DataObject) -> None:
    packet = bytearray(data.draw(st.sampled_from(golden.vectors())).data)
    for _ in range(data.draw(st.integers(1, 3))):
        packet[data.draw(st.integers(0, len(packet) - 1))] = data.draw(st.integers(0, 255))

    found, _ = gathered(bytes(packet))

    assert_gapless(bytes(packet), found)


def test_a_binary_header_is_explained_field_by_field() -> None:
    line = only(
        "encode",
        line={"code": 105, "serialize_type": "ROCKETMQ", "remark": "r", "ext_fields": {"k": "v"}},
    )

    found = run("explain", stdin=[line]).lines

    assert [
        "length",
        "header_type",
        "header_length",
        "header.code",
        "header.language",
        "header.version",
        "header.opaque",
        "header.flag",
        "header.remark.length",
        "header.remark",
        "header.ext_fields.length",
        "header.ext_fields.key.length",
        "header.ext_fields.key",
        "header.ext_fields.value.length",
        "header.ext_fields.value",
    ] == [piece["field"] for piece in found]
    assert "GET_ROUTEINFO_BY_TOPIC" in found[3]["meaning"]
    assert found[4]["meaning"] == "3: PYTHON"


def test_a_json_header_is_explained_member_by_member() -> None:
    line = only("encode", line={"code": 105, "ext_fields": {"a": "1", "b": "2"}})

    fields = [piece["field"] for piece in run("explain", stdin=[line]).lines]

    assert {"header.code", "header.extFields.a", "header.extFields.b", "header.opaque"} <= set(
        fields
    )


def test_stored_messages_in_an_answer_are_explained_each() -> None:
    messages = [{"topic": "T", "body": "6869"}, {"topic": "U"}]
    line = only(
        "encode",
        "--request-code",
        "11",
        line={"code": 0, "flag": 1, "body": {"value": messages}},
    )

    found = run("explain", "--request-code", "11", stdin=[line]).lines

    assert ["T", "U"] == [piece["meaning"] for piece in found if piece["field"] == "body.topic"]
    plain = run("explain", stdin=[line]).lines
    assert [len(messages)] == [
        1 + piece["hex"].count("daa320a7") // 2 for piece in plain if piece["field"] == "body"
    ]


def test_a_batch_and_a_packed_registration_are_explained() -> None:
    batch = only("encode", line={"code": 320, "body": {"value": [{"body": "61"}, {"body": "62"}]}})
    fields = [piece["field"] for piece in run("explain", stdin=[batch]).lines]
    assert {"body[0].body", "body[1].body"} <= set(fields)

    plain = (
        "00000002"
        + b"{}".hex()
        + "00000001"
        + "00000001"
        + "54"
        + "00000002"
        + b"[]".hex()
        + "00000000"
    )
    found = run("explain", "--layout", "register-body-with-mappings", stdin=[plain]).lines
    assert "topics[0]" in [piece["field"] for piece in found]
    assert run("explain", "--layout", "register-body", stdin=[plain]).status == 1


def test_a_table_is_for_looking_at() -> None:
    line = only("encode", line={"code": 105})["hex"]
    bad = line[:-2]

    with pytest.raises(ValueError, match="Extra data"):  # no JSON
        run("explain", "--text", stdin=[line, bad])


def test_the_command_line_names_every_layout() -> None:
    assert LAYOUT_NAMES == tuple(LAYOUTS)


def test_rows_and_ranges_name_the_same_fields() -> None:
    data = bytes.fromhex(
        only(
            "stored",
            "--encode",
            line={"messages": [{"topic": "T", "body": "61", "properties": {"a": "b"}}]},
        )["hex"]
    )

    named = {piece.path for piece in ranges(STORED_MESSAGE, data)}

    assert named - {"topic.length"} == {row["field"] for row in layout_rows(STORED_MESSAGE)} - {""}
    assert "remark" in {row["field"] for row in layout_rows(BINARY_HEADER)}
