"""A name server and a broker on one TCP port, for senders with connections of their own."""

import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Self

from rocketwire.codes import RequestCode as Code
from rocketwire.messages.route import BrokerData, QueueData, TopicRouteData
from rocketwire.testing import reply
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode_as
from tests.support.fakes.storing_cluster import StoringCluster

_RESPONSE = 1


class TcpCluster(StoringCluster):
    def __init__(self, **topics: int) -> None:
        super().__init__(**topics)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = 0
        #: sends the bytes of an answer to a send; a test may replace it
        self.write: Callable[[socket.socket, bytes], None] = socket.socket.sendall
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, name="tcp-cluster")]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.hang_up()
        for thread in self._threads:
            thread.join()

    def hang_up(self, first: int = 0) -> None:
        for connection in self._open[first:]:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        del self._open[first:]

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,), name="tcp-cluster")
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        decoder = CommandDecoder()
        with connection:
            while True:
                try:
                    data = connection.recv(65_536)
                except OSError:
                    return
                if not data:
                    return
                decoder.feed(data)
                while (request := decoder.next_command()) is not None:
                    answer = self._answer(request)
                    if answer is None or request.is_oneway:
                        continue
                    data = encode_as(answer, request.opaque, _RESPONSE)
                    try:
                        if request.code == Code.SEND_MESSAGE_V2:
                            self.write(connection, data)
                        else:
                            connection.sendall(data)
                    except OSError:
                        return

    def _answer(self, request: RemotingCommand) -> RemotingCommand | None:
        if request.code == Code.GET_ROUTEINFO_BY_TOPIC:
            return self._tcp_route(request)
        if request.code == Code.SEND_MESSAGE_V2:
            answer = self.send(request)
            fields = {"MSG_REGION": "R", "TRACE_ON": "true"}
            if answer is not None and answer.code == 0:
                return replace(answer, ext_fields={**(answer.ext_fields or {}), **fields})
            return answer
        return reply()

    def _tcp_route(self, request: RemotingCommand) -> RemotingCommand:
        count = self.topics[(request.ext_fields or {})["topic"]]
        data = QueueData(broker_name="a", perm=6, read_queue_nums=count, write_queue_nums=count)
        broker = BrokerData(broker_name="a", cluster="c", broker_addrs={0: self.address})
        return reply(body=TopicRouteData(broker_datas=(broker,), queue_datas=(data,)))
