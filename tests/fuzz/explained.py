"""Differences from Java that are meant: each with a predicate as narrow as it can be.

Rules of this file: ``docs/differences.md`` has the reason of each name; a rule that no longer applies to anything is
removed; what is not listed is a bug.
"""

from collections.abc import Callable
from typing import NamedTuple

from tests.fuzz.predicates import bodies, combinations, headers, json_texts, messages
from tests.fuzz.trials import Difference, Trial


class Explanation(NamedTuple):
    name: str
    formats: frozenset[str]  # where it can occur
    holds: Callable[[Trial, Difference], bool]  # whether it explains this difference of this trial


JSON_HEADER = frozenset({"json-header"})
FASTJSON = frozenset({"fastjson-bodies"})
STORED = frozenset({"stored-message"})
JSON = JSON_HEADER | FASTJSON

EXPLANATIONS: tuple[Explanation, ...] = (
    Explanation("unlisted language", JSON_HEADER, headers.unlisted_language),
    Explanation("absent opaque", JSON_HEADER, headers.invented_opaque),
    Explanation("number clamped by Java", JSON_HEADER, headers.clamped),
    Explanation("NUL between tokens", JSON, json_texts.nul_between),
    Explanation("comma after the document", JSON, headers.comma_after),
    Explanation("serializeTypeCurrentRPC is ignored", JSON_HEADER, headers.unread_type),
    Explanation("text that is no number", JSON_HEADER, json_texts.no_number),
    Explanation("name that Java misreads", JSON, json_texts.misread_name),
    Explanation("reference that Java cannot follow", JSON, json_texts.lost_reference),
    Explanation("NUL in a member name", JSON, json_texts.nul_in_name),
    Explanation("name that was read before", JSON, json_texts.name_read_before),
    Explanation("invalid UTF-8 in JSON", JSON, json_texts.not_utf8),
    Explanation("repeated member", JSON, json_texts.repeated_member),
    Explanation("unread members of a header", JSON_HEADER, json_texts.unread_member),
    Explanation("null in extFields", JSON_HEADER, combinations.null_field),
    Explanation("unlisted constant of an enum", FASTJSON, bodies.unlisted_constant),
    Explanation("absent time", FASTJSON, bodies.clock),
    Explanation("incomplete value", FASTJSON, bodies.incomplete),
    Explanation("end of an incomplete epoch", FASTJSON, bodies.incomplete_epoch),
    Explanation("derived member", FASTJSON, bodies.derived),
    Explanation("incomplete queue as a key", FASTJSON, bodies.null_in_key),
    Explanation("sorted set of subscriptions", FASTJSON, bodies.unsorted_set),
    Explanation("integer keys in an unknown member", JSON, combinations.skipped_keys),
    Explanation("large exponent", JSON, combinations.large_exponent),
    Explanation("double at the edge", FASTJSON, bodies.double_at_the_edge),
    Explanation("object in the place of a list", FASTJSON, bodies.lone_object),
    Explanation("null in a list", FASTJSON, bodies.null_element),
    Explanation("integer alone in an array", FASTJSON, json_texts.alone_in_array),
    Explanation("number beyond its suffix", FASTJSON, json_texts.beyond_suffix),
    Explanation("date in the place of a long", FASTJSON, json_texts.date_as_number),
    Explanation("object in the place of a text", JSON, json_texts.keys_in_text),
    Explanation("text that Java never ends with", FASTJSON, combinations.never_ends),
    Explanation("malformed JSON that Java reads", JSON, combinations.malformed_for_us),
    Explanation("malformed JSON that is read", JSON, combinations.malformed_for_java),
    Explanation("size in a batch", STORED, messages.lying_inner_batch),
    Explanation("size of a stored message", STORED, messages.lying_message),
    Explanation("negative length in a stored message", STORED, messages.negative_length),
    Explanation("memory for a stored message", STORED, combinations.no_memory),
    Explanation("long topic of a stored message", STORED, messages.second_layout),
    Explanation("id of a message in an inner batch", STORED, messages.inner_id),
)


def explanation(form: str, trial: Trial, difference: Difference) -> Explanation | None:
    holding = (
        rule for rule in EXPLANATIONS if form in rule.formats and rule.holds(trial, difference)
    )
    return next(holding, None)
