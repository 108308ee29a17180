"""Real frames cut at every byte: the rows are those of the recorded capture, however the bytes came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.decode.split_decoder import SplitDecoder
from rocketwire_tools.pcap.files.splits import plan
from tests.peers import manifest
from tests.peers.foreign.files import save
from tests.support.captures.recut import (
    Segments,
    Sent,
    Utterance,
    cut,
    exchanges,
    read_recorded,
    resend,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rocketwire_tools.pcap.arrow import Batch
    from tests.peers.foreign.tcp import Packet

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
    found: Content = Counter()
    for batch in batches:
        found.update(zip(*(batch.column(name).to_pylist() for name in fields), strict=True))
    return found


@pytest.fixture(scope="module", params=RECORDED)
def dialogues(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Dialogues:
    capture = manifest.FIXTURES / "captures" / f"{request.param}.pcap.gz"
    seen: set[int] = set()
    conversations = [
        exchange for one in read_recorded(capture) for exchange in exchanges(one, seen)
    ]
    of_capture = content(Decoder(str(capture), Options(fields=PAIRED)))
    whole = [[Sent(*one, cut(one.data)) for one in conversation] for conversation in conversations]
    path = save(tmp_path_factory.mktemp("whole") / "whole.pcap", resend(whole))
    rows = content(Decoder(str(path), Options(fields=PAIRED)))
    assert sum(map(len, conversations)) == rows.total() > 30
    assert rows <= of_capture
    longest = max(
        8 + int.from_bytes(one.data[5:8], "big")
        for conversation in conversations
        for one in conversation
    )
    return Dialogues(conversations, rows, longest)


# ---- where frames are cut


def in_two(data: bytes, at: int) -> Segments:
    return cut(data, at)


def in_three(data: bytes, at: int) -> Segments:
    return cut(data, at, at + 1 + at % 7)


def in_three_out_of_order(data: bytes, at: int) -> Segments:
    parts = in_three(data, at)
    return [*parts[at % len(parts) :], *parts[: at % len(parts)]]


def in_two_out_of_order(data: bytes, at: int) -> Segments:
    return cut(data, at)[::-1]


def sent_again(data: bytes, at: int) -> Segments:
    """The second segment begins with bytes of the first, which is sent again later with bytes of the second."""
    start = max(at - 5, 0)
    return [(0, data[:at]), (start, data[start:]), (0, data[: at + 3])]


def a_later_repetition_came_first(data: bytes, at: int) -> Segments:
    return [(at, data[at:]), (0, data[: at + 9]), (0, data[:at])] if at < len(data) else cut(data)


WAYS_TO_CUT = (
    in_two, in_three, in_two_out_of_order, in_three_out_of_order, sent_again, a_later_repetition_came_first,
)  # fmt: skip


def each_in_a_connection(conversations: list[list[Utterance]], at: int, way: Way) -> Connections:
    """A connection for each request and its response."""
    return [
        [Sent(*one, way(one.data, at)) for one in conversation] for conversation in conversations
    ]


def all_in_a_connection(conversations: list[list[Utterance]], at: int, way: Way) -> Connections:
    """One connection, so that cuts follow each other."""
    return [[sent for each in each_in_a_connection(conversations, at, way) for sent in each]]


def back_to_back(conversations: list[list[Utterance]], at: int, way: Way) -> Connections:
    """All requests at once and then all responses, so that segments end and begin within frames."""
    sent: list[Sent] = []
    for by_client in (True, False):
        frames = [
            one.data
            for conversation in conversations
            for one in conversation
            if one.by_client == by_client
        ]
        data, places, start = b"".join(frames), [0], 0
        for frame in frames:
            places += [start + place for place, _ in way(frame, at) if place]
            start += len(frame)
        places = [*sorted(set(places)), len(data)]
        sent.append(Sent(by_client, data, [(a, data[a:b]) for a, b in pairwise(places)]))
    return [sent]


def disturb(connections: Connections) -> Connections:
    """The same, with a segment in front whose repetition is longer."""
    found: Connections = []
    for first, *others in connections:
        (_, data), *rest = cut(first.data, 9)
        again = Sent(
            first.by_client, first.data, [(0, data), (0, first.data[:12]), *cut(first.data)]
        )
        found.append([again if rest else first, *others])
    return found


def disturbing(layout: Layout) -> Layout:
    """The layout, with each of its connections disturbed."""

    def disturbed_layout(frames: list[list[Utterance]], at: int, way: Way) -> Connections:
        return disturb(layout(frames, at, way))

    return disturbed_layout


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
    dialogues: Dialogues, at: list[int], layout: Layout, way: Way, *, has_start: bool = True
) -> tuple[list[Packet], Content]:
    """Packets of frames that are cut at some bytes, and the expected rows."""
    connections = [one for place in at for one in layout(dialogues.conversations, place, way)]
    expected = Counter({key: len(at) * count for key, count in dialogues.rows.items()})
    return resend(connections, has_start=has_start), expected


# ---- on every path


def fields_of(layout: Layout) -> tuple[str, ...]:
    """Frames of several clients in one connection have the same opaque, and no pairs."""
    return FIELDS if layout is back_to_back else PAIRED


def without_pairs(found: Content) -> Content:
    alone: Content = Counter()
    for key, count in found.items():
        alone[key[: len(FIELDS)]] += count
    return alone


@every_layout
def test_every_frame_is_found_wherever_it_is_cut(
    dialogues: Dialogues, layout: Layout, way: Way, tmp_path: Path
) -> None:
    packets, expected = packets_of(dialogues, every_byte(dialogues), layout, way)
    path = save(tmp_path / "cut.pcap", packets)
    fields = fields_of(layout)
    found = content(Decoder(str(path), Options(fields=fields)), fields)
    assert found == (expected if fields is PAIRED else without_pairs(expected))


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
        monkeypatch.setattr("rocketwire_tools.pcap.files.reader.MOST_RECORDS", 9)
    packets, expected = packets_of(
        dialogues,
        few_bytes(dialogues),
        disturbing(layout) if path_of_code == "disturbed" else layout,
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
        found = content(batches, FIELDS)
    else:
        options = Options(fields=fields, careful=path_of_code == "careful")
        found = content(Decoder(path, options), fields)
    assert found == (expected if fields is PAIRED else without_pairs(expected))
