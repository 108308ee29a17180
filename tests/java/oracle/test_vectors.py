"""The vectors of the fixtures are what their maker makes today, whatever has been edited since."""

import pytest

from tests.java.oracle import make_vectors
from tests.peers import manifest

OF_THE_PLATFORM = {
    "vectors/registrations/packed.jsonl",
    "vectors/stored/compressed.jsonl",
    "vectors/stored/bodies.jsonl",
    "bad/java/registrations.jsonl",
    "bad/java/compressed.jsonl",
}
"""Files with bytes that a zlib made; another build of it may compress to others."""


@pytest.mark.parametrize("family", sorted(make_vectors.FAMILIES))
@pytest.mark.full
def test_java_makes_the_same_vectors_again(family: str) -> None:
    for sheet in make_vectors.make([family]):
        if sheet.file not in OF_THE_PLATFORM:
            assert (manifest.FIXTURES / sheet.file).read_text("ascii") == sheet.text(), sheet.file
