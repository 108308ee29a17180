"""The RocketMQ remoting protocol: frames, commands, headers and bodies, without I/O.

Importing this package starts nothing and imports no event loop.  Submodules have the other names:
``rocketwire.messages`` typed headers and bodies, ``rocketwire.codes`` numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.codes import LanguageCode as LanguageCode
from rocketwire.codes import RequestCode as RequestCode
from rocketwire.codes import ResponseCode as ResponseCode
from rocketwire.codes import SerializeType as SerializeType
from rocketwire.errors import CodecError as CodecError
from rocketwire.errors import DecodeError as DecodeError
from rocketwire.errors import EncodeError as EncodeError
from rocketwire.errors import FrameTooLargeError as FrameTooLargeError
from rocketwire.errors import LimitExceededError as LimitExceededError
from rocketwire.errors import LocalProtocolError as LocalProtocolError
from rocketwire.errors import ProtocolError as ProtocolError
from rocketwire.errors import RemoteProtocolError as RemoteProtocolError
from rocketwire.errors import RocketWireError as RocketWireError
from rocketwire.errors import TruncatedError as TruncatedError
from rocketwire.errors import UnknownHeaderTypeError as UnknownHeaderTypeError
from rocketwire.flags import CommandFlag as CommandFlag
from rocketwire.wire.command import CommandDecoder as CommandDecoder
from rocketwire.wire.command import RemotingCommand as RemotingCommand
from rocketwire.wire.command import decode as decode
from rocketwire.wire.command import encode as encode
from rocketwire.wire.frame import FrameDecoder as FrameDecoder

if TYPE_CHECKING:
    from rocketwire.versions import MQVersion as MQVersion

__version__ = "0.1.0"

__all__ = [
    "CodecError",
    "CommandDecoder",
    "CommandFlag",
    "DecodeError",
    "EncodeError",
    "FrameDecoder",
    "FrameTooLargeError",
    "LanguageCode",
    "LimitExceededError",
    "LocalProtocolError",
    "MQVersion",
    "ProtocolError",
    "RemoteProtocolError",
    "RemotingCommand",
    "RequestCode",
    "ResponseCode",
    "RocketWireError",
    "SerializeType",
    "TruncatedError",
    "UnknownHeaderTypeError",
    "__version__",
    "decode",
    "encode",
]


if not TYPE_CHECKING:  # pragma: no branch  # type checkers would accept every name

    def __getattr__(name: str) -> object:
        if name != "MQVersion":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from rocketwire.versions import MQVersion  # 613 members: slow to import

        globals()[name] = MQVersion
        return MQVersion


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
