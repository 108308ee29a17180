import pytest

from tests.support.fakes.sansio_server import Server


@pytest.fixture
def server() -> Server:
    """A name server with the default settings; a module defines it anew if it needs other ones."""
    return Server()
