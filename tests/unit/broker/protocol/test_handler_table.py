"""The table of all handlers."""

from __future__ import annotations

from rocketwire.codes import RequestCode
from rocketwire_broker.protocol import handler_table


def test_no_code_has_two_handlers() -> None:
    subjects = handler_table.SUBJECTS
    codes = [code for subject in subjects for code in subject.HANDLERS]

    assert len(codes) == len(set(codes)) == len(handler_table.HANDLERS)


def test_every_code_is_one_that_brokers_have() -> None:
    assert set(handler_table.HANDLERS) <= set(RequestCode)
