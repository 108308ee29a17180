"""The exported vectors: our own codec reads them, with nothing at hand but what was exported."""

import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rocketwire import errors
from rocketwire.errors import DecodeError
from rocketwire.messages.operations.registry import CLASSES
from rocketwire.wire.command import CommandDecoder, RemotingCommand, decode, encode
from rocketwire_tools.codec.jsonl import Plain
from rocketwire_tools.codec.values.bodies import body_to_plain, registration_to_plain
from rocketwire_tools.conformance.__main__ import main
from rocketwire_tools.conformance.vectors import vectors
from tests.fuzz.headers import neutral
from tests.peers.cache import ROOT
from tests.support.vectors import JavaVector
from tests.unit.messages import test_vectors as typed
from tests.unit.tools.codec.values.test_decode import normalize
from tests.unit.wire import test_vectors as wire

Check = Callable[[JavaVector], None]


NAMES = {"expect": "value", "refuse": "error", "rocketwire": "here"}

ACCEPTED: dict[str, Check] = {
    "bodies/classes-": typed.test_a_body_is_read_and_written_as_java_does,
    "bodies/odd-": typed.test_an_odd_body_is_read_as_java_reads_it,
    "bodies/texts-": typed.test_a_body_is_read_and_written_as_java_does,
    "checksums/": wire.test_a_checksum_is_that_of_java,
    "frames/": wire.test_a_frame_is_read_as_java_reads_it_and_written_as_java_writes_it,
    "headers/binary": typed.test_a_typed_header_is_read_and_written_as_java_does,
    "headers/fast": typed.test_a_typed_header_is_read_and_written_as_java_does,
    "headers/json": typed.test_a_typed_header_is_read_and_written_as_java_does,
    "headers/least": typed.test_a_typed_header_is_read_and_written_as_java_does,
    "headers/texts": typed.test_odd_texts_in_a_header_are_read_as_java_reads_them,
    "registrations/before-37": typed.test_a_registration_of_an_old_broker_is_read_and_written_as_java_does,
    "registrations/json": typed.test_a_registration_is_read_and_written_as_java_does,
    "registrations/packed": typed.test_a_registration_is_read_and_written_as_java_does,
    "registrations/topics": typed.test_the_text_of_a_topic_is_read_and_written_as_java_does,
    "signatures/bytes": wire.test_bytes_have_the_signature_that_java_gives_them,
    "signatures/commands": wire.test_a_command_is_signed_as_a_java_client_signs_it,
    "stored/batches": wire.test_a_batch_is_read_and_written_as_java_does,
    "stored/bodies": wire.test_what_java_compressed_is_inflated_and_what_we_compress_inflates,
    "stored/compressed": wire.test_stored_messages_are_read_as_java_reads_them,
    "stored/inner-batches": wire.test_an_inner_batch_gives_the_messages_that_java_finds_in_it,
    "stored/messages": wire.test_stored_messages_are_read_as_java_reads_them,
    "stored/second-layout": wire.test_stored_messages_are_read_as_java_reads_them,
    "texts/message-ids": wire.test_a_message_id_says_what_java_reads_from_it,
    "texts/properties": wire.test_properties_are_read_and_written_as_java_does,
    "texts/unique-keys": wire.test_a_unique_key_says_what_java_reads_from_it,
}
REFUSED: dict[str, Check] = {
    "batches": wire.test_a_batch_that_java_refuses_is_refused,
    "binary-headers": wire.test_a_frame_that_java_refuses_is_refused,
    "bodies": typed.test_a_body_that_java_refuses_is_refused,
    "compressed": wire.test_bytes_that_java_cannot_inflate_are_refused,
    "header-fields": typed.test_fields_that_java_refuses_are_refused,
    "json-headers": wire.test_a_frame_that_java_refuses_is_refused,
    "message-ids": wire.test_a_message_id_that_java_refuses_is_refused,
    "registrations": typed.test_a_registration_that_java_refuses_is_refused,
    "stored": wire.test_a_stored_message_that_java_refuses_is_refused,
    "topics": typed.test_the_text_of_a_topic_that_java_refuses_is_refused,
}


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors") / "new"
    assert main(["vectors", "--export", str(folder)]) == 0
    return folder


def lines(file: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, file.read_text("ascii").splitlines())


def check_all(folder: Path, checks: dict[str, Check]) -> set[str]:
    """Check everything of a folder; returns the names of its sheets that were checked."""
    checked: set[str] = set()
    for file in sorted(folder.rglob("*.jsonl")):
        name = file.relative_to(folder).as_posix().removesuffix(".jsonl")
        starts = [start for start in checks if name.startswith(start)]
        check = checks[starts[0]] if starts else None
        if check is None:
            continue
        checked.add(name)
        for line in lines(file):
            check(JavaVector(name, {NAMES.get(key, key): line[key] for key in line}))
    return checked


def test_our_codec_reads_all_vectors_to_accept(exports: Path) -> None:
    checked = check_all(exports / "accept", ACCEPTED)

    assert checked == {
        name.removeprefix("accept/").removesuffix(".jsonl")
        for name in files(exports)
        if name.startswith("accept/") and "/recorded/" not in name
    }


def test_our_codec_refuses_all_vectors_to_refuse(exports: Path) -> None:
    assert check_all(exports / "refuse", REFUSED) == set(REFUSED)


def members_of(command: RemotingCommand, name: str) -> Plain:
    """The members of a body, as our codec shows them."""
    body, ext = command.body or b"", command.ext_fields or {}
    if name == "RegisterBrokerBody":
        packed = ext.get("compressed") == "true"
        return registration_to_plain(body, compressed=packed, version=command.version)
    return body_to_plain(CLASSES[name], body)


def test_our_codec_reads_the_frames_that_were_recorded(exports: Path) -> None:
    files_of_releases = sorted((exports / "accept" / "recorded").iterdir())
    recorded = [line for file in files_of_releases for line in lines(file)]
    for line in recorded:
        data = bytes.fromhex(line["hex"])
        command = decode(data)
        assert neutral(command) == line["expect"], line["id"]
        if "class" in line:
            assert normalize(members_of(command, line["class"])) == normalize(line["members"])
        if line["reencodes"] is True:
            assert encode(command) == data

    assert len(recorded) >= 400


def test_our_codec_refuses_the_streams_or_waits(exports: Path) -> None:
    for line in lines(exports / vectors.STREAMS):
        data = bytes.fromhex(line["hex"])
        with pytest.raises(getattr(errors, line["refuse"])):
            decode(data)
        decoder = CommandDecoder()
        decoder.feed(data)
        if line["stream"] == "waits":
            assert decoder.next_command() is None
            continue
        with pytest.raises(DecodeError):
            decoder.next_command()


def test_text_is_given_as_bytes_too(exports: Path) -> None:
    for line in lines(exports / "accept" / "texts" / "properties.jsonl"):
        assert bytes.fromhex(line["hex"]) == line["text"].encode("utf-8", "surrogatepass")


def files(folder: Path) -> dict[str, int]:
    return {
        entry["file"]: entry["count"]
        for entry in json.loads((folder / vectors.INDEX).read_text("ascii"))
    }


def test_the_index_has_every_file_and_counts_its_lines(exports: Path) -> None:
    assert files(exports) == {
        file.relative_to(exports).as_posix(): len(list(lines(file)))
        for file in exports.rglob("*.jsonl")
    }


def test_the_readme_describes_every_member_of_a_line(exports: Path) -> None:
    details = (exports / vectors.README).read_text("utf-8")
    members = {key for file in exports.rglob("*.jsonl") for line in lines(file) for key in line}

    assert {member for member in members if f"`{member}`" not in details} == set()


def test_an_export_without_permission_fails_with_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()

    assert main(["vectors", "--export", str(tmp_path / "file" / "within")]) == 1
    assert capsys.readouterr().err.startswith("no vectors: ")


def test_an_installed_package_brings_the_fixtures_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    goals = build["targets"]["wheel"]["force-include"]
    module = Path(vectors.__file__)
    for part in ("MANIFEST.toml", "bad", "frames", "reference", "vectors"):
        assert goals[f"tests/fixtures/{part}"] == f"{'/'.join(module.parts[-4:-1])}/fixtures/{part}"

    package = tmp_path.joinpath("lib", "python3", "site-packages", *module.parts[-3:-1])
    monkeypatch.setattr(vectors, "HERE", package)
    monkeypatch.setattr(vectors, "_INSTALLED", package / "fixtures")
    with pytest.raises(vectors.NoVectorsError):
        vectors.fixtures()
    (package / "fixtures").mkdir(parents=True)
    (package / "fixtures" / vectors.MANIFEST).touch()
    assert vectors.fixtures() == package / "fixtures"
