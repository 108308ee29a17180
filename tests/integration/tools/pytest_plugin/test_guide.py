"""The test file of ``docs/guide/testing.md`` is one that readers can copy: it passes as it stands there."""

import re
from collections.abc import Callable

import pytest

from tests.integration.tools.pytest_plugin.conftest import ROOT

PAGE = ROOT / "docs" / "guide" / "testing.md"


@pytest.mark.process
def test_the_examples_of_the_guide_pass(run_pytest: Callable[..., pytest.RunResult]) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)

    result = run_pytest("\n".join(blocks))

    result.assert_outcomes(passed=sum(block.count("\ndef test_") for block in blocks))
    assert "subprocess" not in "".join(blocks)
