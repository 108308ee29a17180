"""``python -m publishing.pictures``: draw ``docs/images/pieces.svg``, who talks to whom."""

from __future__ import annotations

from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "pieces.svg"

WIDTH, HEIGHT = 960, 400
BOXES = {
    # name: x, y, width, height, first line, second line, whether it is ours
    "clients": (20, 40, 250, 84, "your programs", "rocketwire.sync · .aio · .client", True),
    "java": (20, 158, 250, 70, "Java, Go, C++ clients", "unchanged", False),
    "admin": (20, 262, 250, 84, "operators and tests", "rocketwire-admin · pytest", True),
    "namesrv": (380, 40, 250, 84, "name server :9876", "rocketwire-namesrv", True),
    "broker": (380, 158, 250, 70, "Java broker :10911", "4.9, 5.3, 5.5", False),
    "dev": (380, 262, 250, 84, "broker for development", "rocketwire dev", True),
    "conformance": (720, 40, 220, 84, "same as Java's?", "rocketwire-conformance", True),
    "store": (720, 158, 220, 70, "files on disk", "rocketwire-store · Spark", True),
    "pcap": (720, 262, 220, 84, "bytes on the wire", "rocketwire-pcap · Spark", True),
}
ARROWS = (
    ("clients", "namesrv", "routes"),
    ("java", "broker", "messages"),
    ("admin", "dev", "messages"),
    ("conformance", "namesrv", "asks"),
    ("store", "broker", "reads"),
    ("pcap", "dev", "captures"),
)
LEGEND = "One protocol between all of them: RocketMQ remoting, over TCP.  Blue: part of rocketwire."


def draw() -> str:
    """The picture as SVG."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="15">',
        "<title>The pieces of rocketwire, and who talks to whom</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#445"/></marker></defs>',
    ]
    parts += [_arrow(*arrow) for arrow in ARROWS]
    parts += [_vertical("namesrv", "broker", "registers")]
    parts += [_box(*box) for box in BOXES.values()]
    parts += [
        f'<text x="{WIDTH // 2}" y="384" text-anchor="middle" fill="#222">{escape(LEGEND)}</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _box(x: int, y: int, width: int, height: int, title: str, name: str, is_ours: bool) -> str:
    fill, stroke = ("#e3effd", "#1d5fa8") if is_ours else ("#f2f2f2", "#666")
    middle = x + width // 2
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="1.5"/>'
        f'<text x="{middle}" y="{y + height // 2 - 6}" text-anchor="middle" '
        f'font-weight="bold" fill="#111">{escape(title)}</text>'
        f'<text x="{middle}" y="{y + height // 2 + 18}" text-anchor="middle" fill="#222">'
        f"{escape(name)}</text>"
    )


def _arrow(source: str, target: str, label: str) -> str:
    x, y, width, height = BOXES[source][:4]
    other, _, other_width, _ = BOXES[target][:4]
    start, end = (x + width, other) if x < other else (x, other + other_width)
    row = y + height // 2
    return _line(start, row, end, row) + (
        f'<text x="{(start + end) // 2}" y="{row - 7}" text-anchor="middle" font-size="13" '
        f'fill="#333">{escape(label)}</text>'
    )


def _vertical(upper: str, lower: str, label: str) -> str:
    x, top, width, height = BOXES[upper][:4]
    column, end = x + width // 2, top + height
    return _line(column, BOXES[lower][1], column, end) + (
        f'<text x="{column + 8}" y="{(end + BOXES[lower][1]) // 2 + 5}" font-size="13" '
        f'fill="#333">{escape(label)}</text>'
    )


def _line(x1: int, y1: int, x2: int, y2: int) -> str:
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#445" stroke-width="1.5" '
        'marker-end="url(#end)"/>'
    )


def main() -> int:
    """Write the picture."""
    PICTURE.write_text(draw(), "utf-8")
    print(PICTURE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
