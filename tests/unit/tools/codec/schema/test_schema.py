"""``schema`` describes the whole library."""

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages.operations.registry import CLASSES, OPERATIONS
from rocketwire_tools.codec.schema import pages, schema
from tests.support.codec_in_process import run


@pytest.fixture(scope="module")
def print_schema() -> Any:
    result = run("schema")
    assert (0, 1) == (result.status, len(result.lines))
    return result.lines[0]


def test_the_schema_holds_every_code_class_and_operation(print_schema: Any) -> None:
    for codes, part in (
        (RequestCode, "request_codes"),
        (ResponseCode, "response_codes"),
        (OPERATIONS, "operations"),
    ):
        assert [int(code) for code in codes] == [row["code"] for row in print_schema[part]]
    assert set(CLASSES) == {*print_schema["headers"], *print_schema["bodies"]}
    assert print_schema["versions"]["V5_5_0"] == print_schema["current_version"]


def test_every_name_in_the_schema_is_explained_in_it(print_schema: Any) -> None:
    names = {
        "header": {*print_schema["headers"], None},
        "body": {*print_schema["bodies"], *print_schema["raw_bodies"], None},
    }
    for operation, side, part in product(
        print_schema["operations"], ("request", "response"), names
    ):
        name = operation[f"{side}_{part}"]
        assert (name and name.removeprefix("List<").removesuffix(">")) in names[part]


def test_every_class_has_a_meaning_and_a_class_of_java(print_schema: Any) -> None:
    for entry in (*print_schema["headers"].values(), *print_schema["bodies"].values()):
        assert entry["java"].startswith("org.apache.rocketmq.")
        assert entry["meaning"].endswith(".")


def test_new_entries_name_their_first_release(print_schema: Any) -> None:
    by_name = {row["name"]: row for row in print_schema["request_codes"]}
    assert by_name["POP_LITE_MESSAGE"]["since"] == "5.5.0"
    assert by_name["SEND_MESSAGE"]["since"] is None
    assert print_schema["headers"]["PopLiteMessageRequestHeader"]["since"] == "5.5.0"
    assert not by_name["POP_MESSAGE"]["binary_header"]


def test_the_pages_are_those_that_the_schema_gives(tmp_path: Path) -> None:
    assert run("schema", "--markdown", str(tmp_path / "new")).status == 0

    written = {path.name: path.read_text("utf-8") for path in (tmp_path / "new").iterdir()}
    assert pages(schema()) == written


def test_links_of_the_pages_lead_to_a_heading() -> None:
    texts = pages(schema())
    anchors = {
        f"{name}#{heading.lower().replace('.', '').replace(' ', '-')}"
        for name, text in texts.items()
        for heading in re.findall(r"^## (.*)$", text, re.MULTILINE)
    }

    links = {link for text in texts.values() for link in re.findall(r"\]\(([^)]*#[^)]*)", text)}
    assert links
    assert links <= anchors
