"""CVE-2024-23321 and what is near it: no answer to anything holds a secret of the configuration."""

import json
from pathlib import Path

import pytest

from tests.integration.namesrv.security import server_process
from tests.peers.raw_call import ask
from tests.support.fakes.sansio_server import identity
from tests.support.name_servers import SERVED_CODES

MARK = "correct-horse-battery"
SECRETS = {
    "tls.server.keyPassword": f"{MARK}-1",
    "tls.client.keyPassword": f"{MARK}-2",
    "accessKey": f"{MARK}-3",
    "secretKey": f"{MARK}-4",
    "acl.adminPassword": f"{MARK}-5",
    "sessionToken": f"{MARK}-6",
}
FIELDS = identity(
    address="127.0.0.1:1",
    cluster="C",
    key="accessKey",
    namespace="tls.server.keyPassword",
    topic="secretKey",
    value="v",
)


@pytest.mark.process
@pytest.mark.parametrize("driver", ["portable", "reactor"])
def test_T_23321_no_answer_to_any_request_holds_a_secret(tmp_path: Path, driver: str) -> None:
    options = {"rocketwire.driver": driver, "rocketwire.allowConfigUpdate": "true", **SECRETS}
    server = server_process.server(tmp_path, driver, **options)
    with server:
        answers = [ask(server.port, code, FIELDS, body) for code in SERVED_CODES for body in BODIES]
        answers.append(server_process.update(server.port, "accessKey=x\nsecretKey=y"))
        settings = server_process.show_config(server.port)

    assert len(answers) > len(SERVED_CODES)
    for answer in answers:
        assert MARK.encode() not in answer.body
        assert MARK not in json.dumps(answer.header)
    assert not settings.keys() & SECRETS.keys()
    assert MARK not in server.log


BODIES = (b"", b"{}", b"accessKey=\n")
