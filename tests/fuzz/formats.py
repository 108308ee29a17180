"""The formats that can be compared, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.bodies import JsonBodies
from tests.fuzz.headers import BinaryHeaders, JsonHeaders
from tests.fuzz.messages import Batches, StoredMessages
from tests.fuzz.registrations import Registrations
from tests.fuzz.signatures import Signatures
from tests.fuzz.streams import Streams
from tests.fuzz.texts import MessageIds, PropertyTexts
from tests.fuzz.typed import TypedHeaders

if TYPE_CHECKING:
    from tests.fuzz.trials import Format

FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        JsonHeaders(),
        BinaryHeaders(),
        Streams(),
        Registrations(),
        StoredMessages(),
        Batches(),
        JsonBodies(),
        PropertyTexts(),
        MessageIds(),
        Signatures(),
        TypedHeaders(),
    )
}
