"""What is wrong with a wheel is listed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from publishing.release import wheel
from rocketwire import __version__

ROOT = Path(__file__).parents[4]
NAME = f"rocketwire-{__version__}-py3-none-any.whl"
METADATA = f"""Metadata-Version: 2.4
Name: rocketwire
Version: {__version__}
License-Expression: Apache-2.0
Classifier: Framework :: Trio
Requires-Python: >=3.11
Description-Content-Type: text/markdown
Requires-Dist: construct<2.11,>=2.10.68
Requires-Dist: crcmod>=1.7
Requires-Dist: orjson>=3.9
Requires-Dist: trio>=0.27
Requires-Dist: lz4>=4; extra == 'compression'
"""


@pytest.fixture
def files() -> dict[str, str]:
    files = {f"{package}/py.typed": "" for package in wheel.packages(ROOT)}
    files["rocketwire-1.dist-info/METADATA"] = METADATA
    files["rocketwire-1.dist-info/licenses/LICENSE"] = "licence"
    return files


def problems(folder: Path, files: dict[str, str], name: str = NAME) -> list[str]:
    with zipfile.ZipFile(folder / name, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel.problems(folder / name, ROOT)


def test_a_wheel_with_everything_has_no_problem(tmp_path: Path, files: dict[str, str]) -> None:
    assert problems(tmp_path, files) == []


def test_missing_and_unexpected_packages_are_listed(tmp_path: Path, files: dict[str, str]) -> None:
    del files["rocketwire_broker/py.typed"]
    files["tests/test_x.py"] = ""

    assert problems(tmp_path, files) == [
        "unexpected at the top: tests",
        "missing at the top: rocketwire_broker",
    ]


def test_byte_code_and_a_missing_licence_are_listed(tmp_path: Path, files: dict[str, str]) -> None:
    del files["rocketwire-1.dist-info/licenses/LICENSE"]
    files["rocketwire/__pycache__/a.pyc"] = ""

    assert problems(tmp_path, files) == [
        "does not belong into a wheel: rocketwire/__pycache__/a.pyc",
        "no licence",
    ]


def test_a_package_without_types_is_listed(tmp_path: Path, files: dict[str, str]) -> None:
    del files["rocketwire_tools/py.typed"]
    files["rocketwire_tools/__init__.py"] = ""

    assert problems(tmp_path, files) == ["no py.typed in rocketwire_tools"]


def test_wrong_metadata_are_listed(tmp_path: Path, files: dict[str, str]) -> None:
    files["rocketwire-1.dist-info/METADATA"] = (
        METADATA.replace(__version__, "9.9.9")
        .replace("Framework :: Trio", "Framework :: Nothing")
        .replace("Requires-Dist: trio>=0.27", "Requires-Dist: numpy")
    )

    assert problems(tmp_path, files) == [
        f"version 9.9.9 of {NAME}, expected {__version__}",
        "unknown classifier: Framework :: Nothing",
        "base dependencies are ['construct', 'crcmod', 'numpy', 'orjson'], "
        "expected ['construct', 'crcmod', 'orjson', 'trio']",
    ]


def test_a_large_wheel_is_refused(
    tmp_path: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheel, "LARGEST_WHEEL", 100)

    (problem,) = problems(tmp_path, files)

    assert "at most 100 are allowed" in problem
