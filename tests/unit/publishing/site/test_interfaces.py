"""Every public name has a page."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from publishing.site import interfaces
from rocketwire import errors
from rocketwire_tools import pytest_plugin


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return dict(interfaces.pages())


@pytest.mark.parametrize(
    "package",
    [
        "rocketwire",
        "rocketwire.client",
        "rocketwire.sync",
        "rocketwire.aio",
        "rocketwire.errors",
        "rocketwire.testing",
    ],
)
def test_every_name_in_all_has_a_page(package: str, pages: dict[str, str]) -> None:
    documents = {each.name: each.document for each in interfaces.names() if each.package == package}
    offered = set(import_module(package).__all__) - {"__version__"}

    assert set(documents) == offered
    assert set(documents.values()) <= set(pages)
    assert all(
        f"</{document}>`" in pages[f"reference/python/{package}/index"]
        for document in documents.values()
    )


def test_every_name_that_operators_calls_export_has_a_page(pages: dict[str, str]) -> None:
    names = {each.name for each in interfaces.names() if each.package == "rocketwire.client.admin"}

    assert {"Admin", "open_admin", "QueueOffsets", "message_tracks", "NOW"} <= names
    assert "reference/python/rocketwire.client.admin/open_admin" in pages


def test_every_error_is_in_all_and_has_a_page(pages: dict[str, str]) -> None:
    classes = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.RocketWireError)
    }

    assert classes <= set(errors.__all__)
    assert "reference/python/rocketwire.errors/SendManyError" in pages


def test_every_public_name_says_what_it_is() -> None:
    silent = [f"{each.package}.{each.name}" for each in interfaces.names() if not each.summary]

    assert silent == []


def test_a_name_of_several_packages_has_one_page() -> None:
    homes = {each.package: each.home for each in interfaces.names() if each.name == "Message"}

    assert homes == {
        "rocketwire.client": "rocketwire.client",
        "rocketwire.sync": "rocketwire.client",
        "rocketwire.aio": "rocketwire.client",
    }


def test_every_fixture_of_the_pytest_plugin_is_on_its_page(pages: dict[str, str]) -> None:
    page = pages["reference/python/pytest-plugin"]
    fixtures = dict(interfaces.fixtures())

    assert {"rocketmq", "rocketmq_backstage", "fault_proxy"} <= set(fixtures)
    assert all(f".. py:data:: {name}\n" in page and doc for name, doc in fixtures.items())
    assert inspect.getdoc(pytest_plugin) is not None
