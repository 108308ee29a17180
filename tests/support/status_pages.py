"""The links and text of a status page, which may have only harmless tags."""

from html.parser import HTMLParser

TAGS = {
    *("html", "meta", "title", "style", "h1", "h2", "p", "span", "a", "table", "tr", "th", "td"),
    *("main", "link", "code", "form", "input", "button", "div", "label", "nav", "strong", "pre"),
}


class PageReader(HTMLParser):
    """The links and the text of a page without scripts, whose fields have labels."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.text = ""
        self.labelled = 0
        self.feed(page.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert not {name for name, _ in attrs if name.startswith("on")}
        if tag == "link":  # there is no icon, and browsers need not ask for one
            assert dict(attrs) == {"rel": "icon", "href": "data:,"}
            return
        self.links |= {value or "" for name, value in attrs if name in {"href", "src", "action"}}
        self.labelled += tag == "label"
        if tag == "input" and dict(attrs).get("type") != "hidden":
            self.labelled -= 1
            assert self.labelled >= 0, "an input without a label"

    def handle_data(self, data: str) -> None:
        self.text += data
