"""The pages for people in a browser: nothing on the console, no finding of axe-core, narrow windows.

Without Chromium or Playwright (the extra ``browser``) these tests are skipped.
"""

import os
import re
import shutil
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

import pytest
import trio

from rocketwire.client import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    Message,
    PushConsumerConfig,
    open_client,
    open_producer,
    open_push_consumer,
)
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.wire.message.stored import StoredMessage
from tests.peers.dev_cluster import PROGRAM
from tests.peers.processes import LOOPBACK, Child, free_ports

PROGRAMS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
"""Nothing but the pages is asked for, and the user may be root."""

LIBRARIES: Final = ("playwright.sync_api", "axe_playwright_python.sync_playwright")

DESK: Final = 1280
"""Width of a window on a desk, in pixels."""
PHONE: Final = 400
"""Width of a narrow window, in pixels."""

SERIOUS: Final = ("serious", "critical")
"""Impacts of findings of axe-core that count."""

_WIDTH: Final = "document.documentElement.scrollWidth"


@contextmanager
def open_browser() -> Generator[Any]:
    """Start Chromium; the value opens pages (``playwright.sync_api.Browser``)."""
    for library in LIBRARIES:
        pytest.importorskip(library, reason="the extra browser is missing")
    configured = os.environ.get("ROCKETWIRE_CHROMIUM")
    paths = map(shutil.which, (configured,) if configured else PROGRAMS)
    path = next((path for path in paths if path is not None), None)
    if path is None:
        pytest.skip("no Chromium on the path (apt-get install chromium-headless-shell)")
    with import_module(LIBRARIES[0]).sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    def __init__(
        self, browser: Any, *, width: int = DESK, height: int = 800, dark: bool = False
    ) -> None:
        #: ``playwright.sync_api.Page``
        self.page = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        #: errors and warnings on the console, exceptions of scripts, failed requests
        self.complaints: list[str] = []
        self.page.on("console", self._note)
        self.page.on("pageerror", self._note_error)
        self.page.on("requestfailed", self._note_request)
        self._width = width
        self._axe = import_module(LIBRARIES[1]).Axe()

    def _note(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def _note_error(self, error: Any) -> None:
        self.complaints.append(str(error))

    def _note_request(self, request: Any) -> None:
        self.complaints.append(f"{request.url}: {request.failure}")

    def findings(self, address: str) -> list[str]:
        """Go to a page; return what is wrong with it: complaints, its width, and axe-core's."""
        self.complaints.clear()
        self.page.goto(address)
        width = int(self.page.evaluate(_WIDTH))
        too_wide = [f"{width} pixels wide"] if width > self._width else []
        findings = (*self.complaints, *too_wide, *self._violations())
        return [f"{address} at {self._width} px: {text}" for text in findings]

    def _violations(self) -> list[str]:
        violations = self._axe.run(self.page).response["violations"]
        return [
            f"{violation['id']} ({violation['impact']}), {len(violation['nodes'])} times: "
            f"{violation['help']}, {violation['nodes'][0]['html'][:200]}"
            for violation in violations
            if violation["impact"] in SERIOUS
        ]

    def close(self) -> None:
        self.page.close()


pytestmark = pytest.mark.process

LONG = "orders-of-all-shops-" + "x" * 80


async def fill(name_server: str) -> None:
    async def handle(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> ConsumeConcurrentlyStatus:
        received.set()
        return ConsumeConcurrentlyStatus.RECONSUME_LATER

    received = trio.Event()
    async with open_client(name_server) as client, open_producer(client, "shop") as producer:
        for topic in ("orders", LONG):
            for number in range(40):
                await producer.send(
                    Message(topic, b"%d apples" % number, keys=("k",), tags="fruit")
                )
        await producer.send(Message("orders", bytes(range(256)) * 20, keys=("k" * 200,)))
        await producer.send(Message("orders", "<script>alert(1)</script>\n多".encode()))
        config = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
        async with open_push_consumer(client, "billing", {"orders": "*"}, handle, config=config):
            with trio.fail_after(60):
                await received.wait()


@pytest.fixture(scope="module")
def browser() -> Generator[Any]:
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def name_server(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Generator[Child]:
    folder = tmp_path_factory.mktemp("namesrv")
    (folder / "namesrv.properties").write_text(
        f"listenPort={free_ports()}\nbindAddress={LOOPBACK}\nrocketwire.observePort=0\n"
    )
    command = [sys.executable, "-m", "rocketwire_namesrv", "-c", "namesrv.properties"]
    child = Child("namesrv", command, folder, environment={"ROCKETMQ_HOME": str(folder)})
    child.wait_until(lambda: "status page: " in child.output, "ready")
    yield child
    child.stop()


@pytest.fixture(scope="module")
def broker(name_server: Child, tmp_path_factory: pytest.TempPathFactory) -> Generator[Child]:
    folder = tmp_path_factory.mktemp("brokers")
    properties = (name_server.folder / "namesrv.properties").read_text()
    address = f"{LOOPBACK}:{properties.split()[0].removeprefix('listenPort=')}"
    command = [*PROGRAM, "broker", "-n", address, "--broker-port", "0", "--status-port", "0"]
    child = Child("broker", [*command, "--brokers", "2"], folder)
    child.wait_until(lambda: child.output.count("ready: ") == 2, "ready")
    trio.run(fill, address)
    yield child
    child.stop()


def page_of(program: Child) -> str:
    match = re.search(r"status page: (http://[^;\s]+)", program.output)
    assert match is not None
    return match[1]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [DESK, PHONE])
def test_pages_of_a_broker_have_no_findings(
    browser: Any, broker: Child, width: int, *, dark: bool
) -> None:
    visit = Visit(browser, width=width, dark=dark)
    home = page_of(broker)

    findings = visit.findings(home)
    findings += visit.findings(f"{home}?system=1")
    findings += visit.findings(f"{home}group?name=billing")
    findings += visit.findings(f"{home}messages?topic=orders")
    links = visit.page.locator("a[href*='/message?']").evaluate_all("all => all.map(a => a.href)")
    for link in links[:3]:
        findings += visit.findings(link)

    assert links
    assert findings == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [DESK, PHONE])
def test_the_page_of_a_name_server_has_no_findings(
    browser: Any, name_server: Child, broker: Child, width: int, *, dark: bool
) -> None:
    assert broker.process.poll() is None  # it is registered
    visit = Visit(browser, width=width, dark=dark)

    assert visit.findings(page_of(name_server)) == []
