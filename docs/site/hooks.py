"""What MkDocs does for this site besides its plugins: mkdocs.yml names this file."""
import pathlib
import posixpath
import re
import sys

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import diagrams  # noqa: E402
import header_pages  # noqa: E402
import result_plots  # noqa: E402
import repository_pages  # noqa: E402

FIGURE = re.compile(r"^<!-- figure: ([\w-]+) -->$", re.M)
PLOT = re.compile(r"^<!-- plot: ([\w-]+) -->$", re.M)


def with_plots(path, markdown):
    """Puts the plots and figures in that a document of the repository asks for."""
    to_results = posixpath.relpath("bench/results", posixpath.dirname(path))
    markdown = FIGURE.sub(lambda asked: diagrams.FIGURES[asked.group(1)](), markdown)
    return PLOT.sub(lambda asked: result_plots.figure(asked.group(1), to_results), markdown)


def on_files(files, config):
    pages = {}
    for path in repository_pages.documents():
        pages[path] = (repository_pages.ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, repository_pages.site_path(path), content=pages[path]))
    for file in files.documentation_pages():
        path = repository_pages.repository_path(file.src_uri)
        pages.setdefault(path, with_plots(path, file.content_string))
    for place, content in repository_pages.source_files(pages).items():
        files.append(File.generated(config, place, content=content))
    for name, markdown in header_pages.pages().items():
        files.append(File.generated(config, "reference/%s.md" % name, content=markdown))
    return files


def on_page_markdown(markdown, page, config, files):
    source = page.file.src_uri
    if source == "options.md":  # its wide tables take the place of the table of contents
        page.meta.setdefault("hide", []).append("toc")
    return repository_pages.rewritten(source, with_plots(repository_pages.repository_path(source), markdown))


def on_page_content(content, page, config, files):
    """A head of a table that is empty heads nothing; a few words of code, such as an option and its value, stay on one line."""
    content = re.sub(r"<th( [^>]*)?></th>", r"<td\1></td>", content)
    return re.sub(r"<code>([^<\n]{1,32})</code>", r'<code class="whole">\1</code>', content)
