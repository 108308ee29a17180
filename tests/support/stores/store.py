"""A store and its truth on disk: made when it is first asked for, then kept."""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.support.java import cache as java_cache
from tests.support.java.peers import CURRENT, MIDDLE, RELEASES
from tests.support.stores.truth import Truth, load, save

if TYPE_CHECKING:
    from collections.abc import Callable

HERE: Final = Path(__file__).parent
COMMON: Final = ("answers.py", "cluster.py", "recording.py", "sending.py", "truth.py")
TRUTH: Final = "truth.json"
SLAVE: Final = "slave"

SINCE_5: Final = (CURRENT, MIDDLE)
KINDS: Final[dict[str, tuple[str, ...]]] = {
    "plain": RELEASES,
    "killed": RELEASES,
    "features": RELEASES,
    "timers": SINCE_5,
    "pop": SINCE_5,
    "popkv": SINCE_5,
    "inner": SINCE_5,
    "ipv6": RELEASES,
    "slave": RELEASES,
    "controller": SINCE_5,
    "lmq": SINCE_5,
    "crc": SINCE_5,
    "ext": SINCE_5,
    "rocksdb": SINCE_5,
    "rocksv2": SINCE_5,
    "rocksboth": (MIDDLE,),
    "rockskilled": (CURRENT,),
}
"""Kinds of stores, and the releases that can make them."""


@dataclass(frozen=True, slots=True)
class BrokerStore:
    """A store that a real broker wrote.

    Attributes:
        root: the folder that the broker had as ``storePathRootDir``; read it only.
        truth: what producers were told and a live broker answered.
        slave: store of a slave of this broker.
    """

    root: Path
    truth: Truth
    slave: BrokerStore | None = None


def stores_folder() -> Path:
    """Where stores are kept: ``.cache/stores`` of the checkout, or below ``$XDG_CACHE_HOME``."""
    return java_cache.cache_folder().parent / "stores"


def folder_of(release: str, kind: str) -> Path:
    """Where the store of a kind is, or will be; its name changes with the code that makes it."""
    code = "".join([_code(HERE / name) for name in COMMON] + _kind_codes(kind))
    return stores_folder() / f"{release}-{kind}-{hashlib.sha256(code.encode()).hexdigest()[:12]}"


def _kind_codes(kind: str) -> list[str]:
    """Code of a kind, and of the kinds that it builds on."""
    path = HERE / "kinds" / f"{kind}.py"
    bases = re.findall(r"^from tests\.support\.stores\.kinds import (\w+)$", path.read_text(), re.M)
    return [_code(path), *(code for base in bases for code in _kind_codes(base))]


def _code(path: Path) -> str:
    """What a module does: without comments and docstrings, whose changes make no new stores."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [part for part in node.body if not _is_text(part)]
    return ast.dump(tree)


def _is_text(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)


def open_store(release: str, kind: str) -> BrokerStore:
    """A store of this release and kind; made by a real broker if there is none yet.

    Raises:
        LookupError: no such kind, or the release cannot make it.
        JavaUnavailableError: it has to be made, and Java or its jars cannot be had.
        PeerFailedError: the broker failed.
    """
    if release not in KINDS.get(kind, ()):
        raise LookupError(f"no store {kind!r} of {release!r}")
    for version in {release, CURRENT}:
        java_cache.jars(version)
    make: Callable[[Path, str], Truth] = import_module(f"tests.support.stores.kinds.{kind}").make

    def build(folder: Path) -> None:
        save(make(folder, release), folder / TRUTH)

    folder = java_cache.built_once(folder_of(release, kind), build)
    return open_folder(folder)


def open_folder(folder: Path) -> BrokerStore:
    """A store that lies in a folder with its truth, and maybe with that of a slave."""
    slave = folder / SLAVE
    return BrokerStore(
        folder / "store",
        load(folder / TRUTH),
        open_folder(slave) if slave.is_dir() else None,
    )
