"""The TLS contexts in use: loaded from files, created for the test mode, and reloaded after
changes.

Rules of this file: a new certificate is used only after certificate, key and trust have been loaded
together; until then the old one stays. Connections keep their certificate. Files are read, and keys
are created, in a thread.

Java: ``NettyRemotingServer.loadSslContext``, ``FileWatchService``.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.errors import IllegalValueError
from rocketwire.os_errors import os_error_text
from rocketwire.serving import LOGGER
from rocketwire.serving.java_properties import load_config
from rocketwire.serving.tls.certificates import (
    TlsError,
    expiry_of,
    first_certificate,
    make_client_context,
    make_server_context,
)
from rocketwire.serving.tls.ciphers import choose
from rocketwire.serving.tls.settings import ClientAuth, TlsMode, TlsSettings
from rocketwire.serving.tls.stream import TlsStream

if TYPE_CHECKING:
    import logging
    import ssl

UNUSABLE: Final = "the TLS certificate cannot be used, TLS connections are refused"
WATCH_SECONDS: Final = 0.5  # time between two checks of the files; Java's number

_Signature = tuple[tuple[int, int, int] | None, ...]


class _Loaded(NamedTuple):
    settings: TlsSettings
    signature: _Signature
    context: ssl.SSLContext
    expiry: float


class TlsContexts:
    def __init__(self, settings: TlsSettings, logger: logging.Logger = LOGGER) -> None:
        self._logger = logger
        # whether connections may, must or must not begin with TLS; never changes
        self.mode: TlsMode = settings.mode
        # expiry of the certificate from a file, in seconds since 1970; NaN without one
        self.expiry: float = math.nan
        self._given = settings
        self._settings = settings  # overridden by tls.config.file
        self._signature: _Signature = ()
        self._server: ssl.SSLContext | None = None
        self._client: ssl.SSLContext | None = None
        self._missing = ""  # why there is no context, once an attempt has failed
        self._one_at_a_time = trio.Lock()

    async def start(self) -> None:
        """Load the certificate; in test mode only if every connection will need it.

        Invalid files are an error in the log, and TLS connections are refused until the files are
        valid, as in Java.

        Raises:
            TlsError: no certificate is configured outside the test mode, or none can be created in
                it although the mode is enforcing.
        """
        if self.mode is TlsMode.DISABLED:
            return
        self._settings = await trio.to_thread.run_sync(lambda: _with_file(self._given))
        for remark in _remarks(self._settings):
            self._logger.warning("TLS: %s", remark)
        if self._settings.test_mode:
            if self.mode is TlsMode.ENFORCING:
                await self.server_context()
        else:
            _require_paths(self._settings)
            await self._load(UNUSABLE)

    async def server_context(self) -> ssl.SSLContext:
        """Return the context of a connection; in test mode the first call waits for the
        certificate.

        Raises:
            TlsError: there is none.
        """
        if self._server is None and self._settings.test_mode:
            async with self._one_at_a_time:
                if self._server is None and not self._missing:
                    await self._make_self_signed()
        if self._server is None:
            raise TlsError(self._missing)
        return self._server

    async def _make_self_signed(self) -> None:
        try:
            self._server = await trio.to_thread.run_sync(
                lambda: make_server_context(self._settings)
            )
        except TlsError as error:
            self._missing = str(error)
        else:
            self._logger.info("TLS test mode: connections get a self-signed certificate")

    async def client_context(self) -> ssl.SSLContext:
        if self._client is None:
            self._client = await trio.to_thread.run_sync(
                lambda: make_client_context(self._settings)
            )
        return self._client

    async def start_tls(self, stream: trio.abc.Stream) -> TlsStream:
        """Begin TLS over a connection to a broker, which is closed if that fails."""
        try:
            secured = TlsStream(stream, await self.client_context(), server_side=False)
            await secured.do_handshake()
        except BaseException as error:
            await trio.aclose_forcefully(stream)
            if isinstance(error, trio.BrokenResourceError):
                raise TlsError(f"the TLS handshake failed: {error.__cause__}") from error
            raise
        return secured

    async def reload(self) -> None:
        """Reload the files; keep the previous certificate if they are invalid."""
        if self.mode is TlsMode.DISABLED or self._settings.test_mode:
            self._logger.info("TLS: there are no files to reload")
            return
        if await self._load("the TLS files are invalid, the previous ones stay in use"):
            self._logger.info("TLS: certificate and keys are loaded")

    async def watch(self) -> None:
        """Reload whenever a file has changed; does nothing without files."""
        while self.mode is not TlsMode.DISABLED and not self._settings.test_mode:
            await trio.sleep(WATCH_SECONDS)
            paths = _paths(self._settings)
            if await trio.to_thread.run_sync(_signature_of, paths) != self._signature:
                await self.reload()

    async def _load(self, failure: str) -> bool:
        async with self._one_at_a_time:
            paths = _paths(self._settings)
            self._signature = await trio.to_thread.run_sync(_signature_of, paths)
            try:
                loaded = await trio.to_thread.run_sync(lambda: _load_settings(self._given))
            except TlsError as error:
                self._missing = str(error)
                self._logger.error("%s: %s", failure, error)
                return False
            self._settings, self._signature, self._server, self.expiry = loaded
            self._client = None
            return True


def check_files(base: TlsSettings) -> list[str]:
    """Load the files like a start with these settings; return the warnings of a start."""
    if base.mode is TlsMode.DISABLED:
        return []
    settings = _with_file(base)
    remarks = [*_remarks(settings)]
    if not settings.test_mode:
        _require_paths(settings)
        try:
            _load_settings(base)
        except TlsError as error:
            remarks.append(f"{UNUSABLE}: {error}")
    elif base.mode is TlsMode.ENFORCING:
        make_server_context(settings)
    return remarks


def _remarks(settings: TlsSettings) -> tuple[str, ...]:
    return (*settings.remarks, *choose(settings.ciphers).remarks)


def _require_paths(settings: TlsSettings) -> None:
    if not (settings.cert_path and settings.key_path):
        raise TlsError(
            "tls.test.mode.enable is false, and tls.server.certPath or tls.server.keyPath is not"
            " set"
        )


def _load_settings(base: TlsSettings) -> _Loaded:
    settings = _with_file(base)
    signature = _signature_of(_paths(settings))
    context = make_server_context(settings)
    return _Loaded(settings, signature, context, expiry_of(first_certificate(settings.cert_path)))


def _with_file(settings: TlsSettings) -> TlsSettings:
    if not settings.config_file or not os.path.isfile(settings.config_file):
        return settings
    try:
        return settings.over(load_config(settings.config_file))
    except (OSError, IllegalValueError) as error:
        raise TlsError(f"tls.config.file: {os_error_text(error)}") from error


def _paths(settings: TlsSettings) -> tuple[str, ...]:
    return (
        settings.config_file,
        settings.cert_path,
        settings.key_path,
        settings.trust_cert_path if settings.client_auth is not ClientAuth.NONE else "",
    )


def _signature_of(paths: tuple[str, ...]) -> _Signature:
    signature: list[tuple[int, int, int] | None] = []
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            signature.append(None)
        else:
            signature.append((status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(signature)
