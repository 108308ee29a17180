"""A network of its own for the commands of pages, in which all default ports are free."""

from __future__ import annotations

import os
import shutil
import subprocess


def isolate(command: list[str]) -> list[str]:
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *user, "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]


# Programs that pages use besides Python and rocketwire, and that a namespace needs.
TOOLS = ("bash", "curl", "jq", "unshare", "ip")


def missing() -> str:
    """Return the missing programs, in one line; empty if nothing is missing."""
    absent = [tool for tool in TOOLS if shutil.which(tool) is None]
    if absent:
        return f"pages need {', '.join(absent)}"
    return "" if available() else "pages need a network namespace: unshare --net"


def available() -> bool:
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return False
    run = subprocess.run(isolate(["true"]), capture_output=True, check=False)
    return run.returncode == 0
