"""A broker with a folder, and the messages that wait in a folder."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from rocketwire_tools.store.__main__ import main
from tests.support.broker_folder import BrokerWithFolder

ListPending: TypeAlias = "Callable[[Path, str], list[dict[str, Any]]]"


@pytest.fixture
def home(tmp_path: Path) -> BrokerWithFolder:
    return BrokerWithFolder(tmp_path)


@pytest.fixture
def list_pending(capsys: pytest.CaptureFixture[str]) -> ListPending:
    """List messages that wait for a reason, as ``rocketwire-store pending`` reads the folder."""

    def run(root: Path, reason: str) -> list[dict[str, Any]]:
        with suppress(SystemExit):
            main(["pending", "--json", str(root)])
        rows = map(json.loads, capsys.readouterr().out.splitlines())
        return [row for row in rows if row["what"] == reason]

    return run
