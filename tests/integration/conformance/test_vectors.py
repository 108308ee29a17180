"""The exported vectors: our own codec reads them, with nothing at hand but what was exported."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocketwire import errors
from rocketwire.errors import DecodeError
from rocketwire.messages.operations.registry import CLASSES
from rocketwire.wire.command import CommandDecoder, RemotingCommand, decode, encode
from rocketwire_tools.codec.bodies import body_to_plain, registration_to_plain
from rocketwire_tools.codec.jsonl import Plain
from rocketwire_tools.conformance.__main__ import main
from rocketwire_tools.conformance.vectors import vectors
from tests.fuzz.headers import neutral
from tests.peers.cache import ROOT
from tests.unit.tools.codec.values.test_decode import normalize

FIXTURES = ROOT / "tests" / "fixtures"
NAMES = {"expect": "value", "refuse": "error", "rocketwire": "here"}
"""Member of an exported line -> its name in the fixtures."""


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors") / "new"
    assert main(["vectors", "--export", str(folder)]) == 0
    return folder


def lines(file: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, file.read_text("ascii").splitlines())


def test_every_vector_of_the_fixtures_is_exported(exports: Path) -> None:
    for folder, source in (("accept", FIXTURES / "vectors"), ("refuse", FIXTURES / "bad" / "java")):
        originals = {
            file.relative_to(source).as_posix(): list(lines(file))
            for file in source.rglob("*.jsonl")
            if file.parent.name != "policy"  # decisions of a client, not of a codec
        }
        exported = {
            file.relative_to(exports / folder).as_posix(): [
                {
                    NAMES.get(key, key): line[key]
                    for key in line
                    if key != "hex" or "text" not in line
                }
                for line in lines(file)
            ]
            for file in (exports / folder).rglob("*.jsonl")
            if file.parent.name != "recorded" and file != exports / vectors.STREAMS
        }

        assert exported == originals


def members_of(command: RemotingCommand, name: str) -> Plain:
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
