"""Decodes a capture to columns and drops them; prints wall and CPU seconds, and the number of
frames, as JSON."""

from __future__ import annotations

import json
import sys
import time

from rocketwire_tools.memory import prepare_process
from rocketwire_tools.pcap.decode.decoder import Decoder


def main() -> None:
    """Decode."""
    prepare_process()
    decoder = Decoder(sys.argv[1])
    wall, cpu = time.monotonic(), time.process_time()
    for _ in decoder:
        pass
    spent = {"wall": time.monotonic() - wall, "cpu": time.process_time() - cpu}
    print(json.dumps(spent | {"frames": decoder.totals.frames}))


if __name__ == "__main__":
    main()
