"""``python -m bench.client.floor NAMESRV TOPIC socket|trio``: the minimum CPU time of synchronous
sends for any client.

One frame is sent again and again, and its response is read but not decoded: with a blocking socket,
or under trio. The commands on stdin are those of ``bench.client.ours``, but only ``sync COUNT``.
"""

from __future__ import annotations

import os
import socket
import sys

import trio

from bench.client.ours import BODY, say
from rocketwire.client import ClientConfig, Message, ProducerConfig, open_client
from rocketwire.client.addresses import split_address
from rocketwire.client.publish.request_builder import Target, build_outgoing_message
from rocketwire.policy.routing import publish_info
from rocketwire.wire.command import encode_as


async def one_send(name_server: str, topic: str) -> tuple[str, bytes]:
    """The address of a broker of the topic, and the frame of a send to its first queue."""
    client, config = ClientConfig(namesrv_addr=name_server), ProducerConfig()
    async with open_client(client) as instance:
        info = publish_info(topic, await instance.route(topic))
        template = Target(topic, info, start=0).get_template(
            info.queues[0], "bench-floor", config, client
        )
        ready = build_outgoing_message(Message(topic=topic, body=BODY), "0" * 32, 0, config)
        address = await instance.master(template.broker_name, topic)
        return address, encode_as(ready.build_command(template.fields, client, config), 1, 0)


async def serve(name_server: str, topic: str, how: str) -> None:
    """Run the commands on stdin until it ends."""
    address, frame = await one_send(name_server, topic)
    with socket.create_connection(split_address(address)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(how == "socket")
        descriptor = connection.fileno()
        while line := sys.stdin.readline():
            say("begun")
            for _ in range(int(line.split()[1])):
                os.write(descriptor, frame)
                if how == "trio":
                    await trio.lowlevel.wait_readable(descriptor)
                os.read(descriptor, 65_536)
            say("done")


if __name__ == "__main__":
    trio.run(serve, sys.argv[1], sys.argv[2], sys.argv[3])
