"""The command ``rocketwire-codec``.

Rules of this file: a sub-command imports its modules when it runs; the exit status is 0, 1 if a
line was refused, 2 if the command line is invalid; the program ends silently when its output is
closed.
"""

from __future__ import annotations

import argparse
import re
import sys
from typing import IO, TYPE_CHECKING, Final

from rocketwire import __version__
from rocketwire.os_errors import os_error_text
from rocketwire.program import ProgramParser
from rocketwire_tools.cli.file_program import DONE, run_program
from rocketwire_tools.codec.jsonl import (
    Output,
    from_base64,
    from_hex,
    parse_object,
    translate_lines,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["main"]

REFUSED: Final = 1

_EPILOG: Final = """\
The input is lines of hex, unless an option says otherwise. Each command has its own help:
rocketwire-codec decode --help

exit status: 0 success, 1 a line is invalid (its output line is an error), 2 the command line is
invalid or a file cannot be read, 130 interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    return run_program(build_parser, argv)


def build_parser() -> argparse.ArgumentParser:
    parser = ProgramParser(
        prog="rocketwire-codec",
        description="Read and write RocketMQ's remoting protocol: each line gives a JSON object.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="sub-commands", required=True, metavar="COMMAND")

    def command(
        name: str, run: Callable[[argparse.Namespace, Output], None], text: str, example: str
    ) -> argparse.ArgumentParser:
        def run_on_lines(arguments: argparse.Namespace) -> int:
            output = Output(sys.stdout.buffer)
            run(arguments, output)
            return REFUSED if output.refused else DONE

        result = commands.add_parser(
            name,
            help=text,
            description=f"{text[:1].upper()}{text[1:]}.",
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        result.set_defaults(run=run_on_lines)
        return result

    decode = command(
        "decode",
        _decode,
        "show each frame as a JSON object",
        "rocketwire-codec decode --binary < connection.bin",
    )
    form = decode.add_mutually_exclusive_group()
    form.add_argument("--base64", action="store_true", help="read base64 instead of hex")
    form.add_argument(
        "--binary", action="store_true", help="read the bytes of a connection, frame after frame"
    )
    decode.add_argument("--no-body", action="store_true", help="do not show the content of bodies")
    encode = command(
        "encode",
        _encode,
        "write frames from the JSON objects that decode prints",
        "rocketwire-codec decode frames.hex | rocketwire-codec encode",
    )
    for one in (decode, encode):
        one.add_argument(
            "--request-code",
            type=_request_code,
            metavar="N",
            help="number or name of the request that the responses answer",
        )
        one.add_argument(
            "files", nargs="*", metavar="FILE", help="input files; - is standard input (default: -)"
        )
    schema = command(
        "schema",
        _schema,
        "describe the whole protocol as one JSON object",
        "rocketwire-codec schema --markdown protocol",
    )
    schema.add_argument(
        "--markdown", metavar="DIR", help="write Markdown pages into this folder instead"
    )
    return parser


def _request_code(text: str) -> int:
    from rocketwire.codes import RequestCode

    if text in RequestCode.__members__:
        return int(RequestCode[text])
    if not (text.isascii() and text.isdecimal()):
        expected = "the number or the name of a request code, such as 105"
        raise argparse.ArgumentTypeError(f"{text!r}: must be {expected}")
    return int(text)


def _sources(arguments: argparse.Namespace) -> Iterator[IO[bytes]]:
    for name in arguments.files or ["-"]:
        if name == "-":
            yield sys.stdin.buffer
        else:
            with _open(name) as source:
                yield source


def _open(name: str) -> IO[bytes]:
    try:
        return open(name, "rb")
    except FileNotFoundError as error:
        if not re.fullmatch("([0-9a-fA-F]{2})+", name):
            raise
        advice = "give hex on standard input: echo HEX | rocketwire-codec decode"
        raise ValueError(f"{os_error_text(error)}; {advice}") from error


def _decode(arguments: argparse.Namespace, output: Output) -> None:
    from rocketwire_tools.codec.frames import Describer, describe_stream

    describer = Describer(request_code=arguments.request_code, with_body=not arguments.no_body)
    read = from_base64 if arguments.base64 else from_hex
    for source in _sources(arguments):
        if arguments.binary:
            describe_stream(source, describer, output)
        else:
            translate_lines(source, lambda line: describer.frame(read(line)), output)


def _encode(arguments: argparse.Namespace, output: Output) -> None:
    from rocketwire_tools.codec.frames import encode_object

    code: int | None = arguments.request_code
    for source in _sources(arguments):
        translate_lines(
            source, lambda line: {"hex": encode_object(parse_object(line), code).hex()}, output
        )


def _schema(arguments: argparse.Namespace, output: Output) -> None:
    from rocketwire_tools.codec.schema import schema

    if arguments.markdown is None:
        output.put(schema())
        return
    from rocketwire_tools.codec.schema import write_pages

    write_pages(arguments.markdown, schema())


if __name__ == "__main__":
    raise SystemExit(main())
