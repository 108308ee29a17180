"""What a broker in controller mode noted: ``epochFileCheckpoint`` and ``brokerIdentity``."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from rocketwire.errors import DecodeError
from rocketwire.store import epochs
from rocketwire_tools.store.checks.findings import Finding, FindingKind

if TYPE_CHECKING:
    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.checks.findings import Findings
    from rocketwire_tools.store.opened import OpenedStore


def check_epochs(store: OpenedStore, findings: Findings, log_end: int) -> None:
    """Check the epochs of a broker in controller mode, and its identity.

    Args:
        store: to check.
        findings: where to add what is found.
        log_end: end of the log's last message.
    """
    file = store.folder.plain.get("epochFileCheckpoint")
    if file is not None:
        try:
            _check_epochs(findings, file, epochs.decode_epochs(store.read(file)), log_end)
        except DecodeError as error:
            _add(findings, file, str(error))
    file = store.folder.plain.get("brokerIdentity")
    if file is not None:
        try:
            epochs.decode_identity(store.read(file))
        except DecodeError as error:
            _add(findings, file, str(error))


def _check_epochs(
    findings: Findings, file: StoreFile, noted: list[epochs.Epoch], log_end: int
) -> None:
    for before, after in itertools.pairwise(noted):
        if not before < after or before.start_offset > after.start_offset:
            text = f"epoch {after.epoch} from {after.start_offset} on follows epoch"
            text += f" {before.epoch} from {before.start_offset} on"
            _add(findings, file, text)
    if noted and noted[-1].start_offset > log_end:
        text = f"epoch {noted[-1].epoch} begins at {noted[-1].start_offset}, the log ends at"
        _add(findings, file, f"{text} {log_end}")


def _add(findings: Findings, file: StoreFile, text: str) -> None:
    kind = FindingKind.EPOCHS
    findings.add(Finding(kind=kind, text=text, file=file.name, size=file.size))
