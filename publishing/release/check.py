"""``python -m publishing.release.check``: install the wheel in empty environments and try it."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from publishing.release import dist, licences, trials, wheel
from publishing.site import programs

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
DEVELOPMENT = {"browser", "dev", "docs", "fuzz", "lint", "release", "test"}
"""Extras for work on the project itself."""

PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return project


def users_extras() -> list[str]:
    """The extras that users install."""
    return sorted(set(_project()["optional-dependencies"]) - DEVELOPMENT)


def examples() -> list[str]:
    """The programs in Python that the README shows, which need no cluster."""
    text = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return ["\n".join(blocks)] if blocks else []


def interpreters(versions: list[str]) -> dict[str, str | None]:
    """Version -> interpreter of this machine; None if it has none."""
    return {version: next(_candidates(version), None) for version in versions}


def _candidates(version: str) -> Iterator[str]:
    """The interpreters of a version: this one, those of pyenv, and that of the search path."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    listed = [sys.executable, *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
    on_path = shutil.which(f"python{version}")
    for python in [*listed, *([on_path] if on_path else [])]:
        code = "import sys; print('{}.{}'.format(*sys.version_info))"
        run = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
        if run.returncode == 0 and run.stdout.strip() == version:
            yield python


_UV = (sys.executable, "-m", "uv", "--quiet")


def install(python: str, folder: Path, package: Path, extras: str) -> trials.Installation:
    """Install a wheel, with extras, into a new environment."""
    environment = {**os.environ, "VIRTUAL_ENV": ""}
    subprocess.run([*_UV, "venv", "--python", python, str(folder)], check=True, env=environment)
    requirement = f"rocketwire[{extras}] @ {package.as_uri()}" if extras else str(package)
    subprocess.run(
        [*_UV, "pip", "install", "--python", str(folder / "bin" / "python"), requirement],
        check=True,
        env=environment,
    )
    work = folder / "work"
    work.mkdir()
    return trials.Installation(folder, work, ROOT / "tests" / "fixtures")


def write_bom(it: trials.Installation, path: Path) -> None:
    """Write the bill of materials of an installation, in CycloneDX."""
    epoch = str(dist.commit_seconds(ROOT))
    subprocess.run(
        [
            *(sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"),
            *(
                "--pyproject",
                str(ROOT / "pyproject.toml"),
                "--mc-type",
                "library",
                "--output-file",
                str(path),
            ),
            str(it.python),
        ],
        check=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": epoch},
    )
    bom = json.loads(path.read_text("utf-8"))
    _without_local_files(bom)
    path.write_text(json.dumps(bom, indent=1, sort_keys=True) + "\n", "utf-8")


def _without_local_files(bom: dict[str, Any]) -> None:
    """Remove the references to files and package registries of this machine."""
    components: list[dict[str, Any]] = [bom["metadata"].get("component", {}), *bom["components"]]
    for component in components:
        references: list[dict[str, str]] = component.get("externalReferences", [])
        if references:
            kept = [each for each in references if each["type"] != "distribution"]
            component["externalReferences"] = kept


class Check:
    """One run: what passed, and what failed."""

    def __init__(self, package: Path, folder: Path) -> None:
        self.package = package
        self.folder = folder
        self.failures: list[str] = []

    def say(self, what: str, problems: list[str]) -> None:
        """Print one result."""
        print(f"{'FAILED' if problems else 'ok':7} {what}", flush=True)
        for problem in problems:
            print(f"        {problem}", flush=True)
        self.failures += [f"{what}: {problem}" for problem in problems]

    def base(self, version: str, python: str) -> None:
        """Try the wheel without extras."""
        try:
            it = install(python, self.folder / f"base-{version}", self.package, "")
            trials.base(it, sorted(programs.entry_points(ROOT)), examples())
        except (trials.TrialError, subprocess.SubprocessError) as error:
            self.say(f"Python {version}, without extras", [str(error)])
        else:
            self.say(f"Python {version}, without extras", [])

    def with_extra(self, version: str, python: str, name: str) -> None:
        """Try the wheel with one extra."""
        what = f"Python {version}, extra {name}"
        try:
            folder = self.folder / f"{name}-{version}"
            together = trials.TOGETHER.get(name, name)
            trials.of_extra(install(python, folder, self.package, together), name)
        except (trials.TrialError, subprocess.SubprocessError) as error:
            self.say(what, [str(error)])
        else:
            self.say(what, [])

    def materials(self, python: str, dist_folder: Path) -> None:
        """Check the licences of an installation with every extra, and write what it consists of."""
        extras = ",".join(users_extras())
        it = install(python, self.folder / "everything", self.package, extras)
        by_package = licences.of_environment(it.python)
        self.say(f"licences of {len(by_package)} packages", licences.refused(by_package))
        listing = "".join(f"{package}: {name}\n" for package, name in sorted(by_package.items()))
        (dist_folder / "LICENCES.txt").write_text(listing, "utf-8")
        write_bom(it, dist_folder / "sbom.cdx.json")
        self.say("bill of materials in CycloneDX", [])


def main() -> int:
    """Build the packages, install the wheel with each extra, and try every tool."""
    parser = argparse.ArgumentParser(
        prog="python -m publishing.release.check", description=main.__doc__
    )
    parser.add_argument("--python", action="append", metavar="X.Y", help="only these; repeatable")
    parser.add_argument("--extra", action="append", metavar="NAME", help="only these; repeatable")
    options = parser.parse_args()
    built = dist.build(ROOT, ROOT / "dist")
    package = next(path for path in built.values() if path.suffix == ".whl")
    with tempfile.TemporaryDirectory() as name:
        check = Check(package, Path(name))
        check.say("two builds are equal", [])
        check.say(f"contents of {package.name}", wheel.problems(package, ROOT))
        untested: list[str] = []
        for version, python in interpreters(options.python or list(PYTHONS)).items():
            if python is None:
                untested.append(version)
                continue
            check.base(version, python)
            for extra in options.extra or users_extras():
                check.with_extra(version, python, extra)
        if not options.extra:
            check.materials(sys.executable, ROOT / "dist")
    if "urls" not in _project():
        print("before the first release: add [project.urls] to pyproject.toml (docs/releasing.md)")
    if untested:
        print(f"not tested, because this machine has no interpreter: {', '.join(untested)}")
    print(f"{len(check.failures)} failures")
    return 1 if check.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
