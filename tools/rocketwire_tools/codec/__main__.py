"""The command ``rocketwire-codec``.

Rules of this file: a sub-command imports its modules when it runs; the exit status is 0, 1 if a
line was refused, 2 if the command line is invalid; the program ends silently when its output is
closed.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from functools import partial
from typing import IO, TYPE_CHECKING, Final

from rocketwire import __version__
from rocketwire.errors import EncodeError
from rocketwire.os_errors import os_error_text
from rocketwire.output import forget_output, reader_may_go
from rocketwire.program import ProgramParser
from rocketwire_tools.codec.expect import Plain, an_array, is_object, texts
from rocketwire_tools.codec.jsonl import (
    Output,
    each_line,
    from_base64,
    from_hex,
    parse_object,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Commands = Callable[..., argparse.ArgumentParser]
    """``add_parser`` of the result of ``add_subparsers``."""

__all__ = ["main"]

REFUSED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130

_EPILOG: Final = """\
The input is lines of hex, unless an option says otherwise. Each command has its own help:
rocketwire-codec decode --help

exit status: 0 success, 1 a line is invalid (its output line is an error), 2 the command line is
invalid or a file cannot be read, 130 interrupted"""

_EXAMPLES: Final = {
    "decode": "rocketwire-codec decode --binary < connection.bin",
    "encode": "rocketwire-codec decode frames.hex | rocketwire-codec encode",
    "body": "echo 7b7d | rocketwire-codec body TopicRouteData",
    "register-body": "rocketwire-codec register-body --compressed bodies.hex",
    "stored": "rocketwire-codec stored --check-crc messages.hex",
    "message-id": "echo 7F00000100002A9F00000000000000D0 | rocketwire-codec message-id",
    "properties": "echo 544147530161 | rocketwire-codec properties",
    "schema": "rocketwire-codec schema --markdown protocol",
}
"""Sub-command → a call of it."""


class UsageError(Exception):
    """The command line is invalid."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, or those of the process; returns the exit status."""
    with reader_may_go():
        return _run(argv)
    return 0


def _run(argv: Sequence[str] | None) -> int:
    parser = _parser()
    arguments = parser.parse_args(argv)
    output = Output(sys.stdout.buffer)
    try:
        arguments.run(arguments, output)
        sys.stdout.buffer.flush()
    except (UsageError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # buffered output would raise at the end
            forget_output()
            return REFUSED if output.refused else 0
        print(f"rocketwire-codec: {os_error_text(error)}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return REFUSED if output.refused else 0


def _parser() -> argparse.ArgumentParser:
    parser = ProgramParser(
        prog="rocketwire-codec",
        description="Read and write RocketMQ's remoting protocol: each line gives a JSON object.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    added = parser.add_subparsers(title="sub-commands", required=True, metavar="COMMAND")
    commands = added.add_parser
    _add_frames(commands)
    _add_bodies(commands)
    _add_messages(commands)
    _add_descriptions(commands)
    return parser


def _command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace, Output], None],
    text: str,
    *,
    both_ways: bool = True,
) -> argparse.ArgumentParser:
    command = commands(
        name,
        help=text,
        description=f"{text[:1].upper()}{text[1:]}.",
        epilog=f"example:\n  {_EXAMPLES[name]}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    if both_ways:
        command.add_argument("--encode", action="store_true", help="read JSON objects, write hex")
        command.add_argument("--base64", action="store_true", help="read base64 instead of hex")
    return command


def _add_frames(commands: Commands) -> None:
    decode = _command(
        commands, "decode", _decode, "show each frame as a JSON object", both_ways=False
    )
    form = decode.add_mutually_exclusive_group()
    form.add_argument("--base64", action="store_true", help="read base64 instead of hex")
    form.add_argument(
        "--binary", action="store_true", help="read the bytes of a connection, frame after frame"
    )
    decode.add_argument("--no-body", action="store_true", help="do not show the content of bodies")
    encode = _command(
        commands,
        "encode",
        _encode,
        "write frames from the JSON objects that decode prints",
        both_ways=False,
    )
    for command in (decode, encode):
        command.add_argument(
            "--request-code",
            type=_request_code,
            metavar="N",
            help="number or name of the request that the responses answer",
        )
        _add_files(command)


def _add_bodies(commands: Commands) -> None:
    body = _command(commands, "body", _body, "read or write JSON bodies of a Java class")
    body.add_argument(
        "name",
        metavar="CLASS",
        help="name of the class without its package: TopicRouteData, AclInfo.PolicyInfo",
    )
    body.add_argument("--array", action="store_true", help="the body is a JSON array of this class")
    registration = _command(
        commands,
        "register-body",
        _register_body,
        "read or write bodies of broker registrations (103)",
    )
    registration.add_argument("--compressed", action="store_true", help="the body is compressed")
    registration.add_argument(
        "--version",
        type=_version,
        metavar="N",
        help="number or name of the version in the frame (default: the newest)",
    )
    _add_files(body)
    _add_files(registration)


def _add_messages(commands: Commands) -> None:
    stored = _command(commands, "stored", _stored, "read or write messages as brokers store them")
    stored.add_argument("--keep-compressed", action="store_true", help="do not decompress bodies")
    stored.add_argument("--unwrap", action="store_true", help="show each message of an inner batch")
    stored.add_argument(
        "--check-crc", action="store_true", help="reject a body with a wrong checksum"
    )
    ids = _command(
        commands, "message-id", _message_id, "show the address and offset in a message id"
    )
    ids.add_argument(
        "--unique", action="store_true", help="the ids are unique keys of producers (UNIQ_KEY)"
    )
    properties = _command(
        commands, "properties", _properties, "read or write the properties of messages"
    )
    for command in (stored, ids, properties):
        _add_files(command)


def _add_descriptions(commands: Commands) -> None:
    schema = _command(
        commands,
        "schema",
        _schema,
        "describe the whole protocol as one JSON object",
        both_ways=False,
    )
    schema.add_argument(
        "--markdown", metavar="DIR", help="write Markdown pages into this folder instead"
    )


def _add_files(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "files", nargs="*", metavar="FILE", help="input files; - is standard input (default: -)"
    )


def _request_code(text: str) -> int:
    from rocketwire.codes import RequestCode

    if text in RequestCode.__members__:
        return int(RequestCode[text])
    return _number(text, "the number or the name of a request code, such as 105")


def _version(text: str) -> int:
    from rocketwire.versions import MQVersion

    if text in MQVersion.__members__:
        return int(MQVersion[text])
    return _number(text, "the number or the name of a version, such as V5_5_0")


def _number(text: str, expected: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r}: must be {expected}")
    return int(text)


def _sources(arguments: argparse.Namespace) -> Iterator[IO[bytes]]:
    for name in arguments.files or ["-"]:
        if name == "-":
            yield sys.stdin.buffer
        else:
            with open(name, "rb") as source:
                yield source


def _translate(
    arguments: argparse.Namespace,
    output: Output,
    translate: Callable[[bytes], Plain],
    *,
    blank_lines: bool = False,
) -> None:
    for source in _sources(arguments):
        each_line(source, translate, output, blank_lines=blank_lines)


def _reader(arguments: argparse.Namespace) -> Callable[[bytes], bytes]:
    return from_base64 if arguments.base64 else from_hex


def _both_ways(
    arguments: argparse.Namespace,
    output: Output,
    read: Callable[[bytes], Plain],
    write: Callable[[dict[str, Plain]], bytes | str],
    *,
    blank_lines: bool = False,
) -> None:
    """Read every line, or with ``--encode`` write the bytes (or hex digits) of every object."""
    if arguments.encode:

        def encode(line: bytes) -> Plain:
            written = write(parse_object(line))
            return {"hex": written if isinstance(written, str) else written.hex()}

        _translate(arguments, output, encode)
    else:
        from_line = _reader(arguments)
        _translate(arguments, output, lambda line: read(from_line(line)), blank_lines=blank_lines)


def _value(source: dict[str, Plain]) -> Plain:
    """The member ``value`` of a line; raises ``EncodeError`` if it is missing."""
    if "value" not in source:
        raise EncodeError("missing", path="value")
    return source["value"]


def _members(source: dict[str, Plain]) -> dict[str, Plain]:
    """The object in ``value``, or the line itself if it has no such member."""
    inner = source.get("value")
    return inner if is_object(inner) else source


def _decode(arguments: argparse.Namespace, output: Output) -> None:
    from rocketwire_tools.codec.values.decode import Describer, describe_stream

    describer = Describer(request_code=arguments.request_code, with_body=not arguments.no_body)
    if arguments.binary:
        for source in _sources(arguments):
            describe_stream(source, describer, output)
        return
    read = _reader(arguments)
    _translate(arguments, output, lambda line: describer.frame(read(line)))


def _encode(arguments: argparse.Namespace, output: Output) -> None:
    from rocketwire_tools.codec.values.encode import encode_object

    code: int | None = arguments.request_code
    _translate(
        arguments, output, lambda line: {"hex": encode_object(parse_object(line), code).hex()}
    )


def _body(arguments: argparse.Namespace, output: Output) -> None:
    from rocketwire_tools.codec.values import bodies

    name: str = arguments.name
    if name not in bodies.BODIES:
        near = difflib.get_close_matches(name, bodies.BODIES, 3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise UsageError(f"no body class {name!r}{hint}")
    body_type = bodies.body_type(name, array=arguments.array)
    _both_ways(
        arguments,
        output,
        lambda data: {"value": bodies.body_to_plain(body_type, data)},
        lambda source: bodies.body_from_plain(body_type, _value(source)),
    )


def _register_body(arguments: argparse.Namespace, output: Output) -> None:
    from rocketwire.versions import CURRENT_VERSION
    from rocketwire_tools.codec.values import bodies

    version = int(CURRENT_VERSION) if arguments.version is None else arguments.version
    read = partial(bodies.registration_to_plain, compressed=arguments.compressed, version=version)
    write = partial(
        bodies.registration_from_plain, compressed=arguments.compressed, version=version
    )
    _both_ways(
        arguments,
        output,
        lambda data: {"value": read(data)},
        lambda source: write(_value(source)),
    )


def _stored(arguments: argparse.Namespace, output: Output) -> None:
    from rocketwire_tools.codec.values import stored

    inflate = not arguments.keep_compressed
    read = partial(
        stored.stored_to_plain,
        decompress=inflate,
        unwrap=arguments.unwrap,
        check_crc=arguments.check_crc,
    )
    _both_ways(
        arguments,
        output,
        lambda data: {"messages": read(data)},
        lambda source: stored.stored_from_plain(
            an_array(source.get("messages"), "messages"), compress=inflate
        ),
    )


def _message_id(arguments: argparse.Namespace, output: Output) -> None:
    from rocketwire_tools.codec.values import stored

    unique: bool = arguments.unique
    _both_ways(
        arguments,
        output,
        lambda data: {"value": stored.id_to_plain(data.hex(), unique=unique)},
        lambda source: stored.id_from_plain(_members(source), unique=unique),
    )


def _properties(arguments: argparse.Namespace, output: Output) -> None:
    from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8
    from rocketwire.wire.message.properties import decode_properties, encode_properties

    _both_ways(
        arguments,
        output,
        lambda data: {"value": decode_properties(decode_utf8(data))},
        lambda source: encode_utf8(encode_properties(texts(_members(source), "value"))),
        blank_lines=True,  # a message without properties is an empty line
    )


def _schema(arguments: argparse.Namespace, output: Output) -> None:
    from rocketwire_tools.codec.schema.schema import schema

    if arguments.markdown is None:
        output.put(schema())
        return
    from rocketwire_tools.codec.schema.markdown import write_pages

    write_pages(arguments.markdown, schema())


if __name__ == "__main__":
    raise SystemExit(main())
