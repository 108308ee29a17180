"""The comparison page agrees with its data, and the data with the library."""

from __future__ import annotations

import tomllib

from publishing.comparison import __main__ as comparison
from rocketwire import RequestCode, ResponseCode, __version__

DATA = tomllib.loads(comparison.DATA.read_text("utf-8"))


def test_the_page_is_the_one_that_the_data_give() -> None:
    assert comparison.PAGE.read_text("utf-8") == comparison.page(DATA)


def test_every_project_has_every_row_and_a_link() -> None:
    rows = {row["id"] for row in DATA["row"]} | {"id", "name", "url"}

    assert all(set(project) == rows for project in DATA["project"])
    assert all(project["url"].startswith("https://") for project in DATA["project"])


def test_the_column_of_this_project_is_that_of_this_release() -> None:
    (ours,) = (project for project in DATA["project"] if project["id"] == "rocketwire")

    assert ours["name"] == f"rocketwire {__version__}"
    assert ours["codes"].startswith(f"{len(RequestCode)} requests, {len(ResponseCode)} responses")


def test_every_figure_belongs_to_a_project_and_has_a_command() -> None:
    projects = {project["id"] for project in DATA["project"]}

    assert all(set(row["values"]) <= projects and row["command"] for row in DATA["measured"])
