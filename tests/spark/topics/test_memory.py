"""Memory of a worker that reads a topic of a Java broker: it does not depend on the topic's size,
nor on what its bodies are when they are decompressed.

``ROCKETWIRE_SPARK_MESSAGES`` makes the topic larger.
"""

import os
import subprocess
import sys

import pytest

from rocketwire.client import ClientInstance, Message, ProducerConfig, open_producer
from rocketwire.wire.message.body_compression import CompressionType
from tests.peers.cluster import JavaCluster
from tests.peers.messages import unique
from tests.peers.processes import wait_until
from tests.spark.conftest import ROOT, without_spark
from tests.spark.topics_of_java import Topics

pytestmark = pytest.mark.java

MESSAGES = int(os.environ.get("ROCKETWIRE_SPARK_MESSAGES", "20000"))
LIMIT = 300_000
"""KiB of memory of a worker, with PySpark and Arrow in it."""
WORKER = """
import os, re, sys
import pyarrow as pa
import pyspark.sql.worker.plan_data_source_read
from pyspark.sql.types import BinaryType, LongType, StructField, StructType
from pyspark_rocketmq import DefaultSource

address, topic = sys.argv[1:]
schema = StructType([StructField("body", BinaryType()), StructField("queueOffset", LongType())])
reader = DefaultSource({"nameServers": address, "subscribe": topic}).reader(schema)
partitions = reader.partitions()
count = 0
with open(os.devnull, "wb") as out:
    for partition in partitions:
        stream = None
        for batch in reader.read(partition):  # as Spark's worker passes it on
            stream = stream or pa.ipc.new_stream(out, batch.schema)
            stream.write_batch(batch)
            count += batch.num_rows
most = re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]
print(count, most)  # ru_maxrss would be that of the process that started this one
"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("size", "count", "compression"),
    [
        (4096, MESSAGES, None),
        (4_000_000, MESSAGES // 500, None),
        (4_000_000, MESSAGES // 200, CompressionType.ZLIB),
        (4_000_000, MESSAGES // 200, CompressionType.LZ4),
        (4_000_000, MESSAGES // 200, CompressionType.ZSTD),
    ],
    ids=["4 KiB", "4 MB", "4 MB of zlib", "4 MB of LZ4", "4 MB of ZSTD"],
)
def test_worker_has_room_for_a_topic_of_any_size(
    shared_java_cluster: JavaCluster, size: int, count: int, compression: CompressionType | None
) -> None:
    without_spark()
    topics = Topics(shared_java_cluster.address, only=shared_java_cluster.master.address)
    topic = topics.create(unique("memory"), queues=2)

    async def fill(client: ClientInstance) -> None:
        config = ProducerConfig(
            send_msg_timeout=60,
            compress_msg_body_over_howmuch=1 << 30 if compression is None else 1,
            compress_type=compression or CompressionType.ZLIB,
            compress_level=1,
        )
        async with open_producer(client, "fillers", config) as producer:
            if size > 1_000_000:
                for number in range(count):
                    body = os.urandom(size) if compression is None else bytes([number % 256]) * size
                    await producer.send(Message(topic, body))
                return
            for first in range(0, count, 100):
                bodies = [b"x" * size] * min(100, count - first)
                await producer.send_many([Message(topic, body) for body in bodies])

    topics.run(fill)
    wait_until(lambda: sum(topics.ends(topic).values()) >= count, "all are in queues", 120)
    roots = [str(ROOT), str(ROOT / "namesrv"), str(ROOT / "tools")]
    process = subprocess.run(
        [sys.executable, "-c", WORKER, topics.address, topic],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(roots)},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    read, memory = map(int, process.stdout.split())

    assert read >= count
    assert memory < LIMIT
