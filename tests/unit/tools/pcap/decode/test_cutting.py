"""Real frames that are cut at every byte have the rows of the recorded capture."""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rocketwire_tools.pcap.arrow import Batch
from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.decode.split_decoder import SplitDecoder
from rocketwire_tools.pcap.files.splits import plan
from tests.peers import manifest
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import Packet
from tests.support.captures.recut import (
    Segments,
    Sent,
    Utterance,
    cut,
    exchanges,
    read_recorded,
    resend,
)

FIELDS = (
    "kind", "code", "opaque", "flag", "language", "version", "remark", "topic", "group", "queue_id",
    "frame_length", "header_length", "body_length", "serialize_type", "header_ok", "body_ok", "gap", "ext_fields",
)  # fmt: skip
"""The columns of a row that do not depend on where the frame was captured."""
PAIRED = (*FIELDS, "request_code")
RECORDED = ("java-5.5.0", pytest.param("java-5.5.0-binary", marks=pytest.mark.full))

Content = Counter[tuple[Any, ...]]
Connections = list[list[Sent]]


Way = Callable[[bytes, int], Segments]
Layout = Callable[[list[list[Utterance]], int, Way], Connections]


class Dialogues(NamedTuple):
    """Requests with their responses, and the rows that a recorded capture has for them."""

    conversations: list[list[Utterance]]
    rows: Content
    longest: int


def content(batches: Iterable[Batch], fields: tuple[str, ...] = PAIRED) -> Content:
    counts: Content = Counter()
    for batch in batches:
        counts.update(zip(*(batch.column(name).to_pylist() for name in fields), strict=True))
    return counts


@pytest.fixture(scope="module", params=RECORDED)
def dialogues(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Dialogues:
    capture = manifest.FIXTURES / "captures" / f"{request.param}.pcap.gz"
    codes: set[int] = set()
    conversations = [
        exchange for frame in read_recorded(capture) for exchange in exchanges(frame, codes)
    ]
    of_capture = content(Decoder(str(capture), Options(fields=PAIRED)))
    in_one_piece = [
        [Sent(*frame, cut(frame.data)) for frame in conversation] for conversation in conversations
    ]
    path = save(tmp_path_factory.mktemp("whole") / "whole.pcap", resend(in_one_piece))
    rows = content(Decoder(str(path), Options(fields=PAIRED)))
    assert sum(map(len, conversations)) == rows.total() > 30
    assert rows <= of_capture
    longest = max(
        8 + int.from_bytes(frame.data[5:8], "big")
        for conversation in conversations
        for frame in conversation
    )
    return Dialogues(conversations, rows, longest)


# ---- where frames are cut


def in_two(data: bytes, place: int) -> Segments:
    return cut(data, place)


def in_three(data: bytes, place: int) -> Segments:
    return cut(data, place, place + 1 + place % 7)


def in_three_out_of_order(data: bytes, place: int) -> Segments:
    parts = in_three(data, place)
    return [*parts[place % len(parts) :], *parts[: place % len(parts)]]


def in_two_and_repeated(data: bytes, place: int) -> Segments:
    """The second segment begins with bytes of the first, which is sent again later with bytes of the second."""
    start = max(place - 5, 0)
    return [(0, data[:place]), (start, data[start:]), (0, data[: place + 3])]


def out_of_order_and_repeated(data: bytes, place: int) -> Segments:
    return (
        [(place, data[place:]), (0, data[: place + 9]), (0, data[:place])]
        if place < len(data)
        else cut(data)
    )


WAYS_TO_CUT = (
    in_two, in_three, in_three_out_of_order, in_two_and_repeated, out_of_order_and_repeated,
)  # fmt: skip


def each_in_a_connection(conversations: list[list[Utterance]], place: int, way: Way) -> Connections:
    """A connection for each request and its response."""
    return [
        [Sent(*frame, way(frame.data, place)) for frame in conversation]
        for conversation in conversations
    ]


def all_in_a_connection(conversations: list[list[Utterance]], place: int, way: Way) -> Connections:
    """One connection, so that cuts follow each other."""
    return [
        [
            sent
            for connection in each_in_a_connection(conversations, place, way)
            for sent in connection
        ]
    ]


def back_to_back(conversations: list[list[Utterance]], place: int, way: Way) -> Connections:
    """All requests at once and then all responses, so that segments end and begin within frames."""
    sides: list[Sent] = []
    for by_client in (True, False):
        frames = [
            frame.data
            for conversation in conversations
            for frame in conversation
            if frame.by_client == by_client
        ]
        data, places, start = b"".join(frames), [0], 0
        for frame in frames:
            places += [start + begin for begin, _ in way(frame, place) if begin]
            start += len(frame)
        places = [*sorted(set(places)), len(data)]
        sides.append(Sent(by_client, data, [(a, data[a:b]) for a, b in pairwise(places)]))
    return [sides]


def disturb(connections: Connections) -> Connections:
    """The same, with a segment in front whose repetition is longer."""
    disturbed: Connections = []
    for first, *following in connections:
        (_, data), *tail = cut(first.data, 9)
        repeated = Sent(
            first.by_client, first.data, [(0, data), (0, first.data[:12]), *cut(first.data)]
        )
        disturbed.append([repeated if tail else first, *following])
    return disturbed


def disturb_layout(layout: Layout) -> Layout:
    """The layout, with each of its connections disturbed."""

    def lay_out(frames: list[list[Utterance]], place: int, way: Way) -> Connections:
        return disturb(layout(frames, place, way))

    return lay_out


IN_CONNECTIONS = [
    (layout, way) for layout in (each_in_a_connection, all_in_a_connection) for way in WAYS_TO_CUT
]
LAYOUTS = [*IN_CONNECTIONS, (back_to_back, in_two), (back_to_back, in_three)]
every_layout = pytest.mark.parametrize(
    ("layout", "way"), LAYOUTS, ids=[f"{layout.__name__}-{way.__name__}" for layout, way in LAYOUTS]
)


def every_byte(dialogues: Dialogues) -> list[int]:
    """Cuts at every byte of the prefix and the header, and after them."""
    return list(range(1, dialogues.longest + 3))


def few_bytes(dialogues: Dialogues) -> list[int]:
    """Cuts within and next to the prefix, and at a few bytes of the header."""
    return [1, 3, 4, 5, 7, 8, 9, *range(20, dialogues.longest + 3, 61)]


def packets_of(
    dialogues: Dialogues, places: list[int], layout: Layout, way: Way, *, has_start: bool = True
) -> tuple[list[Packet], Content]:
    """Packets of frames that are cut at some bytes, and the expected rows."""
    connections = [
        connection for place in places for connection in layout(dialogues.conversations, place, way)
    ]
    expected = Counter({key: len(places) * count for key, count in dialogues.rows.items()})
    return resend(connections, has_start=has_start), expected


# ---- on every path


def fields_of(layout: Layout) -> tuple[str, ...]:
    """Frames of several clients in one connection have the same opaque, and no pairs."""
    return FIELDS if layout is back_to_back else PAIRED


def without_pairs(counts: Content) -> Content:
    unpaired: Content = Counter()
    for key, count in counts.items():
        unpaired[key[: len(FIELDS)]] += count
    return unpaired


@every_layout
def test_every_frame_is_found_wherever_it_is_cut(
    dialogues: Dialogues, layout: Layout, way: Way, tmp_path: Path
) -> None:
    packets, expected = packets_of(dialogues, every_byte(dialogues), layout, way)
    path = save(tmp_path / "cut.pcap", packets)
    fields = fields_of(layout)
    counts = content(Decoder(str(path), Options(fields=fields)), fields)
    assert counts == (expected if fields is PAIRED else without_pairs(expected))


@every_layout
@pytest.mark.parametrize(
    "path_of_code", ["careful", "disturbed", "midway", "in small chunks", "in parts"]
)
def test_rows_do_not_depend_on_the_way(
    path_of_code: str,
    dialogues: Dialogues,
    layout: Layout,
    way: Way,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if path_of_code == "in small chunks":
        monkeypatch.setattr("rocketwire_tools.pcap.files.reader.MAX_RECORDS", 9)
    packets, expected = packets_of(
        dialogues,
        few_bytes(dialogues),
        disturb_layout(layout) if path_of_code == "disturbed" else layout,
        way,
        has_start=path_of_code != "midway",
    )
    path = str(save(tmp_path / "cut.pcap", packets))
    fields = fields_of(layout)
    if path_of_code == "in parts":
        fields = FIELDS
        batches = [
            batch
            for part in plan(path, 50_001)
            for batch in SplitDecoder(part, Options(fields=FIELDS))
        ]
        counts = content(batches, FIELDS)
    else:
        options = Options(fields=fields, careful=path_of_code == "careful")
        counts = content(Decoder(path, options), fields)
    assert counts == (expected if fields is PAIRED else without_pairs(expected))
