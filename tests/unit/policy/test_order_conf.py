"""The text that fixes the queues of an ordered topic."""

import pytest

from rocketwire.errors import LocalProtocolError
from rocketwire.policy.order_conf import merge_order_conf


@pytest.mark.parametrize(
    ("previous", "text", "merged"),
    [
        (None, "a:4", "a:4"),
        ("", "a:4; b:2", "a:4;b:2"),
        ("a:4;b:2", "a:8", "a:8;b:2"),
        ("a:4;", "c:1", "a:4;c:1"),
    ],
)
def test_a_new_entry_replaces_the_old_one(previous: str | None, text: str, merged: str) -> None:
    assert merge_order_conf(previous, text) == merged


@pytest.mark.parametrize("text", ["", "a", "a:", ":4", "a:b", "a:4;", "a:4,b:4", "a:4:5"])
def test_a_text_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(LocalProtocolError, match="broker:queues"):
        merge_order_conf("a:4", text)
