#!/usr/bin/env python3
"""Opens pages of the built site in headless Chromium and fails if axe finds a fault of accessibility, if the console has an
error, if a page is wider than the window, or if anything is loaded from elsewhere. Writes pictures of the first screen.

  look.py SITE PICTURES [PAGE...]      named pages are opened in every way, with a picture of the whole page in each; without
                                       names every page of the documents is opened in one way, and the first screen in all
"""
import functools
import http.server
import pathlib
import shutil
import sys
import threading

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error, sync_playwright

WIDTHS = {390: 844, 1440: 900}
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def pages_of(site):
    """All pages but those that show a source, which are made alike and have no folder of their own."""
    return sorted(path.parent.relative_to(site).as_posix() for path in site.rglob("index.html"))


def score(results):
    """The share of the rules, weighed by axe's impact, that a page keeps; the weights are those Lighthouse gives most rules."""
    weights = {"critical": 10, "serious": 7, "moderate": 3, "minor": 1}
    failed = sum(weights[each["impact"] or "minor"] for each in results["violations"])
    kept = 7 * len(results["passes"])
    return 100 * kept / (kept + failed) if kept else 0


def look(browser, address, name, width, scheme, picture, whole):
    found = []
    context = browser.new_context(viewport={"width": width, "height": WIDTHS[width]}, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.on("console", lambda message: found.append("console: " + message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: found.append("script: %s" % error))
    page.on("request", lambda request: found.append("loads " + request.url)
            if not request.url.startswith((address, "data:", "blob:")) else None)
    page.goto(address + "/" + ("" if name == "." else name + "/"))
    page.wait_for_load_state("networkidle")
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if wide > 0:
        found.append("is %d pixels wider than the window" % wide)
    if picture:
        page.screenshot(path=picture, full_page=whole)
    results = Axe().run(page, options=RULES).response
    for fault in results["violations"]:
        found.append("axe, %s: %s: %s" % (fault["impact"], fault["id"], fault["nodes"][0]["html"][:120]))
    context.close()
    return found, score(results)


def search(browser, address):
    """Types a word into the search, as a reader does, and names what is wrong with what it finds."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address + "/")
    page.click("label[for=__search]") if not page.is_visible("input.md-search__input") else page.click("input.md-search__input")
    page.fill("input.md-search__input", "frame-bytes")
    try:
        page.wait_for_selector("a.md-search-result__link", timeout=60000)
        links = page.eval_on_selector_all("a.md-search-result__link", "found => found.map(each => each.getAttribute('href'))")
    except Error:
        links = []
    page.close()
    return [] if any("rate-control" in link or "exact-frame-sizes" in link for link in links) else ["the search finds no page about frame-bytes"]


def main():
    site, pictures = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    pictures.mkdir(parents=True, exist_ok=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = "http://127.0.0.1:%d" % server.server_port
    faults, scores = 0, []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for fault in search(browser, address):
            faults += 1
            print(fault)
        views = [(width, scheme) for width in WIDTHS for scheme in ("light", "dark")]
        named = sys.argv[3:]
        for number, name in enumerate(named or pages_of(site)):
            # Pages that are not named are seen in one way each, in turn: axe takes seconds for a long page.
            for width, scheme in views if named or name == "." else [views[number % len(views)]]:
                picture = "%s-%d-%s.png" % ("first" if name == "." else name.replace("/", "-"), width, scheme)
                found, kept = look(browser, address, name, width, scheme, pictures / picture if named or name == "." else None, bool(named))
                scores.append(kept)
                faults += len(found)
                for fault in found:
                    print("%s at %d, %s: %s" % (name, width, scheme, fault))
        browser.close()
    print("%d views of pages, %d faults, accessibility %.0f to %.0f of 100" % (len(scores), faults, min(scores), max(scores)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
