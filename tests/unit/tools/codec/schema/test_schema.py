"""``schema`` describes the whole library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages.operations.registry import CLASSES, OPERATIONS
from rocketwire_tools.codec.schema.markdown import pages
from rocketwire_tools.codec.schema.schema import schema
from tests.support.codec_in_process import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def print_schema() -> Any:
    done = run("schema")
    assert (0, 1) == (done.status, len(done.lines))
    return done.lines[0]


def test_the_schema_holds_every_code_class_and_operation(print_schema: Any) -> None:
    assert list(map(int, RequestCode)) == [one["code"] for one in print_schema["request_codes"]]
    assert list(map(int, ResponseCode)) == [one["code"] for one in print_schema["response_codes"]]
    assert set(CLASSES) == {*print_schema["headers"], *print_schema["bodies"]}
    assert list(OPERATIONS) == [one["code"] for one in print_schema["operations"]]
    assert print_schema["versions"]["V5_5_0"] == print_schema["current_version"]


def test_every_name_in_the_schema_is_explained_in_it(print_schema: Any) -> None:
    for one in print_schema["operations"]:
        for part, known in (
            ("header", {*print_schema["headers"], None}),
            ("body", {*print_schema["bodies"], *print_schema["raw_bodies"], None}),
        ):
            for side in ("request", "response"):
                name = one[f"{side}_{part}"]
                assert (name and name.removeprefix("List<").removesuffix(">")) in known


def test_every_class_says_what_it_means_and_which_one_of_java_it_is(print_schema: Any) -> None:
    for said in (*print_schema["headers"].values(), *print_schema["bodies"].values()):
        assert said["java"].startswith("org.apache.rocketmq.")
        assert said["meaning"].endswith(".")


def test_what_only_the_newest_release_has_says_since_when(print_schema: Any) -> None:
    by_name = {one["name"]: one for one in print_schema["request_codes"]}
    assert ("5.5.0", None) == (
        by_name["POP_LITE_MESSAGE"]["since"],
        by_name["SEND_MESSAGE"]["since"],
    )
    assert print_schema["headers"]["PopLiteMessageRequestHeader"]["since"] == "5.5.0"
    assert not by_name["POP_MESSAGE"]["binary_header"]


def test_the_pages_are_those_that_the_schema_gives(tmp_path: Path) -> None:
    assert run("schema", "--markdown", str(tmp_path / "new")).status == 0

    written = {path.name: path.read_text("utf-8") for path in (tmp_path / "new").iterdir()}
    assert pages(schema()) == written


def test_links_of_the_pages_lead_to_a_heading() -> None:
    made = pages(schema())
    anchors = {
        f"{name}#{line[3:].lower().replace('.', '').replace(' ', '-')}"
        for name, text in made.items()
        for line in text.splitlines()
        if line.startswith("## ")
    }

    links = {
        piece.partition(")")[0]
        for text in made.values()
        for piece in text.split("](")[1:]
        if "#" in piece.partition(")")[0]
    }
    assert links <= anchors
