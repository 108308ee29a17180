import pytest

from rocketwire_tools.admin.commands.exports import rate_of


@pytest.mark.parametrize(
    ("text", "rate"), [("1.5 2 3", 1.5), ("0.0 0.0 0.0", 0), ("  ", 0), ("", 0), (None, 0)]
)
def test_a_broker_that_has_just_started_has_no_rates_yet(text: str | None, rate: float) -> None:
    assert rate_of(text) == rate
