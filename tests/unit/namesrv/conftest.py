import pytest

from tests.support.fakes.sansio_server import Server


@pytest.fixture
def server() -> Server:
    return Server()
