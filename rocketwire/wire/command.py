"""``RemotingCommand``: one request or response, and its way to and from the bytes of one frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketwire.codes import LanguageCode, SerializeType
from rocketwire.flags import CommandFlag
from rocketwire.versions import CURRENT_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.wire.fields import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class RemotingCommand:
    """One command (Java: ``RemotingCommand``); a request and a response differ in ``flag`` alone.

    Attributes:
        code: request code or response code, int32 (int16 in a binary header).
        language: of the sending program; a name outside Java's list stays text, None where the header says null.
        version: ordinal of ``MQVersion``.
        opaque: number that pairs a response with its request, int32.
        flag: bits of ``CommandFlag``.
        remark: error text of a response, or None.
        ext_fields: the header's text map; None where the command has none, which differs from empty in JSON.
        body: None where there is none; Java cannot tell an empty body from none.
        serialize_type: form of this frame's header.
    """

    code: int
    language: Language = LanguageCode.PYTHON
    version: int = CURRENT_VERSION
    opaque: int = 0
    flag: int = 0
    remark: str | None = None
    ext_fields: Mapping[str, str] | None = None
    body: bytes | None = None
    serialize_type: SerializeType = SerializeType.JSON

    @property
    def is_response(self) -> bool:
        """Whether the response bit is set; it is looked at before any other bit."""
        return bool(self.flag & CommandFlag.RESPONSE)

    @property
    def is_oneway(self) -> bool:
        """Whether no answer is wanted."""
        return bool(self.flag & CommandFlag.ONEWAY)
