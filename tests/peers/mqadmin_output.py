"""The output of mqadmin, made comparable between two runs."""

import re

from tests.peers.peers import AdminOutput


def comparable(output: AdminOutput, **addresses: str) -> str:
    """Take out what differs between two runs: ports, times, loads, and where in Java's code a failure was noticed."""
    failures = [line for line in output.err.splitlines() if not line.startswith("\t")]
    text = "\n".join([output.out, *failures])
    for name, address in addresses.items():
        port = address.rpartition(":")[2]
        text = text.replace(address, name).replace(port, f"{name} PORT")
    text = re.sub(r"\d+-\d+\(", "LAG(", text)  # of the broker's timer, late by a second or not
    text = re.sub(r"\(\d+,\d+ms(\|\d+,\d+ms)?\)|\d+\.\d+", "N", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+|\b1[0-9]{12}\b", "TIME", text)
    return re.sub(" +", " ", text)
