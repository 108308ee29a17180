"""Files of brokers in controller mode: the epochs of their log, and who they are.

An epoch is the time for which one broker of a group is the master.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from rocketwire.errors import DecodeError
from rocketwire.wire.checksum import crc32

_NUMBER: Final = re.compile(r"[0-9]{1,19}", re.ASCII)
_MAX_INT: Final = (1 << 31) - 1
_MAX_LONG: Final = (1 << 63) - 1


class Epoch(NamedTuple):
    epoch: int  #: its number
    start_offset: int  #: of the first message in the commit log


class BrokerIdentity(NamedTuple):
    cluster: str  #: name
    broker: str  #: name of its group
    broker_id: int  #: number in the group


def decode_epochs(data: bytes) -> list[Epoch]:
    """The epochs of ``epochFileCheckpoint`` (Java: ``CheckpointFile``, ``EpochFileCache``).

    The first line is the number of epochs, the second one the CRC-32 of the following lines, of
    which 0 is not compared.

    Raises:
        DecodeError: a number is missing, or Java refuses the file.
    """
    text = data.decode("utf-8", "replace").splitlines()
    count, checksum, lines = "".join(text[:1]), "".join(text[1:2]), text[2:]
    expected = _number(count, _MAX_INT, "the number of epochs")
    crc = _number(checksum, _MAX_INT, "the checksum")
    epochs: list[Epoch] = []
    for line in lines:
        parts = line.split("-")
        if len(parts) == 2:
            epoch = _number(parts[0], _MAX_INT, "an epoch")
            epochs.append(Epoch(epoch, _number(parts[1], _MAX_LONG, "an offset")))
    if len(epochs) != expected:
        raise DecodeError(f"{len(epochs)} epochs are there, and the first line says {expected}")
    if crc and crc != crc32("".join(f"{line}\n" for line in lines).encode()):
        raise DecodeError("the checksum is wrong")
    return epochs


def decode_identity(data: bytes) -> BrokerIdentity:
    """The file ``brokerIdentity`` (Java: ``BrokerMetadata``).

    Raises:
        DecodeError: a part is missing, or the id is no number.
    """
    parts = data.decode("utf-8", "replace").strip().split("#")
    if len(parts) != 3:
        raise DecodeError("it has not the form cluster#broker#id")
    return BrokerIdentity(parts[0], parts[1], _number(parts[2], _MAX_LONG, "the id"))


def _number(text: str, maximum: int, name: str) -> int:
    if not _NUMBER.fullmatch(text) or int(text) > maximum:
        raise DecodeError(f"{name} is no number")
    return int(text)
