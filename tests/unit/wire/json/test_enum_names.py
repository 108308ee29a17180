"""Which texts fastjson2 takes for a constant; each was given to TopicConfig and Connection of 5.5.0."""

import pytest

from rocketwire.wire.json.enum_names import constant_finder

NAMES = ("SINGLE_TAG", "MULTI_TAG")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[("MULTI_TAG", 1), ("multi_tag", 1), ("MultiTag", 1), ("m_u_l_t_i_t_a_g", 1)],
        *[("MULTI_ TAG", 1), ("MULTI-_TAG", 1), ("-MULTI TAG", 1), (" MULTI_TAG", 1)],
        *[("MULTI__TAG", None), ("MULTI  TAG", None), ("--MULTI_TAG", None), ("MULTI_TAG_", None)],
        *[("MULTI_TAG ", None), ("MULTI_TAG-", None), ("MULTI.TAG", None), ("MULTI\tTAG", None)],
        *[("MULT\u0131_TAG", None), ("MULTI\xa0TAG", None), ("", None), ("null", None)],
        *[("0", 0), ("1", 1), ("01", 1), ("+1", 1), ("-0", 0), ("0000000001", 1)],
        *[("2", None), ("-1", None), (" 1", None), ("1 ", None), ("1.0", None), ("1e0", None)],
        ("1" * 5000, None),
    ],
)
def test_a_constant_is_found_by_name_or_ordinal_as_in_java(text: str, expected: int | None) -> None:
    assert constant_finder(NAMES)(text) == expected
