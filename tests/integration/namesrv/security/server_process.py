"""A real name server process for the tests of this folder, and what they look at from outside."""

import hashlib
from pathlib import Path

from tests.peers.raw_call import Answer, ask
from tests.support.name_servers import OurNameServer

UPDATE_NAMESRV_CONFIG = 318
GET_NAMESRV_CONFIG = 319
NO_PERMISSION = 16


def server(folder: Path, driver: str, **options: object) -> OurNameServer:
    return OurNameServer(
        folder,
        {
            "rocketwire.driver": driver,
            "kvConfigPath": "namesrv/kvConfig.json",
            **{name.replace("__", "."): value for name, value in options.items()},
        },
    )


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".out"
    }


def update(port: int, text: str | bytes) -> Answer:
    return ask(port, UPDATE_NAMESRV_CONFIG, body=text.encode() if isinstance(text, str) else text)


def show_config(port: int) -> dict[str, str]:
    lines = ask(port, GET_NAMESRV_CONFIG).body.decode().split("\n")
    pairs = (line.partition("=") for line in lines if line)
    return {key: value for key, _, value in pairs}
