"""Captures: RocketMQ frames, with paired requests and replies and their latencies, from pcap and
pcapng files.

Bytes pass through the rooms in this order: ``files`` opens and decompresses captures and finds
records; ``packets`` finds TCP segments; ``streams`` orders them and cuts frames out of them;
``headers`` reads the headers; ``rows`` pairs requests with replies and makes columns. ``decode``
runs these steps, ``reports`` prints and writes the result.

Memory does not depend on the size of the input. numpy processes the packets of a chunk at once,
Python processes frames. This package does not know Spark.
"""
