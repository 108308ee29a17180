"""The formats that can be compared, by name."""

from tests.fuzz.bodies import JsonBodies
from tests.fuzz.headers import JsonHeaders
from tests.fuzz.messages import StoredMessages
from tests.fuzz.trials import Format

FORMATS: dict[str, Format] = {
    form.name: form for form in (JsonHeaders(), StoredMessages(), JsonBodies())
}
