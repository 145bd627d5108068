"""Takes documents and sources outside docs/ into the site, so that no link of a page leads out of it.

A document becomes a page: those of bench/results below results/, all others below repository/. A source that a page
links becomes a page of numbered lines, a folder a list of its sources. Links are rewritten to match.
"""
import functools
import html
import pathlib
import posixpath
import re

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "bench/results/**/*.md", "python/README.md", "vision/README.md",
             "integrations/*/README.md", "encoder/**/README.md", "entropy/**/README.md", "tests/emulator/README.md")
PLACES = (("docs/site", "repository/docs/site"), ("docs/", ""), ("bench/results/", "results/"), ("", "repository/"))
# A link or an image outside of code; the address has neither spaces nor a scheme.
CODE = re.compile(r"^(```|~~~).*?^\1|(`+)[^`].*?\2", re.M | re.S)
LINK = re.compile(r"(\]\(|^\[[^\]\n]+\]: |(?:src|href)=\")(?![a-z]+:|#|/)([^)\s\"#]+)(#[^)\s\"]*)?", re.M)

SOURCE_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<title>{path} - cu264</title><style>
body {{ margin: 0; font: 14px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; color: #1f2328; background: #fff }}
main {{ padding: 0 1rem }} h1 {{ font-size: 1rem }} pre {{ overflow-x: auto }} a {{ color: #0a58ca }}
.linenos {{ color: #59636e; padding-right: 1em; text-decoration: none }} :target {{ background: #fff3bf; display: block }}
{light}
@media (prefers-color-scheme: dark) {{
body {{ color: #f0f6fc; background: #0d1117 }} a {{ color: #79b8ff }} .linenos {{ color: #9198a1 }} :target {{ background: #3b3000 }}
{dark}
}}
</style></head><body><main><h1>{path}</h1>
{body}
</main></body></html>
"""


@functools.lru_cache(maxsize=None)
def documents():
    """The paths in the repository of what becomes a page, besides those in docs/."""
    found = {path for pattern in DOCUMENTS for path in ROOT.glob(pattern)}
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def repository_path(src_uri):
    """Where a page of the site lies in the repository."""
    for place, prefix in sorted(PLACES, key=lambda pair: -len(pair[1])):
        if src_uri.startswith(prefix):
            return place + src_uri[len(prefix):]
    raise ValueError(src_uri)


def site_path(path):
    """Where a file of the repository lies in the site."""
    place, prefix = next(pair for pair in PLACES if path.startswith(pair[0]))
    return prefix + path[len(place):]


def is_below_docs(path):
    """Whether MkDocs finds the file itself; what builds the site is a source like others."""
    return path.startswith("docs/") and not (path + "/").startswith("docs/site/")


def target(path, link):
    """What a link of a document leads to: a path in the repository, and the path in the site; None if there is no such file."""
    at = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    if at.startswith("..") or not (ROOT / at).exists():
        return None
    if (ROOT / at).is_dir():
        if (ROOT / at / "README.md").exists():
            return at + "/README.md", site_path(at + "/README.md")
        return at, site_path(at + "/index.html")
    if at == "README.md":
        return at, "index.md"
    is_page = is_below_docs(at) or at in documents()
    is_shown = is_page or at.endswith((".svg", ".png", ".webp"))
    return at, site_path(at) + ("" if is_shown else ".html")


def outside_code(markdown, change):
    parts, end = [], 0
    for code in CODE.finditer(markdown):
        parts += [change(markdown[end:code.start()]), code.group()]
        end = code.end()
    return "".join(parts + [change(markdown[end:])])


def rewritten(src_uri, markdown):
    path = repository_path(src_uri)

    def rewrite(link):
        found = target(path, link.group(2))
        if not found:
            return link.group()
        return link.group(1) + posixpath.relpath(found[1], posixpath.dirname(src_uri) or ".") + (link.group(3) or "")

    return outside_code(markdown, lambda text: LINK.sub(rewrite, text))


def linked_files(pages):
    """What the pages ({path in the repository: Markdown}) link outside of docs/ that is no page itself."""
    found = set()
    for path, markdown in pages.items():
        def note(link, path=path):
            at = target(path, link.group(2))
            if at and not is_below_docs(at[0]) and not at[1].endswith(".md"):
                found.add(at)
            return link.group()
        outside_code(markdown, lambda text: LINK.sub(note, text))
    return sorted(found)


def source_page(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    name = path.removesuffix(".cuh").removesuffix(".cu") + ".cpp" if path.endswith((".cu", ".cuh")) else path
    try:
        lexer = get_lexer_for_filename(name, text)
    except ClassNotFound:
        lexer = TextLexer()
    formatter = HtmlFormatter(linenos="inline", anchorlinenos=True, lineanchors="L", linespans="", style="default")
    body = highlight(text, lexer, formatter).replace('"L-', '"L').replace('"#L-', '"#L')
    return SOURCE_PAGE.format(path=html.escape(path), body=body, light=style("xcode"), dark=style("github-dark"))


def style(name):
    rules = HtmlFormatter(style=name).get_style_defs(".highlight").splitlines()
    return "\n".join(rule for rule in rules if rule.startswith(".highlight .") and "background" not in rule)


def folder_page(path, sources):
    rows = "".join('<li><a href="%s.html">%s</a></li>' % (html.escape(name), html.escape(name)) for name in sources)
    return SOURCE_PAGE.format(path=html.escape(path) + "/", body="<ul>%s</ul>" % rows, light="", dark="")


def source_files(pages):
    """{path in the site: content} of all that the pages link; a folder's sources come with it."""
    found = {}
    queue = linked_files(pages)
    for path, place in queue:
        if (ROOT / path).is_dir():
            sources = sorted(each.name for each in (ROOT / path).iterdir() if each.is_file())
            found[place] = folder_page(path, sources)
            queue += [(path + "/" + name, site_path(path + "/" + name) + ".html") for name in sources]
        elif place.endswith(".html"):
            found[place] = source_page(path)
        else:
            found[place] = (ROOT / path).read_bytes()
    return found
