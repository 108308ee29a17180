"""Pages of the Python interface: one for each public name."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = (
    "rocketwire",
    "rocketwire.client",
    "rocketwire.client.admin",
    "rocketwire.sync",
    "rocketwire.aio",
    "rocketwire.errors",
    "rocketwire.messages.enums",
    "rocketwire.testing",
)
"""The packages whose names are public."""

PARTS = {
    "rocketwire.messages": ("decode_body", "decode_header", "encode_body", "encode_header"),
    "rocketwire.messages.message_queue": ("MessageQueue",),
    "rocketwire.wire.message.stored": ("StoredMessage",),
}
"""Packages of which programs use these names alone."""

PLUGIN = "rocketwire_tools.pytest_plugin"
"""The package of the fixtures."""

FIXTURE_CLASSES = {
    "RocketMQ": f"{PLUGIN}.cluster",
    "BrokerOfTest": f"{PLUGIN}.cluster",
    "FaultProxy": f"{PLUGIN}.faults",
}
"""What the fixtures give, with the module of each class."""

LONG_ENUMS = {"MQVersion"}
"""Enumerations that are not listed member by member."""


@dataclass(frozen=True)
class Name:
    """A public name.

    Attributes:
        package: the package that a program imports it from.
        name: the name.
        value: what it is.
        home: the first package of ``PACKAGES`` that has the same object; its page is there.
    """

    package: str
    name: str
    value: Any
    home: str

    @property
    def document(self) -> str:
        """The page of the name, without suffix."""
        return f"reference/python/{self.home}/{self.name}"

    @property
    def summary(self) -> str:
        """The first sentence of the docstring."""
        text = inspect.getdoc(self.value) or ""
        return " ".join(text.split("\n\n", 1)[0].split())


def names() -> list[Name]:
    """The public names of all packages."""
    homes: dict[tuple[str, int], str] = {}
    result: list[Name] = []
    for package in (*PACKAGES, *PARTS):
        module = importlib.import_module(package)
        for name in sorted(PARTS.get(package) or public(module), key=str.lower):
            value = getattr(module, name)
            home = homes.setdefault((name, id(value)), package)
            result.append(Name(package, name, value, home))
    return result


def public(module: ModuleType) -> list[str]:
    """The public names of a module: ``__all__``, or what it imports under the same name."""
    contents: dict[str, Any] = vars(module)
    if "__all__" in contents:
        return [name for name in contents["__all__"] if not name.startswith("__")]
    root = module.__name__.partition(".")[0]
    return [
        name
        for name, value in contents.items()
        if not name.startswith("_")
        and name != "annotations"
        and not isinstance(value, ModuleType)
        and getattr(value, "__module__", root).startswith(root)
    ]


def fixtures() -> list[tuple[str, str]]:
    """The fixtures of the pytest plugin, with their docstrings."""
    module = importlib.import_module(PLUGIN)
    found: list[tuple[str, str]] = []
    for name, value in vars(module).items():
        if type(value).__name__ == "FixtureFunctionDefinition":
            found.append((name, inspect.getdoc(value._get_wrapped_function()) or ""))
    return sorted(found)


def pages() -> Iterator[tuple[str, str]]:
    """Document and text (reStructuredText) of each page.

    The pages of names are in no table of contents, so that it stays short.
    """
    everything = names()
    yield "reference/python/index", _index()
    for package in (*PACKAGES, *PARTS):
        own = [each for each in everything if each.package == package]
        yield f"reference/python/{package}/index", _package(package, own)
        for each in own:
            if each.home == package:
                yield each.document, _name(each)
    yield "reference/python/pytest-plugin", _plugin()


def _heading(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


def _index() -> str:
    entries = "\n".join(f"   {package}/index" for package in (*PACKAGES, *PARTS))
    return (
        _heading("Python interface")
        + "The page of a package lists its public names. Each name has a page of its own.\n"
        + "Names that are not listed here may change in any release.\n\n"
        + f".. toctree::\n   :maxdepth: 1\n\n{entries}\n   pytest-plugin\n"
    )


def _package(package: str, own: list[Name]) -> str:
    rows = "".join(
        f"   * - :doc:`{each.name} </{each.document}>`\n     - {each.summary}\n" for each in own
    )
    return (
        _heading(package)
        + f".. automodule:: {package}\n   :no-members:\n\n"
        + ".. list-table::\n   :header-rows: 1\n   :widths: 30 70\n\n"
        + f"   * - Name\n     - Meaning\n{rows}\n"
    )


def _name(each: Name) -> str:
    path = f"{each.package}.{each.name}"
    if inspect.isclass(each.value):
        members = "   :members:\n   :inherited-members: Exception, int, str, tuple, BaseException\n"
        if each.name in LONG_ENUMS:
            members = "   :no-members:\n"
        elif hasattr(each.value, "__members__"):
            members += "   :undoc-members:\n"
        body = f".. autoclass:: {path}\n{members}"
    elif callable(each.value):
        body = f".. autofunction:: {path}\n"
    else:
        body = f".. autodata:: {path}\n"
    return (
        f":orphan:\n\n{_heading(each.name)}"
        f"``from {each.package} import {each.name}`` "
        f"(:doc:`all names of {each.package} <index>`)\n\n{body}"
    )


def _plugin() -> str:
    text = _heading("pytest plugin")
    text += "Every installation of ``rocketwire`` adds these fixtures to pytest. "
    text += "The guide is :doc:`/guide/testing`.\n\n" + _heading("Fixtures", "-")
    for name, doc in fixtures():
        text += f".. py:data:: {name}\n\n"
        text += "".join(f"   {line}".rstrip() + "\n" for line in doc.splitlines()) + "\n"
    text += _heading("Classes", "-")
    for name, module in FIXTURE_CLASSES.items():
        text += f".. autoclass:: {module}.{name}\n   :members:\n   :inherited-members:\n\n"
    return text
