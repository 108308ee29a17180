"""The decoder against captures of a generator that shares no code with it, whose truth is exact."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from tests.support.foreign.captures import PROFILES, capture
from tests.support.foreign.files import Writer
from tests.support.foreign.tcp import Truth

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Rows = Counter[tuple[Any, ...]]

COLUMNS: Final = tuple(name for name in Truth._fields if name not in {"gap", "certain"})
MODES: Final = {
    "usual": Options(),
    "careful": Options(careful=True),
    "small chunks": Options(chunk_size=20_000),
}


def truth_rows(truth: Iterable[Truth]) -> Rows:
    return Counter(tuple(getattr(frame, name) for name in COLUMNS) for frame in truth)


def decoded_rows(path: Path, options: Options) -> Rows:
    return Counter(
        tuple(row[name] for name in COLUMNS)
        for batch in Decoder(str(path), options)
        for row in batch.to_pylist()
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("profile", PROFILES)
def test_every_column_of_every_frame_is_the_truth(
    profile: str, seed: int, mode: str, tmp_path: Path
) -> None:
    small = replace(PROFILES[profile], connections=30, frames=600, reused=0.0)
    traffic = capture(small, seed)
    path = tmp_path / "foreign.pcap"
    with path.open("wb") as file:
        Writer(file).write(traffic.packets)

    rows = decoded_rows(path, MODES[mode])

    certain = truth_rows(frame for frame in traffic.truth if frame.certain)
    assert certain - rows == Counter()
    assert rows - truth_rows(traffic.truth) == Counter()
