"""Selects columns, rows and bodies, and masks names.

Bodies are customers' data, so they are shown only on request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.pcap import arrow
from rocketwire_tools.pcap.arrow import column, pa
from rocketwire_tools.pcap.rows.rows import (
    COLUMNS,
    FOR_REPORTS,
    ON_REQUEST,
    RAW_BODY,
    schema,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rocketwire_tools.pcap.arrow import Batch, Column
    from rocketwire_tools.pcap.rows.filters import Filter
    from rocketwire_tools.pcap.rows.redaction import Redaction

BODIES: Final = ("none", "length", "decoded")
_OF_BODIES: Final = ("version", "code", "request_code", "ext_fields", "body_ok", RAW_BODY)
_OF_HELD: Final = (RAW_BODY, "request_code", "time_ns", "latency_ns")


class SelectionError(ValueError):
    """A requested column does not exist."""


class Selection:
    def __init__(
        self,
        # the columns, in order; None for all except those of ``ON_REQUEST``
        fields: Sequence[str] | None = None,
        filter_text: str | None = None,  # a filter expression; None for all rows
        body: str = "length",  # a name in ``BODIES``
        # secret that masks topics, groups and addresses; None to show them
        redact: str | None = None,
        *,
        report: bool = False,  # whether columns of ``rows.FOR_REPORTS`` are allowed
    ) -> None:
        self.is_filtered = filter_text is not None  # whether there is a filter
        every = COLUMNS | ON_REQUEST | (FOR_REPORTS if report else {})
        chosen = list(COLUMNS) if fields is None else list(dict.fromkeys(fields))
        for name in chosen:
            if name not in every:
                raise SelectionError(f"no column {name!r}; there are {', '.join(every)}")
        if body == "none":
            chosen = [name for name in chosen if name not in ("body_length", "body")]
        elif body == "decoded" and "body" not in chosen:
            chosen.append("body")
        for name in ON_REQUEST:
            if redact is not None and name in chosen:
                raise SelectionError(f"column {name!r} has no masks: leave it out, or --redact")
        self.schema = schema(chosen)  # of the requested rows
        self._filter = None if filter_text is None else _filter(filter_text)
        self._redaction = None if redact is None else _redaction(redact)
        needed = dict.fromkeys(name for name in chosen if name not in _MADE)
        needed |= dict.fromkeys(self._filter.names if self._filter else ())
        for name in _MADE.keys() & chosen:
            needed |= dict.fromkeys(_MADE[name][0])
        self.needs_bodies = RAW_BODY in needed  # whether the decoder must keep bodies
        self.engine_fields = tuple(needed) or ("time_ns",)  # columns that the decoder must make

    def rows(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        for engine_batch in batches:
            batch = engine_batch if self._filter is None else self._filter.apply(engine_batch)
            if not batch.num_rows:
                continue
            columns = [
                _MADE[name][1](batch) if name in _MADE else batch.column(name)
                for name in self.schema.names
            ]
            batch = arrow.batch(columns, self.schema)
            yield batch if self._redaction is None else self._redaction.apply(batch)


def _filter(text: str) -> Filter:
    from rocketwire_tools.pcap.rows.filters import Filter  # imports pyarrow.compute

    return Filter(text, COLUMNS)


def _redaction(secret: str) -> Redaction:
    from rocketwire_tools.pcap.rows.redaction import Redaction

    return Redaction(secret)


def _bodies(batch: Batch) -> Column:
    from rocketwire_tools.pcap.rows.bodies import body_text

    rows = zip(*(batch.column(name).to_pylist() for name in _OF_BODIES), strict=True)
    texts = [
        body_text(
            body, code=code, request_code=request_code, version=version, ext_fields=ext_fields
        )
        if is_complete and code is not None
        else None
        for version, code, request_code, ext_fields, is_complete, body in rows
    ]
    return column(texts, pa.string())


def _make_held(batch: Batch) -> Column:
    from rocketwire_tools.pcap.rows.bodies import is_held

    rows = zip(*(batch.column(name).to_pylist() for name in _OF_HELD), strict=True)
    return column(
        [
            latency is not None and is_held(body, request_code, time_ns - latency)
            for body, request_code, time_ns, latency in rows
        ],
        pa.bool_(),
    )


_MADE: Final = {"body": (_OF_BODIES, _bodies), "held": (_OF_HELD, _make_held)}
"""Columns that are made of columns of the decoder: these columns, and the function."""
