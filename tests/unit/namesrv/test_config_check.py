"""``--check-config`` prints the errors and warnings of a start, and changes nothing."""

from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING

import pytest

from rocketwire.serving.http import port as http_port
from rocketwire_namesrv.config_check import Findings, check_config
from tests.support.builders.certificates import authority

if TYPE_CHECKING:
    from pathlib import Path

NOTHING = Findings(())


def check(folder: Path, text: str, jvm: str = "", address: str = "127.0.0.1") -> Findings:
    """The findings of a file of which ``text`` begins in the second line."""
    path = folder / "ns.properties"
    path.write_text(f"bindAddress={address}\n{text}")
    before = sorted(folder.rglob("*"))
    findings = check_config(str(path), {"JAVA_OPT_EXT": f"-Duser.home={folder} {jvm}"})
    assert sorted(folder.rglob("*")) == before
    return findings


def test_nothing_is_found_in_an_ordinary_file(tmp_path: Path) -> None:
    assert check(tmp_path, "listenPort=1\nrocketwire.maxTopics=5\n") == NOTHING


def test_values_are_errors_or_warnings_with_their_lines(tmp_path: Path) -> None:
    findings = check(tmp_path, "rocketwire.maxTopics=-1\nwaitSecondsForService=-3\n")

    (error,), (warning,) = findings
    assert error.startswith(f"{tmp_path}/ns.properties, line 2: rocketwire.maxTopics=-1: must be")
    assert warning.startswith(f"{tmp_path}/ns.properties, line 3: waitSecondsForService=-3: should")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    assert check_config(str(tmp_path / "none"), {}) == Findings(
        (f"{tmp_path}/none: no such file or directory",)
    )
    assert check_config(str(tmp_path), {}) == Findings((f"{tmp_path}: is a directory",))


def test_a_file_that_is_no_properties_text_is_an_error(tmp_path: Path) -> None:
    ((error,), _) = check(tmp_path, "a=\\u00zz")

    assert error.startswith(f"{tmp_path}/ns.properties, line 2: malformed")


# ---- addresses


@pytest.mark.parametrize("address", ["localhost", "127.1.2.3", "::1", ""])
def test_a_server_that_only_this_machine_reaches_is_not_warned_of(
    tmp_path: Path, address: str
) -> None:
    assert check(tmp_path, "", address=address) == NOTHING


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "10.1.2.3"])
def test_a_server_that_everybody_reaches_is_warned_of(tmp_path: Path, address: str) -> None:
    findings = check(tmp_path, "", address=address)

    assert findings.errors == ()
    assert findings.warnings[0].startswith(f"any host that reaches {address}:9876 can")


@pytest.mark.parametrize("name", ["no.such.host", "a..b"])
def test_a_host_that_is_not_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    without_hosts(monkeypatch)
    findings = check(tmp_path, "rocketwire.observePort=-1\n", address=name)

    (error,) = findings.errors
    assert error.startswith(f"{tmp_path}/ns.properties, line 1: bindAddress={name}: ")
    assert "Errno" not in error


def without_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name of a host is known, and none is asked for."""
    known = socket.getaddrinfo

    def getaddrinfo(host: str, *words: int, **more: int) -> object:
        if host == "no.such.host":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return known(host, *words, **more)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def test_the_port_for_operators_is_an_error_if_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_hosts(monkeypatch)
    findings = check(tmp_path, "rocketwire.observeAddress=no.such.host\n")

    assert findings.errors == (
        f"{tmp_path}/ns.properties, line 2: rocketwire.observeAddress=no.such.host: name or service"
        " not known",
    )


def test_a_library_that_is_missing_is_a_warning_unless_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_port, "LIBRARIES", ("no_such_library",))
    missing = (
        "no port for operators (rocketwire.observePort): no_such_library not installed (pip install"
        " 'rocketwire[observe]')"
    )
    assert check(tmp_path, "") == Findings((), (missing,))
    assert check(tmp_path, "rocketwire.observePort=0\n") == Findings((missing,))
    assert check(tmp_path, "rocketwire.observePort=-1\n") == NOTHING


# ---- files


def test_a_kv_file_that_makes_no_sense_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "kv.json").write_text("{}")
    findings = check(tmp_path, f"kvConfigPath={tmp_path}/kv.json\n")

    (error,) = findings.errors
    assert "configTable" in error


def test_a_kv_file_that_cannot_be_read_is_a_warning(tmp_path: Path) -> None:
    findings = check(tmp_path, f"kvConfigPath={tmp_path}\n")

    assert findings == Findings(
        (), (f"the KV configuration starts empty: {tmp_path}: is a directory",)
    )
    assert check(tmp_path, "kvConfigPath=\n") == NOTHING


def test_known_brokers_that_cannot_be_read_are_a_warning_if_they_are_waited_for(
    tmp_path: Path,
) -> None:
    path = f"rocketwire.knownBrokersPath={tmp_path}/known.json\n"
    (tmp_path / "known.json").write_text("[]")
    findings = check(tmp_path, f"{path}rocketwire.warmStartSeconds=5\n")

    (warning,) = findings.warnings
    assert warning.startswith(f"the list of known brokers cannot be read: {tmp_path}/known.json: ")
    assert check(tmp_path, path) == NOTHING


def test_lists_of_name_servers_are_checked(tmp_path: Path) -> None:
    setting = f"rocketwire.addressServerFile={tmp_path}/lists\n"
    (warning,) = check(tmp_path, setting).warnings
    assert warning == (
        f"no lists of name servers are given out: {tmp_path}/lists: no such file or directory"
    )

    (tmp_path / "lists").write_text("nsaddr=a\n")
    (error,) = check(tmp_path, setting).errors
    assert error == f"{tmp_path}/lists: nsaddr: 'a' must be host:port"

    (tmp_path / "lists").write_text("nsaddr=a:1\n")
    assert check(tmp_path, setting) == NOTHING


# ---- TLS


def test_a_certificate_is_loaded(tmp_path: Path) -> None:
    certificate, key = authority().issue("server").write(tmp_path, "server")
    text = (
        f"tls.test.mode.enable=false\ntls.server.certPath={certificate}\ntls.server.keyPath={key}\n"
    )

    assert check(tmp_path, text) == NOTHING
    (tmp_path / "server.key").write_text("")
    errors, (warning,) = check(tmp_path, text)
    assert errors == ()
    assert warning.startswith("the TLS certificate cannot be used, TLS connections are refused: ")
    (tmp_path / "server.key").unlink()
    assert check(tmp_path, text).warnings[0].endswith(f"with key {key}: no such file or directory")


def test_a_certificate_that_nobody_names_is_an_error(tmp_path: Path) -> None:
    findings = check(tmp_path, "\n\ntls.test.mode.enable=false\n")

    assert findings == Findings(
        (
            f"{tmp_path}/ns.properties, line 4: tls.test.mode.enable is false, and"
            " tls.server.certPath or tls.server.keyPath is not set",
        )
    )
    disabled = "-Dtls.server.mode=disabled"
    assert check(tmp_path, "tls.test.mode.enable=false\n", disabled) == NOTHING


def test_the_certificate_of_the_test_mode_is_tried_if_every_connection_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enforcing = "-Dtls.server.mode=enforcing"
    assert check(tmp_path, "", enforcing) == NOTHING
    monkeypatch.setitem(sys.modules, "cryptography", None)

    (error,) = check(tmp_path, "", enforcing).errors
    assert "cryptography" in error
    assert check(tmp_path, "") == NOTHING


def test_remarks_on_tls_name_the_line_of_the_setting(tmp_path: Path) -> None:
    findings = check(tmp_path, "\ntls.server.mode=enforcing\n")

    assert findings == Findings(
        (),
        (
            f"{tmp_path}/ns.properties, line 3: tls.server.mode counts as a system property only"
            " (-Dtls.server.mode=...)",
        ),
    )


def test_a_tls_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "tls.properties").write_text("a=\\u00zz")
    findings = check(tmp_path, "", f"-Dtls.config.file={tmp_path}/tls.properties")

    (error,) = findings.errors
    assert error.startswith(f"tls.config.file: {tmp_path}/tls.properties, line 1: malformed")
