"""``python -m tests.spark.job JSON``: a stream of Spark; a test kills its driver, or what the driver has started.

The JSON has the source and the sink, with the options of each:

    {"master": "local[2,4]", "schema": "body binary", "read": {"format": "rocketmq"}, "write": {"format": "parquet"}}

It ends at what exists at its start.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

STARTED = "the query has started"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "512m",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.task.maxFailures": "50",  # a killed executor takes tasks with it
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200",
}


def main() -> None:
    """Run the job."""
    job: dict[str, Any] = json.loads(sys.argv[1])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(job["master"])
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    reader: Any = spark.readStream.schema(job["schema"]).format(job["read"].pop("format"))
    frame: Any = reader.options(**job["read"]).load()
    writer: Any = frame.writeStream.format(job["write"].pop("format")).options(**job["write"])
    query = writer.trigger(availableNow=True).start()
    sys.stdout.write(f"{STARTED}\n")
    sys.stdout.flush()
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
