"""Every package can be listed and explained in an environment that has the base alone."""

import subprocess
import sys

import pytest

PROGRAM = '''
import inspect, pkgutil, pydoc, re, sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

def normalize(name):
    return re.sub(r"[-_.]+", "-", name).lower()

def collect(name, base):
    """Add a distribution and what it needs without extras."""
    if normalize(name) not in base:
        base.add(normalize(name))
        try:
            needed = requires(name) or []
        except PackageNotFoundError:  # of other platforms
            needed = []
        for line in needed:
            if "extra ==" not in line:
                collect(re.match(r"[\\w.-]+", line)[0], base)
    return base

base = collect("rocketwire", set())
absent = {top for top, owners in packages_distributions().items() if not base & {*map(normalize, owners)}}

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
count = 0
for top in ("rocketwire", "rocketwire_namesrv", "rocketwire_broker", "rocketwire_tools"):
    found = pkgutil.walk_packages(import_module(top).__path__, f"{top}.")
    for name in (top, *(each.name for each in found if each.ispkg)):
        if name == "rocketwire_tools.pytest_plugin":  # part of pytest
            continue
        package = import_module(name)
        exec(f"from {name} import *", {})
        inspect.getmembers(package)
        [getattr(package, each) for each in dir(package)]
        pydoc.render_doc(package)
        count += 1
from rocketwire.sync import OpenTelemetryHook
try:
    OpenTelemetryHook()
except ModuleNotFoundError as error:
    print(count > 50, error)
'''


@pytest.mark.process
def test_names_of_absent_extras_are_listed_and_say_what_they_need() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )

    assert (run.stderr, run.stdout) == (
        "",
        "True OpenTelemetryHook needs opentelemetry: pip install 'rocketwire[otel]'\n",
    )
