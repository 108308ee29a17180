"""``python -m tests.spark.job JSON``: a job of Spark; a test kills its driver, or what the driver has started.

The JSON has the source and the sink, with the options of each:

    {"master": "local[2,4]", "settings": {}, "is_stream": true, "expressions": ["body"],
     "read": {"format": "rocketmq"}, "schema": "body binary", "write": {"format": "parquet"}}

Without ``read`` the rows are those of ``range(rows)``.  A stream ends at what exists at its start.
"""

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
    job: dict[str, Any] = json.loads(sys.argv[1])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(job["master"])
    for name, value in {**SETTINGS, **job.get("settings", {})}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    is_stream = job.get("is_stream", False)
    if "read" in job:
        reader: Any = spark.readStream if is_stream else spark.read
        if "schema" in job:
            reader = reader.schema(job["schema"])
        frame: Any = reader.format(job["read"].pop("format")).options(**job["read"]).load()
    else:
        frame = spark.range(0, job["rows"], 1, 6)
    frame = frame.selectExpr(*job.get("expressions", ["*"]))
    writer: Any = frame.writeStream if is_stream else frame.write
    writer = writer.format(job["write"].pop("format")).options(**job["write"])
    if is_stream:
        query = writer.trigger(availableNow=True).start()
        sys.stdout.write(f"{STARTED}\n")
        sys.stdout.flush()
        query.awaitTermination()
    else:
        writer.mode(job.get("mode", "append")).save()
    spark.stop()


if __name__ == "__main__":
    main()
