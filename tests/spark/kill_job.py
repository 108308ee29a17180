"""``python -m tests.spark.kill_job NAMESRV TOPIC FOLDER LIMIT``: a stream of places into Parquet.

It runs until the messages that existed at its start have been read; a test kills it, or its workers.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the query."""
    name_servers, topic, folder, limit = sys.argv[1:5]
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "512m",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[2,4]")  # a task is tried four times
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    places = (
        spark.readStream.format("rocketmq")
        .schema("brokerName string, queueId int, queueOffset bigint")
        .option("nameServers", name_servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", limit)
        .load()
    )
    query = (
        places.writeStream.format("parquet")
        .option("path", f"{folder}/out")
        .option("checkpointLocation", f"{folder}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
