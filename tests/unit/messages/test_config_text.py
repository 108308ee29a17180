"""Configuration as text; what servers make of it is tested against Java in the cases of operators' calls."""

import pytest

from rocketwire.errors import LocalProtocolError
from rocketwire.messages.config_text import config_lines, read_config


def test_a_servers_lines_are_read_as_they_are() -> None:
    body = b"a=1\nb=x=y\nc=\nd=two\nlines\n\\e=\\\n"

    assert read_config(body) == {"a": "1", "b": "x=y", "c": "", "d": "two\nlines", "\\e": "\\"}
    assert read_config(b"no value at all\n") == {}


def test_values_are_written_so_that_java_reads_them_as_they_are() -> None:
    values = {"path": "C:\\x", "blank": " a ", "word": "ü\N{GRINNING FACE}"}

    assert config_lines(values) == "path=C:\\\\x\nblank=\\ a \nword=\\u00fc\\ud83d\\ude00\n"


@pytest.mark.parametrize("values", [{}, {"": "a"}, {"a b": "c"}, {"a=": "b"}, {"a": "b\nc=d"}])
def test_texts_that_would_change_are_refused(values: dict[str, str]) -> None:
    with pytest.raises(LocalProtocolError):
        config_lines(values)
