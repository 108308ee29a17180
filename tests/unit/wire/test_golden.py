"""Recorded packets of real peers, read in every way, and hand-made bad ones."""

import json
import re

import pytest

from rocketwire.errors import DecodeError
from rocketwire.wire.command import CommandDecoder, decode
from tests.peers import manifest
from tests.support import golden
from tests.support.name_servers import SERVED_CODES

GIVES_AWAY = re.compile(
    r"/(?:root|home|tmp|work|usr|var)/|\b(?!127\.|0\.0\.0\.0\b)\d{1,3}(?:\.\d{1,3}){3}:\d"
)


@pytest.mark.parametrize("vector", golden.vectors(), ids=lambda vector: vector.id)
def test_a_packet_is_read_as_java_reads_it_however_it_arrives(vector: golden.Vector) -> None:
    golden.read_four_ways(vector)


@pytest.mark.parametrize("vector", golden.bad_vectors(), ids=lambda vector: vector.id)
def test_a_bad_packet_is_refused_with_the_error_that_fits(vector: golden.BadVector) -> None:
    with pytest.raises(vector.error):
        decode(vector.data)


@pytest.mark.parametrize("vector", golden.bad_vectors(), ids=lambda vector: vector.id)
def test_a_stream_refuses_a_bad_packet_or_waits_for_its_end(vector: golden.BadVector) -> None:
    decoder = CommandDecoder()
    decoder.feed(vector.data)

    if vector.stream_waits:
        assert decoder.next_command() is None
    else:
        with pytest.raises(DecodeError):
            decoder.next_command()


def test_every_file_of_the_fixtures_has_an_entry_and_every_entry_its_file() -> None:
    entries = [str(entry["file"]) for entries in manifest.load().values() for entry in entries]
    files = {
        path.relative_to(manifest.FIXTURES).as_posix()
        for path in manifest.FIXTURES.rglob("*")
        if path.is_file() and path != manifest.MANIFEST
    }

    assert sorted(files) == sorted(entries)


def test_every_file_of_the_fixtures_is_the_one_that_was_recorded() -> None:
    changed = [
        entry["file"]
        for entries in manifest.load().values()
        for entry in entries
        if entry["sha256"] != manifest.sha256(str(entry["file"]))
    ]

    assert changed == []


def test_the_manifest_is_as_its_writer_writes_it() -> None:
    assert manifest.text(manifest.load()) == manifest.MANIFEST.read_text("utf-8")


def test_no_packet_gives_a_path_or_an_outer_address_away() -> None:
    result = {
        vector.id: match.group()
        for vector in golden.vectors()
        for text in (vector.data.decode("latin-1"), json.dumps(vector.facts))
        if (match := GIVES_AWAY.search(text))
    }

    assert result == {}


def test_packets_cover_both_header_forms_three_releases_all_operations() -> None:
    requests = [
        vector.facts for vector in golden.vectors() if not int(str(vector.facts["flag"])) & 1
    ]

    for form in ("JSON", "ROCKETMQ"):
        assert set(SERVED_CODES) <= {
            facts["code"] for facts in requests if facts["serialize_type"] == form
        }
