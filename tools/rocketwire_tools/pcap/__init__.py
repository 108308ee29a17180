"""Captures: RocketMQ frames, requests paired with replies and latencies out of pcap and pcapng files.

The way of the bytes, each step a module: ``inputs`` opens and inflates, ``capture`` finds the records, ``packets`` the TCP
segments in them, ``connections`` names who talks to whom, ``flows`` and ``stream`` put the segments in order and cut frames out
of them, ``headers`` reads those, ``pairing`` finds the request of a reply, ``rows`` makes columns.  ``engine`` is all of it.

Rules of this package: memory does not depend on the size of the input; work on packets is done by numpy for a chunk of
them at a time, Python looks at frames; nothing here knows of Spark.
"""
