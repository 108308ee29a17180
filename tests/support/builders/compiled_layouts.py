"""Parsers and builders that are compiled from declarations, as those of ``fused`` are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocketwire.wire.layouts import fused
from rocketwire.wire.layouts.compiler.builder import builder_source
from rocketwire.wire.layouts.compiler.lower import lower
from rocketwire.wire.layouts.compiler.parser import parser_source
from rocketwire.wire.layouts.derive import structs

if TYPE_CHECKING:
    from rocketwire.wire.layouts.functions import Builder, Parser


def compile_parser(declaration: Any) -> Parser[Any]:
    function: Parser[Any] = _compile(parser_source(lower(declaration), "parse"), "parse")
    return function


def compile_builder(declaration: Any) -> Builder:
    function: Builder = _compile(builder_source(lower(declaration), "build"), "build")
    return function


def _compile(text: str, name: str) -> Any:
    names = dict(vars(fused))
    exec(f"{structs(text)}\n{text}", names)  # generated text
    return names[name]
