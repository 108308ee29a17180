"""Measure how large each part of the project is, and how it reads: a row for each room of rooms.toml, with its budget.

usage: python -m tests.architecture.house [--limits] [--show ROOM]      (in the project's root)

lines     all lines of Python, without generated files
code      lines without blanks, docstrings, comments and imports, in % of lines
doc       functions and classes with a docstring, in %
comment   lines with a comment, in %
weak      variables whose names say how a value was obtained, or that there is one, for each 1,000 bindings
past      functions whose names are past participles (taken, written), for each 1,000; not tests, properties and predicates
idioms    phrases that readers stumble over, for each 10,000 words of docstrings and comments, or of a page
wide      a longer list of them; a distance, not a goal

--limits exits with status 1 if a room exceeds its budget or its idioms, or a folder or file is too large.
--show lists the worst files of a room, with the sentences.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
CONFIG: Final[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("rooms.toml").read_text("utf-8")
)
GOALS: Final[dict[str, Any]] = CONFIG["goals"]

WEAK: Final = frozenset(
    re.findall(
        r"\w+",
        """found made told said asked wanted known some one each other others of at least most again left whole rest kind
        begun began came seen held given done still lone alone usual plain strange odd bare behind before after beside
        around between together singly alike same former own more few many large short soon late""",
    )
)
IRREGULAR: Final = frozenset(
    re.findall(
        r"\w+",
        """strung taken given seen held sent told said found made kept left lost laid bought built drawn driven grown known
        shown thrown written broken chosen spoken begun rung sung sunk gone done been had met paid sold thought understood
        won wound bound fed felt got heard hung led meant sat spent stuck struck taught torn worn hidden bitten borne
        stolen""",
    )
)
NOT_PAST: Final = frozenset(
    re.findall(r"\w+", "need feed seed embed speed exceed proceed succeed bed shed red sorted")
)
IDIOMS: Final = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"\b(?:for|by|of|to|from|with|than|as) (?:who|whoever)\b|(?:^|[.;:,]\s+)(?:Who|who|Whoever|whoever)\b",
        r"(?i)\b(?:nobody|somebody|anybody|everybody)\b",
        r"(?:^|[.;:]\s+)What\b",
        r"\b(?:told|tells|tell|says|said|say)\b",
        r"\b(?:is|are|was|were) to be\b",
        r"\b(?:likewise|behind|beside)\b",
        r"\bso (?:many|much|long|few|large)\b",
    )
]
WIDE: Final = IDIOMS + [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"\b(?:goes|go|went|going) on\b",
        r"\b(?:stands?|stood) (?:there|in|at|after|alone|together|still|around|before)\b",
        r"^\s*(?:[a-z_]+: )?[Oo]f (?:each|the|all|its|a|it|them|this|what)\b",
        r"\b(?:is|are|was|were) there\b",
        r"\b[Ww]hat (?:is|was|are|were|it|they|a|the|this|these|comes|came|follows|becomes|brokers|Java)\b",
        r"\b(?:is|are|was) no (?!longer)\w+\b",
        r"\b(?:those|the others|the rest|the same)\b",
        r"\b(?:is|are|was|were) (?:taken|seen|looked|put|left|had)\b",
    )
]

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Measure:
    counts: Counter[str] = field(default_factory=Counter[str])
    participles: Counter[str] = field(default_factory=Counter[str])
    texts: dict[Path, tuple[int, str]] = field(default_factory=dict[Path, tuple[int, str]])
    """For each file, its idioms and its prose."""

    def share(self, part: str, total: str, unit: int = 100) -> int:
        return round(unit * self.counts[part] / max(self.counts[total], 1))


def is_participle(function: Function) -> bool | None:
    # Whether the name of a function is a past participle; None if it may be one.
    decorators = {getattr(d, "id", getattr(d, "attr", "")) for d in function.decorator_list}
    is_exempt = function.name.startswith(("__", "test_")) or bool(
        decorators & {"property", "cached_property", "setter", "override"}
    )
    if is_exempt or (isinstance(function.returns, ast.Name) and function.returns.id == "bool"):
        return None
    verb = function.name.strip("_").split("_")[0]
    return verb in IRREGULAR or (verb.endswith("ed") and len(verb) > 4 and verb not in NOT_PAST)


def is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def prose_of_page(source: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`|<!--.*?-->|\]\([^)]*\)", " ", source, flags=re.DOTALL)


def prose_of_module(source: str, result: Measure) -> str:
    counts = result.counts
    rows = source.splitlines()
    comments = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    texts = [comment.lstrip("# ") for comment in comments]
    not_code = {
        number
        for number, row in enumerate(rows, 1)
        if not row.strip() or row.lstrip().startswith("#")
    }
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts["bindings"] += 1
            counts["weak"] += node.id in WEAK
        elif isinstance(node, ast.arg) and node.arg not in {"self", "cls"}:
            counts["bindings"] += 1
            counts["weak"] += node.arg in WEAK
        elif isinstance(node, ast.Import | ast.ImportFrom) or is_text(node):
            assert isinstance(node, ast.stmt)
            not_code.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                texts.append(str(node.value.value))
        elif isinstance(node, Function | ast.ClassDef):
            counts["definitions"] += 1
            counts["documented"] += is_text(node.body[0])
            participle = is_participle(node) if isinstance(node, Function) else None
            counts["functions"] += participle is not None
            if participle:
                counts["past"] += 1
                result.participles[node.name] += 1
    counts["files"] += 1
    counts["comments"] += len(comments)
    counts["code"] += len(rows) - len(not_code)
    return "\n".join(texts)


def count_matches(patterns: Iterable[re.Pattern[str]], text: str) -> int:
    return sum(len(pattern.findall(text)) for pattern in patterns)


def measure(paths: Iterable[Path]) -> Measure:
    result = Measure()
    for path in paths:
        source = path.read_text("utf-8")
        result.counts["lines"] += len(source.splitlines())
        is_page = path.suffix == ".md"
        text = prose_of_page(source) if is_page else prose_of_module(source, result)
        idioms = count_matches(IDIOMS, text)
        result.counts["words"] += len(re.findall(r"[A-Za-z']+", text))
        result.counts["idioms"] += idioms
        result.counts["wide"] += count_matches(WIDE, text)
        result.texts[path] = idioms, text
    return result


def paths_of(room: dict[str, Any]) -> list[Path]:
    without = {path for pattern in room.get("without", ()) for path in ROOT.glob(pattern)}
    return sorted(
        path
        for path in {path for pattern in room["paths"] for path in ROOT.glob(pattern)} - without
        if path.suffix in {".py", ".md"}
        and path.name not in GOALS["generated"]
        and not set(path.relative_to(ROOT).parts) & set(GOALS["left_out"])
    )


def size_excesses(room: dict[str, Any], paths: Iterable[Path]) -> list[str]:
    if room.get("any_folder"):
        return []
    modules = [path for path in paths if path.suffix == ".py"]
    folders = Counter(path.parent for path in modules if path.name != "__init__.py")
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in modules}
    return [
        f"{folder.relative_to(ROOT)}: {number} modules of {GOALS['modules']}"
        for folder, number in folders.items()
        if number > GOALS["modules"] and folder.name not in GOALS["noun_folders"]
    ] + [
        f"{path.relative_to(ROOT)}: {length} lines of {GOALS['file']}"
        for path, length in lengths.items()
        if length > GOALS["file"]
    ]


def excesses(room: dict[str, Any], result: Measure) -> list[str]:
    figures = {
        "lines": (result.counts["lines"], room.get("lines", float("inf"))),
        "idioms": (result.share("idioms", "words", 10_000), room.get("idioms", GOALS["idioms"])),
        "weak names": (result.share("weak", "bindings", 1_000), GOALS["weak"]),
        "participles": (result.share("past", "functions", 1_000), GOALS["past"]),
    }
    return [
        f"{room['name']}: {number} {what} of {goal}"
        for what, (number, goal) in figures.items()
        if number > goal
    ] + size_excesses(room, result.texts)


def print_room(room: dict[str, Any], result: Measure) -> None:
    counts = result.counts
    row = (
        f"{room['name']:24}{counts['files'] or '':>6}{counts['lines']:>8}{room.get('lines', ''):>8}"
    )
    if counts["files"]:
        row += f"{result.share('code', 'lines'):>6}{result.share('documented', 'definitions'):>5}"
        row += f"{100 * counts['comments'] / counts['lines']:>8.1f}"
        row += f"{result.share('weak', 'bindings', 1_000):>6}{result.share('past', 'functions', 1_000):>6}"
    print(
        f"{row:77}{result.share('idioms', 'words', 10_000):>7}{result.share('wide', 'words', 10_000):>6}"
    )


def print_worst(result: Measure) -> None:
    print("  participles:", *result.participles)
    worst = sorted(result.texts.items(), key=lambda item: -item[1][0])[:15]
    for path, (idioms, text) in worst:
        print(f"  {idioms:4} idioms in {path.relative_to(ROOT)}")
        sentences = re.split(r"(?<=[.;])\s+|\n\n", text)
        for sentence in [text for text in sentences if count_matches(IDIOMS, text)][:4]:
            print(f"         {' '.join(sentence.split())[:150]}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limits", action="store_true")
    parser.add_argument("--show", metavar="ROOM")
    arguments = parser.parse_args()
    beyond: list[str] = []
    sums: Counter[str] = Counter()
    print(
        f"{'room':24}{'files':>6}{'lines':>8}{'budget':>8}{'code':>6}{'doc':>5}{'comment':>8}{'weak':>6}"
        f"{'past':>6}{'idioms':>8}{'wide':>6}"
    )
    for room in CONFIG["room"]:
        result = measure(paths_of(room))
        if not result.texts:
            continue
        print_room(room, result)
        sums[room.get("sum", "")] += result.counts["lines"]
        beyond += excesses(room, result)
        if arguments.show == room["name"]:
            print_worst(result)
    for name, budget in CONFIG["sums"].items():
        print(f"{name}: {sums[name]} lines of {budget}")
        if sums[name] > budget:
            beyond.append(f"{name}: {sums[name]} lines of {budget}")
    if beyond:
        print(f"beyond the goals ({len(beyond)}):", *beyond, sep="\n  ")
    return 1 if beyond and arguments.limits else 0


if __name__ == "__main__":
    sys.exit(main())
