"""Help texts of every program and verb."""

from __future__ import annotations

from pathlib import Path

import pytest

from publishing.site import programs

ROOT = Path(__file__).parents[4]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def helps() -> list[list[programs.Help]]:
    return list(programs.helps(ROOT))


def test_every_entry_point_has_a_help_text(helps: list[list[programs.Help]]) -> None:
    texts = {each[0].name: each[0].text for each in helps}

    assert set(texts) == set(programs.entry_points(ROOT))
    assert all(text.startswith("usage: ") for text in texts.values())


def test_every_verb_has_a_help_text_and_a_summary(helps: list[list[programs.Help]]) -> None:
    verbs = [verb for each in helps for verb in each[1:]]

    assert [verb.name for verb in verbs if not verb.text.startswith("usage: ")] == []
    assert {"rocketwire dev", "rocketwire-admin produce", "rocketwire-store check"} <= {
        verb.name for verb in verbs
    }
    assert len(verbs) > 130


def test_commands_that_are_no_verbs_of_the_parser_have_a_help_text_too(
    helps: list[list[programs.Help]],
) -> None:
    names = {verb.name for each in helps for verb in each}

    assert {"rocketwire-conformance broker diff", "rocketwire-conformance vectors"} <= names


def test_a_help_text_is_the_same_on_every_terminal(
    helps: list[list[programs.Help]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    (pcap,) = (each for each in programs.helps(ROOT) if each[0].name == "rocketwire-pcap")

    assert pcap in helps
