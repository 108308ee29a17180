"""Codes without a name are values too."""

import pickle
from typing import Any

import pytest

from rocketwire.codes import SINCE, LanguageCode, RequestCode, ResponseCode
from rocketwire.versions import CURRENT_VERSION, MQVersion


def test_a_listed_number_is_its_member() -> None:
    assert RequestCode(103) is RequestCode.REGISTER_BROKER
    assert repr(RequestCode(103)) == "RequestCode.REGISTER_BROKER"
    assert RequestCode(103).is_known


def test_an_unlisted_number_survives_and_prints_as_itself() -> None:
    code = RequestCode(999_999)
    assert code == 999_999
    assert repr(code) == "RequestCode(999999)"
    assert not code.is_known


def test_errors_and_logs_have_a_code_with_its_name() -> None:
    assert RequestCode(310).text == "SEND_MESSAGE_V2 (310)"
    assert ResponseCode(0).text == "SUCCESS (0)"
    assert RequestCode(4711).text == "code 4711"


def test_an_unlisted_number_survives_pickling() -> None:
    assert pickle.loads(pickle.dumps(LanguageCode(77))) == 77


def test_other_types_than_numbers_are_refused() -> None:
    not_a_number: Any = "REGISTER_BROKER"
    with pytest.raises(ValueError, match="REGISTER_BROKER"):
        RequestCode(not_a_number)


def test_the_current_version_is_that_of_the_reference_release() -> None:
    assert CURRENT_VERSION is MQVersion.V5_5_0
    assert int(CURRENT_VERSION) == 513


def test_new_codes_are_known() -> None:
    assert SINCE[RequestCode.POP_LITE_MESSAGE] == "5.5.0"
    assert SINCE[ResponseCode.LMQ_QUOTA_EXCEEDED] == "5.5.0"
    assert SINCE[RequestCode.DELETE_TOPIC_IN_BROKER_LIST] == "5.5.1"
    assert all(code.is_known for code in SINCE)
