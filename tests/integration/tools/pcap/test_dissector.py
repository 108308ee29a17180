"""The dissector for Wireshark has the codec's tables, and tshark finds the frames of our own decoder with it."""

import struct
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from rocketwire.codes import RequestCode
from rocketwire.messages.operations.registry import OPERATIONS
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.pcap.__main__ import main
from rocketwire_tools.pcap.dissector.dissector import dissector, tables
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import ACK, Packet
from tests.support.captures.decoded_rows import rows
from tests.support.captures.fixtures import SMALL, Made, make
from tests.support.tshark import needs_tshark
from tests.support.tshark import rows as tshark_rows

Seen = Counter[tuple[str, ...]]
CLIENT, SERVER = ("10.0.0.1", 40_000), ("10.0.0.2", 10911)


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dissector") / "rocketmq.lua"
    path.write_text(dissector(), "utf-8")
    return path


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Made:
    profile = replace(SMALL, repeated=0.0, reordered=0.0, ongoing=0.0)
    return make(tmp_path_factory.mktemp("clean") / "clean.pcap", profile, 3)


def read_by_tshark(capture: Path, script: Path) -> Seen:
    names = ("length", "kind", "code", "opaque")
    fields = ["tcp.srcport", "tcp.dstport", *(f"rocketmq.{name}" for name in names)]
    counts: Seen = Counter()
    for source, target, *columns in tshark_rows(
        capture, fields, script=script, only="rocketmq.length"
    ):
        for values in zip(*(column.split(",") for column in columns), strict=True):
            counts[source, target, *values] += 1
    return counts


def read_by_us(capture: Path) -> Seen:
    return Counter(
        (
            str(row["src_port"]), str(row["dst_port"]), str(row["frame_length"] - 4), row["kind"],
            str(row["code"]), str(row["opaque"]),
        )
        for row in rows(capture)
    )  # fmt: skip


def test_the_command_prints_the_same_text_every_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dissector"]) == 0
    assert dissector() == capsys.readouterr().out


def test_every_operation_of_the_registry_has_its_header_classes() -> None:
    result = tables()
    assert set(OPERATIONS) == set(result["operations"])
    assert result["operations"][310]["request"] == {
        "name": "SendMessageRequestHeaderV2",
        "renamed": {
            "a": "producerGroup", "b": "topic", "c": "defaultTopic", "d": "defaultTopicQueueNums", "e": "queueId",
            "f": "sysFlag", "g": "bornTimestamp", "h": "flag", "i": "properties", "j": "reconsumeTimes",
            "k": "unitMode", "l": "maxReconsumeTimes", "m": "batch", "n": "brokerName",
        },
    }  # fmt: skip
    assert len(RequestCode.__members__) == len(result["requests"])


@pytest.mark.process
@needs_tshark
def test_tshark_finds_every_frame_of_a_clean_capture_and_pairs_as_we_do(
    clean: Made, script: Path
) -> None:
    assert len(clean.truth) == read_by_us(clean.path).total()
    assert read_by_us(clean.path) == read_by_tshark(clean.path, script)
    result: Counter[str] = Counter()
    names = ("topic", "group", "queue_id", "request_code")
    fields = [f"rocketmq.{name}" for name in names]
    for columns in tshark_rows(clean.path, fields, script=script, only="rocketmq"):
        for name, column in zip(names, columns, strict=True):
            result.update(f"{name} {value}" for value in column.split(",") if value)
    expected = Counter(
        f"{name} {row[name]}" for row in rows(clean.path) for name in names if row[name] is not None
    )
    assert expected == result


@pytest.mark.process
@needs_tshark
@pytest.mark.parametrize("trouble", ["sample", "lossy"])
def test_tshark_invents_nothing_where_segments_are_missing(
    trouble: str, script: Path, request: pytest.FixtureRequest
) -> None:
    capture: Made = request.getfixturevalue(trouble)
    ours, theirs = read_by_us(capture.path), read_by_tshark(capture.path, script)
    assert Counter() == theirs - ours
    assert theirs.total() >= 0.95 * ours.total()


def capture_of(path: Path, *sent: bytes) -> Path:
    packets: list[Packet] = []
    position = 1000
    for number, data in enumerate(sent):
        packets.append(Packet(10**18 + number * 10**6, CLIENT, SERVER, position, 1, ACK, data))
        position += len(data)
    return save(path, packets)


FRAME = encode(
    RemotingCommand(code=105, opaque=7, ext_fields={"topic": 'gr\u00fcn "\U0001f600"\n'})
)


@pytest.mark.process
@needs_tshark
def test_texts_with_escapes_come_out_as_they_are(script: Path, tmp_path: Path) -> None:
    capture = capture_of(tmp_path / "a.pcap", FRAME)
    assert tshark_rows(capture, ["rocketmq.topic"], script=script) == [
        ['gr\u00fcn "\U0001f600"\\n']
    ]


@pytest.mark.process
@needs_tshark
def test_a_frame_in_pieces_of_any_size_is_put_together(script: Path, tmp_path: Path) -> None:
    pieces = [
        FRAME,
        *(FRAME[i : i + 7] for i in range(0, len(FRAME), 7)),
        FRAME + FRAME[:2],
        FRAME[2:],
    ]
    result = read_by_tshark(capture_of(tmp_path / "a.pcap", *pieces), script)
    assert result.total() == 4


@pytest.mark.process
@needs_tshark
@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([FRAME + struct.pack(">iI", 100, 4000) + b"x" * 96], "rocketmq.bad_length"),
        ([struct.pack(">iI", 24, 20) + b'{"code":nonsense!!!}'], "rocketmq.bad_header"),
        ([FRAME, b"nothing of the kind" + FRAME], "rocketmq.no_frame"),
    ],
)
def test_what_is_wrong_is_marked(
    sent: list[bytes], expected: str, script: Path, tmp_path: Path
) -> None:
    capture = capture_of(tmp_path / "a.pcap", *sent)
    assert tshark_rows(capture, ["frame.number"], script=script, only=expected)


@pytest.mark.process
@needs_tshark
def test_a_proxy_header_is_no_part_of_the_first_frame(script: Path, tmp_path: Path) -> None:
    line = b"PROXY TCP4 1.2.3.4 10.0.0.2 4711 10911\r\n"
    second = b"\r\n\r\n\0\r\nQUIT\n" + bytes.fromhex("2111000c") + bytes(12)
    for front in (line, second):
        result = read_by_tshark(capture_of(tmp_path / "a.pcap", front + FRAME), script)
        assert result.total() == 1
