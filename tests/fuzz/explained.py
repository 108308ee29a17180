"""Differences from Java that are meant: each with its reason, and a predicate as narrow as it can be.

Rules of this file: a sentence here is the sentence in ``docs/support.md``; a rule that no longer applies to anything is
removed; what is not listed is a bug.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.fuzz.predicates import bodies, combinations, headers, json_texts, messages, streams

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.trials import Difference, Trial


class Explanation(NamedTuple):
    """Why a difference is meant.

    Attributes:
        name: short, for the totals.
        formats: where it can occur.
        reason: one sentence for people who read the support table.
        holds: whether it explains this difference of this trial.
    """

    name: str
    formats: frozenset[str]
    reason: str
    holds: Callable[[Trial, Difference], bool]


def _formats(*names: str) -> frozenset[str]:
    return frozenset(names)


JSON = _formats("json-header", "fastjson-bodies", "register-body")


EXPLANATIONS: tuple[Explanation, ...] = (
    Explanation(
        "unlisted language",
        _formats("json-header", "binary-header"),
        "A language that Java does not list is null there (or, of odd characters, refused); here the number or the "
        "name is kept.",
        headers.unlisted_language,
    ),
    Explanation(
        "empty text in a binary header",
        _formats("binary-header"),
        "An empty key or value of a binary header is null in Java, which no header class can tell from absence; here the "
        "entry is left out.",
        headers.null_entry,
    ),
    Explanation(
        "number beyond a binary header",
        _formats("binary-header"),
        "Java cuts a code or version down to 16 bits in a binary header, so that another one arrives; here it is refused.",
        headers.too_wide,
    ),
    Explanation(
        "absent opaque",
        _formats("json-header"),
        "Where a JSON header has no opaque, Java invents a number; here it is 0.",
        headers.invented_opaque,
    ),
    Explanation(
        "number clamped by Java",
        _formats("json-header"),
        "Java clamps or wraps a number of a JSON header that has a fraction or an exponent and exceeds 32 bits; here it is "
        "refused.",
        headers.clamped,
    ),
    Explanation(
        "frame behind a bad one",
        _formats("stream"),
        "A good frame behind a bad one is not looked at; Java decodes those that it has received, and executes them "
        "while it closes the connection.",
        streams.behind_bad,
    ),
    Explanation(
        "bad frame before its end",
        _formats("stream"),
        "A bad length, type byte or header length is refused on the first eight bytes; Java waits for the whole frame "
        "and then refuses it.",
        streams.bad_so_far,
    ),
    Explanation(
        "NUL between tokens",
        JSON,
        "A NUL between the tokens of a JSON text is refused; each of Java's two JSON libraries skips it at other places.",
        json_texts.nul_between,
    ),
    Explanation(
        "comma after the document",
        JSON,
        "fastjson2 skips a comma after the end of a document; here that is text after the end.",
        headers.comma_after,
    ),
    Explanation(
        "serializeTypeCurrentRPC is ignored",
        _formats("json-header"),
        "The frame's type byte says how a header is written; what the header itself says of it is not looked at, while "
        "Java refuses an unlisted value before it ignores a listed one.",
        headers.unread_type,
    ),
    Explanation(
        "text that is no number",
        _formats("json-header"),
        "A text in the place of an integer has to be a number; Java's reader gets through some that are none.",
        json_texts.no_number,
    ),
    Explanation(
        "name that Java misreads",
        JSON,
        "Java 5.5.0 cannot read the name of an object's member, its own included, that holds a character beyond U+FFFF (the "
        "key of a map: only one that holds an escape as well).",
        json_texts.misread_name,
    ),
    Explanation(
        "reference that Java cannot follow",
        JSON,
        "A member $ref whose text looks like a path that leads nowhere makes Java refuse the whole document, or is null "
        "there; here the value is null, or the member stays what it is.",
        json_texts.lost_reference,
    ),
    Explanation(
        "NUL in a member name",
        JSON,
        "A NUL in the name of a member, raw or escaped, or of an enum's constant is part of it; Java's comparison of names does not "
        "see it.",
        json_texts.nul_in_name,
    ),
    Explanation(
        "name that was read before",
        JSON,
        "A name that differs by NULs alone from one that Java has read before may become that one there: short names are remembered by "
        "numbers that their bytes make.",
        json_texts.name_read_before,
    ),
    Explanation(
        "invalid UTF-8 in JSON",
        JSON,
        "Java replaces some invalid UTF-8 in JSON and refuses other; here all of it is refused.",
        json_texts.not_utf8,
    ),
    Explanation(
        "repeated member",
        JSON,
        "Of a member that occurs twice only the last value counts; Java also refuses an earlier one that does not fit.",
        json_texts.repeated_member,
    ),
    Explanation(
        "unread members of a header",
        _formats("json-header"),
        "Java reads the members body and suspended of a JSON header, which nobody writes, and refuses what does not fit; "
        "here they are ignored.",
        json_texts.unread_member,
    ),
    Explanation(
        "null in extFields",
        _formats("json-header"),
        "A field whose value is null is left out; in Java it is in the map, and no header class can tell it from absence.",
        combinations.null_field,
    ),
    Explanation(
        "unlisted constant of an enum",
        _formats("fastjson-bodies", "register-body"),
        "The name of an enum's constant that Java does not list is null there; here the name is kept.",
        bodies.unlisted_constant,
    ),
    Explanation(
        "absent time",
        _formats("fastjson-bodies", "register-body", "typed-header"),
        "Java fills some absent times with its own clock; here they are None.",
        bodies.clock,
    ),
    Explanation(
        "incomplete value",
        _formats("fastjson-bodies"),
        "Some of Java's controller classes have no constructor for a JSON object in which members are missing, and fail; "
        "here those are 0 or None.",
        bodies.incomplete,
    ),
    Explanation(
        "end of an incomplete epoch",
        _formats("fastjson-bodies"),
        "An epoch whose end is missing ends at 2^63-1; where another of its members is missing as well, Java has 0.",
        bodies.incomplete_epoch,
    ),
    Explanation(
        "derived member",
        _formats("fastjson-bodies"),
        "What Java computes from other members when it writes is kept as it was read.",
        bodies.derived,
    ),
    Explanation(
        "incomplete queue as a key",
        _formats("fastjson-bodies"),
        "The sorted maps of ConsumerRunningInfo take no queue in which a name is missing; here they do.",
        bodies.null_in_key,
    ),
    Explanation(
        "sorted set of subscriptions",
        _formats("fastjson-bodies"),
        "The subscriptions of ConsumerRunningInfo stay as they came; Java sorts them by topic and expression, and drops all "
        "but one of those that agree in both.",
        bodies.unsorted_set,
    ),
    Explanation(
        "malformed attributes of a packed topic",
        _formats("register-body"),
        "Attributes and filter servers of a packed registration that are no JSON are lost, or partly read by Java where its "
        "reader happens to get through them.",
        bodies.bad_attributes,
    ),
    Explanation(
        "damaged zlib stream",
        _formats("register-body"),
        "A zlib stream without its end or its checksum is refused; Java stops looking once it has all parts.",
        bodies.cut_stream,
    ),
    Explanation(
        "integer keys in an unknown member",
        JSON,
        "An unknown member is skipped whatever it holds; Java refuses integer keys and inexact numbers in it.",
        combinations.skipped_keys,
    ),
    Explanation(
        "large exponent",
        JSON,
        "A number with a large exponent is clamped to the range of its type; Java refuses some.",
        combinations.large_exponent,
    ),
    Explanation(
        "registration without a body",
        _formats("register-body"),
        "For a registration without a body Java's name server makes an empty one; here the reader does.",
        bodies.no_body,
    ),
    Explanation(
        "double at the edge",
        _formats("fastjson-bodies"),
        "A double is written with the fewest digits that give it back; where these lie at the very edge of what does, as for "
        "2233966.251886938, Java's writer takes one digit more.",
        bodies.double_at_the_edge,
    ),
    Explanation(
        "object in the place of a list",
        _formats("fastjson-bodies"),
        "An object in the place of a list of objects or maps is a list of it alone; Java takes it so for most members, and "
        "for the others refuses it or has null.",
        bodies.lone_object,
    ),
    Explanation(
        "null in a list",
        _formats("fastjson-bodies", "register-body"),
        "A null among the objects or texts of a list or the values of a concurrent map is refused, a packed list of filter "
        "servers with one is empty; Java's own programs fail on it later.",
        bodies.null_element,
    ),
    Explanation(
        "integer alone in an array",
        _formats("fastjson-bodies"),
        "An array with one integer in the place of a long is that integer; Java keeps its last 32 bits.",
        json_texts.alone_in_array,
    ),
    Explanation(
        "number beyond its suffix",
        _formats("fastjson-bodies", "register-body"),
        "A number of more than 38 digits, or with a suffix (B, S, F) that cannot hold it, is the number that it says; Java makes "
        "another one of it, or refuses it.",
        json_texts.beyond_suffix,
    ),
    Explanation(
        "date in the place of a long",
        _formats("fastjson-bodies", "register-body"),
        "A date in the place of a long is refused; Java has its milliseconds, by its own time zone.",
        json_texts.date_as_number,
    ),
    Explanation(
        "nothing to sign",
        _formats("signature"),
        "The content of a command without fields and body is empty; Java has null for it, and its signer raises.",
        combinations.no_content,
    ),
    Explanation(
        "object in the place of a text",
        JSON,
        "Java puts the JSON of an object into a field of type String; an integer key in it is quoted here and not there.",
        json_texts.keys_in_text,
    ),
    Explanation(
        "text that Java never ends with",
        _formats("fastjson-bodies"),
        "Java 5.5.0 never ends with some texts that are no JSON (a queue in a set, with an unquoted name that begins with n); "
        "here they are refused.",
        combinations.never_ends,
    ),
    Explanation(
        "malformed JSON that Java reads",
        JSON,
        "JSON that no release of RocketMQ writes is refused where Java reads it: comments, names without quotes, "
        "surplus or missing commas, unknown escapes, raw control characters, numbers such as +1, 01, .5 and 1.",
        combinations.malformed_for_us,
    ),
    Explanation(
        "malformed JSON that is read",
        JSON,
        "NaN, infinities, suffixes of numbers, and objects and null as names are read wherever a value or a name may be, even "
        "if 5.5.0 refuses them at that place.",
        combinations.malformed_for_java,
    ),
    Explanation(
        "size in a batch",
        _formats("batch", "stored-message"),
        "The size at the head of a batch's message has to be that of the message; Java does not look at it.",
        combinations.batch_size,
    ),
    Explanation(
        "size of a stored message",
        _formats("stored-message"),
        "The size of a stored message has to be that of its fields; Java does not compare them, and may read on anywhere.",
        messages.lying_message,
    ),
    Explanation(
        "negative length in a stored message",
        _formats("stored-message"),
        "A body or properties of negative length are refused in a stored message; Java takes them for absent.",
        messages.negative_length,
    ),
    Explanation(
        "memory for a stored message",
        _formats("stored-message", "batch"),
        "Java takes memory for a length before it looks whether so many bytes are there, and may have none left.",
        combinations.no_memory,
    ),
    Explanation(
        "long topic of a stored message",
        _formats("stored-message"),
        "A topic of more than 127 bytes is written in the second layout, as brokers do; Java's MessageDecoder writes only "
        "the first, and raises.",
        messages.second_layout,
    ),
    Explanation(
        "id of a message in an inner batch",
        _formats("stored-message"),
        "A message of an inner batch has the offset message id of the whole; in Java it has none.",
        messages.inner_id,
    ),
    Explanation(
        "message id that is none",
        _formats("message-id"),
        "Java skips characters that are no hex digits and takes every other length than 32 for an IPv6 id; here an offset "
        "message id has 32 or 56 hex digits.",
        messages.no_id,
    ),
)


def explanation(form: str, trial: Trial, found: Difference) -> Explanation | None:
    """The first explanation that holds; inside a stream also those of the headers of its frames."""
    if form == "stream":
        inside = streams.inside_stream(trial, found)
        if inside is not None:
            return explanation(*inside)
    for one in EXPLANATIONS:
        if form in one.formats and one.holds(trial, found):
            return one
    return None
