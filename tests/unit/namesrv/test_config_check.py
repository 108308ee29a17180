"""``--check-config`` prints the errors and warnings of a start, and changes nothing."""

import socket
import sys
from pathlib import Path

import pytest

from rocketwire.serving.http import port as http_port
from rocketwire_namesrv.config_check import Findings, check_config
from tests.support.builders.certificates import authority

NOTHING = Findings(())


def check(folder: Path, text: str, jvm: str = "", address: str = "127.0.0.1") -> Findings:
    path = folder / "ns.properties"
    path.write_text(f"bindAddress={address}\n{text}")
    files = sorted(folder.rglob("*"))
    findings = check_config(str(path), {"JAVA_OPT_EXT": f"-Duser.home={folder} {jvm}"})
    assert sorted(folder.rglob("*")) == files
    return findings


KNOWN = "rocketwire.knownBrokersPath={0}/known.json\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("listenPort=1\nrocketwire.maxTopics=5\n", ""),
        (
            "rocketwire.maxTopics=-1\nwaitSecondsForService=-3\n",
            "error: {0}/ns.properties, line 2: rocketwire.maxTopics=-1: must be\n"
            "warning: {0}/ns.properties, line 3: waitSecondsForService=-3: should",
        ),
        ("a=\\u00zz", "error: {0}/ns.properties, line 2: malformed"),
        (
            "\ntls.server.mode=enforcing\n",
            "warning: {0}/ns.properties, line 3: tls.server.mode counts as a system property only"
            " (-Dtls.server.mode=...)",
        ),
        (
            "\n\ntls.test.mode.enable=false\n",
            "error: {0}/ns.properties, line 4: tls.test.mode.enable is false, and"
            " tls.server.certPath or tls.server.keyPath is not set",
        ),
        ("tls.test.mode.enable=false\n-Dtls.server.mode=disabled", ""),
        (
            "-Dtls.config.file={0}/tls.properties",
            "error: tls.config.file: {0}/tls.properties, line 1: malformed",
        ),
        ("kvConfigPath={0}/kv.json\n", "error: {0}/kv.json: there is no object named configTable"),
        ("kvConfigPath={0}\n", "warning: the KV configuration starts empty: {0}: is a directory"),
        ("kvConfigPath=\n", ""),
        (
            KNOWN + "rocketwire.warmStartSeconds=5\n",
            "warning: the list of known brokers cannot be read: {0}/known.json: ",
        ),
        (KNOWN, ""),
        *((f"@{address}", "") for address in ("localhost", "127.1.2.3", "::1", "")),
        *(
            (f"@{address}", f"warning: any host that reaches {address}:9876 can")
            for address in ("0.0.0.0", "::", "10.1.2.3")
        ),
    ],
)
def test_errors_and_warnings_are_found(tmp_path: Path, text: str, expected: str) -> None:
    """``-D`` begins the options of the JVM, and ``@`` the address of the server."""
    (tmp_path / "kv.json").write_text("{}")
    (tmp_path / "known.json").write_text("[]")
    (tmp_path / "tls.properties").write_text("a=\\u00zz")
    text, has_address, address = text.format(tmp_path).partition("@")
    text, option, jvm = text.partition("-D")
    findings = check(tmp_path, text, option + jvm, address if has_address else "127.0.0.1")

    shown = [f"error: {error}" for error in findings.errors]
    shown += [f"warning: {warning}" for warning in findings.warnings]
    beginnings = expected.format(tmp_path).splitlines()
    assert [line[: len(start)] for line, start in zip(shown, beginnings, strict=True)] == beginnings


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    assert check_config(str(tmp_path / "none"), {}) == Findings(
        (f"{tmp_path}/none: no such file or directory",)
    )
    assert check_config(str(tmp_path), {}) == Findings((f"{tmp_path}: is a directory",))


@pytest.mark.parametrize("name", ["no.such.host", "a..b"])
def test_missing_host_is_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    without_hosts(monkeypatch)
    findings = check(tmp_path, "rocketwire.observePort=-1\n", address=name)

    (error,) = findings.errors
    assert error.startswith(f"{tmp_path}/ns.properties, line 1: bindAddress={name}: ")
    assert "Errno" not in error


def without_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the look-up of ``no.such.host`` fail without a request to a name server."""
    function = socket.getaddrinfo

    def getaddrinfo(host: str, *arguments: int, **options: int) -> object:
        if host == "no.such.host":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return function(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def test_chosen_operators_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_hosts(monkeypatch)
    findings = check(tmp_path, "rocketwire.observeAddress=no.such.host\n")

    assert findings.errors == (
        f"{tmp_path}/ns.properties, line 2: rocketwire.observeAddress=no.such.host: name or service"
        " not known",
    )


def test_missing_library_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_port, "LIBRARIES", ("no_such_library",))
    missing = (
        "no port for operators (rocketwire.observePort): no_such_library not installed (pip install"
        " 'rocketwire[observe]')"
    )
    assert check(tmp_path, "") == Findings((), (missing,))
    assert check(tmp_path, "rocketwire.observePort=0\n") == Findings((missing,))
    assert check(tmp_path, "rocketwire.observePort=-1\n") == NOTHING


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


def test_certificate_of_test_mode_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enforcing = "-Dtls.server.mode=enforcing"
    assert check(tmp_path, "", enforcing) == NOTHING
    monkeypatch.setitem(sys.modules, "cryptography", None)

    (error,) = check(tmp_path, "", enforcing).errors
    assert "cryptography" in error
    assert check(tmp_path, "") == NOTHING
