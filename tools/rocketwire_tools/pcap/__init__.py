"""Captures: RocketMQ frames, requests paired with replies and latencies out of pcap and pcapng files.

Bytes pass through the rooms in this order: ``files`` opens and decompresses, and finds the records; ``packets`` finds TCP
segments; ``streams`` puts them in order and cuts frames out of them; ``headers`` reads the headers; ``rows`` pairs requests
with replies and makes columns.  ``decode`` runs all of it, ``reports`` prints and writes the result.

Rules of this package: memory does not depend on the size of the input; work on packets is done by numpy for a chunk of
them at a time, Python looks at frames; nothing here knows of Spark.
"""
