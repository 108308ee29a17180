"""Applications that servers with several processes load before they fork.

``application`` is one for gunicorn, ``celery_app`` one for Celery. The environment has the name
servers (``NAMESRV_ADDR``) and the topic (``FACADE_TOPIC``).
"""

import os
from collections.abc import Callable, Iterable
from typing import Any

from rocketwire.client import Message
from rocketwire.sync import open_producer

TOPIC = os.environ.get("FACADE_TOPIC", "")

producer = open_producer(None, "preloaded", reopen_after_fork=True)
if TOPIC:
    producer.send(Message(TOPIC, b"loaded"), within=60)


def send(body: str) -> str:
    result = producer.send(Message(TOPIC, body.encode()), within=60)
    return f"{result.status.name} {os.getpid()}"


def application(
    environ: dict[str, Any], start_response: Callable[[str, list[tuple[str, str]]], object]
) -> Iterable[bytes]:
    text = send(environ["PATH_INFO"])
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [text.encode()]


def build_celery() -> Any:
    from celery import Celery

    folder = os.environ["FACADE_FOLDER"]
    app: Any = Celery("facades", broker="filesystem://", backend=f"file://{folder}/results")
    app.conf.broker_transport_options = {
        "data_folder_in": f"{folder}/queue",
        "data_folder_out": f"{folder}/queue",
        "control_folder": f"{folder}/control",
    }
    app.task(name="send")(send)
    return app


if "FACADE_FOLDER" in os.environ:
    celery_app = build_celery()
