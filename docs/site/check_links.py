#!/usr/bin/env python3
"""Checks the built site: every link inside it leads to a file and, with a fragment, to an element; and nothing that a
browser loads comes from elsewhere.

  check_links.py FOLDER
"""
import html.parser
import pathlib
import sys
import urllib.parse

LOADED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "video": "src", "link": "href"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        is_relation = tag == "link" and values.get("rel") in ("canonical", "prev", "next", "alternate", "edit")
        if tag in LOADED and values.get(LOADED[tag]) and not is_relation:
            self.loaded.append(values[LOADED[tag]])


def check(root):
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in root.rglob("*.html")}
    for path, page in sorted(pages.items()):
        name = path.relative_to(root)
        for link in page.links + page.loaded:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme == "data" or parts.scheme in ("http", "https", "mailto") and link not in page.loaded:
                continue
            if parts.scheme or parts.netloc:
                yield f"{name}: loads {link} from elsewhere"
                continue
            # 404.html is served at any address, so its links begin at the root.
            base = root if parts.path.startswith("/") else path.parent
            at = (base / urllib.parse.unquote(parts.path).lstrip("/")).resolve() if parts.path else path.resolve()
            at = at / "index.html" if at.is_dir() else at
            if not at.is_file():
                yield f"{name}: {link} leads nowhere"
            elif parts.fragment and at.suffix == ".html":
                ids = (pages.get(at) or pages[root / at.relative_to(root.resolve())]).ids
                if urllib.parse.unquote(parts.fragment) not in ids and not parts.fragment.startswith("__"):
                    yield f"{name}: {link} names no element of its page"
    for path in root.rglob("*.css"):
        if "url(http" in path.read_text(encoding="utf-8") or "@import" in path.read_text(encoding="utf-8"):
            yield f"{path.relative_to(root)}: loads something from elsewhere"
    if not pages:
        yield f"{root} has no pages"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    found = list(check(root))
    print("\n".join(found) if found else "every link of %d pages leads somewhere" % len(list(root.rglob("*.html"))))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
