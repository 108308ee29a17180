"""What a broker of a group noted about itself, against its log: terms, epochs and ends.

DLedger's members have ``currterm`` and ``checkpoint``; brokers of a controller have
``epochFileCheckpoint`` and ``brokerIdentity``.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from rocketwire.errors import DecodeError
from rocketwire.store import dledger, epochs
from rocketwire_tools.store.checks.findings import Finding, FindingKind

if TYPE_CHECKING:
    from rocketwire.store.dledger import DLedgerEntry
    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.checks.findings import Findings
    from rocketwire_tools.store.opened import OpenedStore


def check_member(store: OpenedStore, findings: Findings, last: DLedgerEntry | None) -> None:
    """Check what a member of DLedger noted.

    Args:
        store: to check.
        findings: where to add what is found.
        last: head of the last entry of the log; None without one.
    """
    for file in store.folder.dledger_state.values():
        try:
            data = store.read(file)
            if file.base_name == "checkpoint":
                _check_checkpoint(findings, file, dledger.decode_dledger_checkpoint(data), last)
            elif file.base_name == "currterm":
                term = dledger.decode_dledger_term(data).term
                if last is not None and last.term > term:
                    _add(findings, file, f"the term is {term}, and the last entry has {last.term}")
        except DecodeError as error:
            _add(findings, file, str(error))


def _check_checkpoint(
    findings: Findings,
    file: StoreFile,
    noted: dledger.DLedgerCheckpoint,
    last: DLedgerEntry | None,
) -> None:
    end = -1 if last is None else last.entry_index
    if noted.committed_index > end:
        text = f"entries up to {noted.committed_index} were committed, the log ends with {end}"
        _add(findings, file, text, count=noted.committed_index - end)
    elif noted.end_index > end:
        text = f"the log ended with entry {noted.end_index}, now it ends with {end}"
        _add(findings, file, text, count=noted.end_index - end)


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
            _add(findings, file, str(error), kind=FindingKind.EPOCHS)
    file = store.folder.plain.get("brokerIdentity")
    if file is not None:
        try:
            epochs.decode_identity(store.read(file))
        except DecodeError as error:
            _add(findings, file, str(error), kind=FindingKind.EPOCHS)


def _check_epochs(
    findings: Findings, file: StoreFile, noted: list[epochs.Epoch], log_end: int
) -> None:
    for before, after in itertools.pairwise(noted):
        if not before < after or before.start_offset > after.start_offset:
            text = f"epoch {after.epoch} from {after.start_offset} on follows epoch"
            text += f" {before.epoch} from {before.start_offset} on"
            _add(findings, file, text, kind=FindingKind.EPOCHS)
    if noted and noted[-1].start_offset > log_end:
        text = f"epoch {noted[-1].epoch} begins at {noted[-1].start_offset}, the log ends at"
        _add(findings, file, f"{text} {log_end}", kind=FindingKind.EPOCHS)


def _add(
    findings: Findings,
    file: StoreFile,
    text: str,
    *,
    count: int = 1,
    kind: FindingKind = FindingKind.DLEDGER,
) -> None:
    findings.add(Finding(kind=kind, text=text, file=file.name, size=file.size, count=count))
