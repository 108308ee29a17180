"""Licences of packages, however their metadata name them."""

from __future__ import annotations

from publishing.release import licences


def test_the_expression_comes_first_then_classifiers_then_the_text() -> None:
    classifiers = ["License :: OSI Approved", "License :: OSI Approved :: BSD License"]

    assert licences.licence("MIT", "x", classifiers) == "MIT"
    assert licences.licence("", "x", classifiers) == "BSD License"
    assert licences.licence("", "Apache 2.0\nlong text", []) == "Apache 2.0"
    assert licences.licence("", "", []) == "unknown"


def test_a_licence_that_is_not_permitted_is_listed() -> None:
    found = licences.refused({"a 1": "MIT", "b 2": "GPL-3.0-only", "c 3": "unknown"})

    assert found == ["b 2: GPL-3.0-only", "c 3: unknown"]
