"""Certificates are made for the test mode when they are wanted, and taken anew while the server runs."""

import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import trio

from rocketwire.serving.tls import certificates
from rocketwire.serving.tls import contexts as tls
from rocketwire.serving.tls.certificates import TlsError, make_self_signed
from rocketwire.serving.tls.contexts import TlsContexts
from rocketwire.serving.tls.settings import TlsSettings
from tests.support.builders.certificates import authority, certificate_of, with_pair

OURS = authority("ours")


# ---- test mode


async def test_in_test_mode_the_certificate_is_made_once_when_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times: list[datetime] = []

    def making(now: datetime) -> object:
        times.append(now)
        return make_self_signed(now)

    monkeypatch.setattr(certificates, "make_self_signed", making)
    contexts = await start_contexts(TlsSettings())
    assert times == []

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(contexts.server_context)

    assert len(times) == 1
    certificate = await certificate_of(await contexts.server_context())
    assert certificate.subject.rfc4514_string() == "CN=localhost"


async def test_the_certificate_is_made_at_the_start_if_tls_is_enforced() -> None:
    contexts = await start_contexts(TlsSettings(server_mode="enforcing"))

    assert contexts._server is not None  # pyright: ignore[reportPrivateUsage] - the point


async def test_the_test_mode_names_a_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    permissive = TlsContexts(TlsSettings())
    await permissive.start()

    for _ in range(2):
        with pytest.raises(TlsError, match=r"pip install 'rocketwire\[tls\]'"):
            await permissive.server_context()
    with pytest.raises(TlsError, match=r"rocketwire\[tls\]"):
        await TlsContexts(TlsSettings(server_mode="enforcing")).start()


# ---- start


@pytest.mark.parametrize("missing", ["cert_path", "key_path"])
async def test_outside_the_test_mode_certificate_and_key_must_be_named(missing: str) -> None:
    paths: dict[str, Any] = {"cert_path": "a", "key_path": "a"} | {missing: ""}

    with pytest.raises(TlsError, match=r"certPath or tls\.server\.keyPath is not set"):
        await TlsContexts(TlsSettings(test_mode=False, **paths)).start()


async def test_files_that_cannot_be_used_are_an_error_and_no_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = with_pair(tmp_path, OURS.issue("server"))
    (tmp_path / "server.pem").write_bytes(b"no certificate")
    contexts = TlsContexts(settings)

    await contexts.start()

    assert "TLS connections are refused" in caplog.text
    with pytest.raises(TlsError, match=r"server\.pem"):
        await contexts.server_context()


@pytest.mark.parametrize(
    "settings",
    [
        TlsSettings(),
        TlsSettings(server_mode="disabled", test_mode=False, config_file="/proc/self/mem"),
    ],
    ids=["test mode", "disabled"],
)
async def test_without_files_there_is_nothing_to_watch_and_to_reload(
    settings: TlsSettings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    contexts = await start_contexts(settings)
    await contexts.watch()
    await contexts.reload()

    assert caplog.messages == ["TLS: there are no files to reload"]


async def test_what_may_have_been_meant_otherwise_is_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    await TlsContexts(TlsSettings(server_mode="on")).start()

    assert caplog.messages == ["TLS: tls.server.mode='on' is no mode, permissive is taken"]


async def test_a_file_of_its_own_has_the_last_word(tmp_path: Path) -> None:
    pair = OURS.issue("server")
    pair_settings = with_pair(tmp_path, pair)
    file = tmp_path / "tls.properties"
    file.write_text(
        f"tls.test.mode.enable=false\ntls.server.certPath={pair_settings.cert_path}\n"
        f"tls.server.keyPath={pair_settings.key_path}\n"
    )
    contexts = TlsContexts(TlsSettings(config_file=str(file)))

    await contexts.start()

    assert await certificate_of(await contexts.server_context()) == pair.certificate
    assert contexts.expiry == pair.certificate.not_valid_after_utc.timestamp()


async def test_such_a_file_that_makes_no_sense_is_no_start(tmp_path: Path) -> None:
    file = tmp_path / "tls.properties"
    file.write_text("a=\\u00zz")

    with pytest.raises(TlsError, match=r"tls\.config\.file"):
        await TlsContexts(TlsSettings(config_file=str(file))).start()


# ---- reload


async def watch(contexts: TlsContexts, happens: Callable[[], bool]) -> None:
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(contexts.watch)
            while not happens():
                await trio.sleep(0.002)
            nursery.cancel_scope.cancel()


@pytest.fixture
def reloads(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> pytest.LogCaptureFixture:
    monkeypatch.setattr(tls, "WATCH_SECONDS", 0.002)
    caplog.set_level("INFO")
    return caplog


async def start_contexts(settings: TlsSettings) -> TlsContexts:
    contexts = TlsContexts(settings)
    await contexts.start()
    return contexts


@pytest.mark.parametrize("vanishes", [False, True])
async def test_a_changed_pair_is_taken_and_the_half_of_one_is_not(
    tmp_path: Path, reloads: pytest.LogCaptureFixture, vanishes: bool
) -> None:
    old, new = OURS.issue("old"), OURS.issue("new")
    contexts = await start_contexts(with_pair(tmp_path, old))
    certificate = tmp_path / "server.pem"

    certificate.unlink() if vanishes else certificate.write_bytes(new.certificate_pem)
    await watch(contexts, lambda: "the previous ones stay in use" in reloads.text)
    assert await certificate_of(await contexts.server_context()) == old.certificate
    new.write(tmp_path, "server")
    await watch(contexts, lambda: "certificate and keys are loaded" in reloads.text)

    assert await certificate_of(await contexts.server_context()) == new.certificate
    assert vanishes or len(reloads.messages) == 2


async def test_a_certificate_renewed_for_the_same_key_is_taken(
    tmp_path: Path, reloads: pytest.LogCaptureFixture
) -> None:
    chain = OURS.issue("server")
    contexts = await start_contexts(with_pair(tmp_path, chain))

    (tmp_path / "server.pem").write_bytes(chain.certificate_pem + OURS.certificate_pem)

    await watch(contexts, lambda: "certificate and keys are loaded" in reloads.text)


async def test_files_that_come_after_the_start_are_taken(
    tmp_path: Path, reloads: pytest.LogCaptureFixture
) -> None:
    settings = with_pair(tmp_path, OURS.issue("server"))
    (tmp_path / "server.key").rename(tmp_path / "later")
    contexts = await start_contexts(settings)

    (tmp_path / "later").rename(tmp_path / "server.key")
    await watch(contexts, lambda: "certificate and keys are loaded" in reloads.text)

    await contexts.server_context()


async def test_asked_to_the_server_reads_its_files_again_also_those_for_brokers(
    tmp_path: Path,
) -> None:
    new = OURS.issue("new")
    contexts = await start_contexts(with_pair(tmp_path, OURS.issue("server")))
    context = await contexts.client_context()
    assert await contexts.client_context() is context
    new.write(tmp_path, "server")

    await contexts.reload()

    assert await certificate_of(await contexts.server_context()) == new.certificate
    assert await contexts.client_context() is not context
