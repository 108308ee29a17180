"""The end of a connection and its reason."""

from trio.testing import memory_stream_pair

from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.events import Reason
from rocketwire_namesrv.protocol.handlers import Peer
from rocketwire_namesrv.protocol.session import Session
from rocketwire_namesrv.protocol.state import State
from rocketwire_namesrv.server.connection import TaskConnection


def connection() -> TaskConnection:
    peer = Peer(1, "client:1")
    _, stream = memory_stream_pair()
    return TaskConnection(stream, Session(State(Config()), peer), peer)


async def test_the_first_reason_for_its_end_is_the_one() -> None:
    task = connection()
    task.finish("idle", Reason.IDLE)
    task.close("closed by the peer")

    assert (task.closing, task.reason) == ("idle", Reason.IDLE)
    assert task.scope.cancel_called


async def test_only_a_connection_that_reads_is_cancelled() -> None:
    for is_reading in (False, True):
        task = connection()
        task.reading = is_reading
        task.finish("the server stops")
        assert task.scope.cancel_called == is_reading
