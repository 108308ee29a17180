"""Reads a part of a capture as Arrow batches; the rows are those of ``rocketwire-pcap decode``."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Final

from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.decode.split_decoder import Reach, SplitDecoder
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.rows.selection import Selection
from rocketwire_tools.spark.planning import log_skipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire_tools.pcap.arrow import Batch
    from rocketwire_tools.spark.options import Settings
    from rocketwire_tools.spark.planning import Part

_SPARED_COLLECTIONS: Final = 200_000


def read(part: Part, fields: Sequence[str], settings: Settings) -> Iterator[Batch]:
    gc.set_threshold(_SPARED_COLLECTIONS, 50, 1000)
    selection = Selection(fields, settings.filter_text, redact=settings.redact)
    options = Options(
        fields=selection.engine_fields,
        bodies=selection.needs_bodies,
        chunk_size=settings.chunk_size,
        share=part.share,
    )
    reach = Reach(backward=settings.look_behind, ahead=settings.look_ahead)
    split = part.split
    is_whole = split.start == 0 and split.end is None and not (split.before or split.after)
    decoder = Decoder(split.path, options) if is_whole else SplitDecoder(split, options, reach)
    try:
        yield from selection.rows(decoder)
    except CaptureError as error:
        if settings.bad_file == "fail":
            raise
        log_skipped(error)
