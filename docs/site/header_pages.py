"""Makes a page of each public header from what Doxygen reads in it: declarations in their order, each with its comment.

Doxygen finds the declarations and the links between them; doxygen_filter.py gives it the comments.
"""
import html
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / "include" / "cu264"
DOXYFILE = """
INPUT = "{headers}"
FILTER_PATTERNS = "*.h=\\"{python}\\" \\"{filter}\\""
OUTPUT_DIRECTORY = "{output}"
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = CU264_API= __cplusplus=202002L
SORT_MEMBER_DOCS = NO
WARN_IF_UNDOCUMENTED = NO
WARN_AS_ERROR = YES
QUIET = YES
"""
ENTITIES = {"ndash": "-", "mdash": "-", "nonbreakablespace": " ", "sp": " ", "linebreak": "\n"}
CODE = ("programlisting", "verbatim", "preformatted")
HIDDEN = ("ImplPointer", "EncoderAccess")


class Declarations:
    """All that the headers declare, by header and line, and the page and anchor of each."""

    def __init__(self, xml):
        self.files, self.by_header, self.place, self.titles = {}, {}, {}, {}
        members = {}
        for path in sorted(pathlib.Path(xml).glob("*.xml")):
            for compound in ElementTree.parse(path).iter("compounddef"):
                kind = compound.get("kind")
                if kind == "file":
                    self.files[compound.findtext("compoundname")] = compound
                elif kind in ("struct", "class", "union") and not compound.findtext("compoundname").endswith(HIDDEN):
                    self.add(compound)
                if kind in ("file", "namespace"):
                    members.update((member.get("id"), member) for member in compound.iter("memberdef"))
        for member in members.values():
            self.add(member)
        for found in self.by_header.values():
            found.sort(key=lambda declaration: int(declaration.find("location").get("line")))

    def add(self, element):
        header = pathlib.Path(element.find("location").get("file")).name
        name = element.findtext("compoundname") or element.findtext("qualifiedname") or element.findtext("name")
        is_macro = element.get("kind") == "define" and element.find("briefdescription/para") is None
        if is_macro or name.startswith("std::") or (element.get("kind") == "typedef" and name in self.titles):
            return
        anchor = re.sub(r"\W+", "-", name)
        anchors = {place[1] for place in self.place.values() if place[0] == header}
        while anchor in anchors:  # an overload
            anchor += "_"
        self.place[element.get("id")] = (header, anchor)
        self.titles[name] = element
        self.by_header.setdefault(header, []).append(element)
        for member in element.iter("memberdef") if element.tag == "compounddef" else element.iter("enumvalue"):
            self.place[member.get("id")] = (header, anchor)


class Page:
    def __init__(self, declarations, header):
        self.declarations, self.header = declarations, header

    def inline(self, element):
        """The text of a paragraph as Markdown, with its links."""
        parts = [escape(element.text)]
        for child in element:
            place = self.declarations.place.get(child.get("refid"))
            inner = "".join(child.itertext())
            if child.tag == "ref" and place:
                parts.append(f"[`{inner}`]({'' if place[0] == self.header else place[0][:-2] + '.md'}#{place[1]})")
            elif child.tag == "computeroutput":
                parts.append("`%s`" % inner)
            elif child.tag in ENTITIES:
                parts.append(ENTITIES[child.tag])
            elif child.tag in CODE:
                lines = child.findall("codeline")
                shown = "\n".join(plain(line) for line in lines) if lines else inner
                parts.append("\0```cpp\n%s\n```\0" % shown.strip("\n"))
            else:
                parts.append(self.inline(child))
            parts.append(escape(child.tail))
        return "".join(parts)

    def blocks(self, description):
        for para in description.iter("para"):
            for part in self.inline(para).split("\0"):
                if part.strip():
                    yield part if part.startswith("```") else re.sub(r"[ \n]+", " ", part.strip())

    def text(self, element):
        parts = []
        for name in ("briefdescription", "detaileddescription"):
            description = element.find(name)
            if description is not None:
                parts += self.blocks(description)
        return "\n\n".join(parts)

    def cell(self, element):
        return self.text(element).replace("\n\n", " ").replace("|", "\\|")

    def members(self, element):
        """A struct's variables as a table, then its functions and types."""
        public = [member for member in element.iter("memberdef")
                  if member.get("prot") == "public" and not member.findtext("name").endswith(HIDDEN)]
        variables = [member for member in public if member.get("kind") == "variable"]
        if variables:
            yield "| member | type | default | meaning |\n|---|---|---|---|\n" + "\n".join(
                "| `%s` | `%s` | %s | %s |" % (
                    member.findtext("name") + (member.findtext("argsstring") or ""), plain(member.find("type")).replace("|", "\\|"),
                    code_or_nothing(plain(member.find("initializer")).lstrip("= ")), self.cell(member)) for member in variables)
        for member in public:
            if member.get("kind") == "function":
                yield "```cpp\n%s\n```" % signature(member)
                yield "<div class=\"meaning\" markdown>\n\n%s\n\n</div>" % self.text(member) if self.text(member) else ""
            elif member.get("kind") in ("enum", "typedef"):
                yield from self.declaration(member, "###")

    def declaration(self, element, mark="##"):
        kind = element.get("kind")
        name = element.findtext("compoundname") or element.findtext("qualifiedname") or element.findtext("name")
        anchor = self.declarations.place[element.get("id")][1] if mark == "##" else re.sub(r"\W+", "-", name)
        yield "%s `%s` {: #%s }" % (mark, name.removeprefix("cu264::"), anchor)
        if kind == "enum":
            yield self.text(element)
            yield "| value | meaning |\n|---|---|\n" + "\n".join(
                "| `%s%s` | %s |" % (value.findtext("name"), " " + value.findtext("initializer") if value.find("initializer") is not None
                                     else "", self.cell(value)) for value in element.iter("enumvalue"))
        elif element.tag == "compounddef":
            yield self.text(element)
            yield from self.members(element)
        else:
            yield "```cpp\n%s\n```" % signature(element)
            yield self.text(element)

    def markdown(self):
        file = self.declarations.files[self.header]
        parts = ["# `cu264/%s`" % self.header, self.text(file)]
        for element in self.declarations.by_header.get(self.header, ()):
            parts += self.declaration(element)
        return "\n\n".join(part for part in parts if part) + "\n"


def escape(text):
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text or "")


def plain(element):
    if element is None:
        return ""
    for space in element.iter("sp"):
        space.text = " "
    return " ".join("".join(element.itertext()).split()) if element.tag != "codeline" else "".join(element.itertext())


def code_or_nothing(text):
    return "`%s`" % text.replace("|", "\\|") if text else ""


def signature(element):
    if element.get("kind") == "define":
        return "#define %s %s" % (element.findtext("name"), plain(element.find("initializer")))
    text = plain(element.find("type")) + " " + element.findtext("name")
    if element.get("kind") == "typedef":
        return re.sub(r"\s+", " ", html.unescape(element.findtext("definition"))) + ";"
    if element.get("kind") == "variable":
        return (text + " " + plain(element.find("initializer"))).strip() + ";"
    parameters = [" ".join(filter(None, (plain(each.find("type")), each.findtext("declname"), plain(each.find("array")),
                                         "= " + plain(each.find("defval")) if each.find("defval") is not None else "")))
                  for each in element.findall("param")]
    tail = (element.findtext("argsstring") or ")").rpartition(")")[2]
    text = ("explicit " if element.get("explicit") == "yes" else "") + text.strip()
    text = ("static " if element.get("static") == "yes" else "") + text
    line = "%s(%s)%s;" % (text, ", ".join(parameters), tail)
    return line if len(line) <= 100 else "%s(\n    %s)%s;" % (text, ",\n    ".join(parameters), tail)


def pages():
    """{name of the header without .h: Markdown}."""
    with tempfile.TemporaryDirectory() as output:
        settings = DOXYFILE.format(headers=HEADERS, python=sys.executable, filter=pathlib.Path(__file__).with_name("doxygen_filter.py"),
                                   output=output)
        subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)
        declarations = Declarations(output + "/xml")
        return {header[:-2]: Page(declarations, header).markdown() for header in sorted(declarations.files)}


if __name__ == "__main__":
    for page in pages().values():
        print(page)
