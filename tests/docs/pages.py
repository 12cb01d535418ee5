# SPDX-License-Identifier: BSD-3-Clause
"""Reading the tree's pages: blocks of code, tables, links, and what they name."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"\b([\w-]+\.(?:cpp|c|f90|py|txt))\b")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


class Page:
    def __init__(self, path):
        self.path = path
        self.name = path.relative_to(ROOT).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.prose = BLOCK.sub("", self.text)

    def blocks_and_paragraphs(self):
        """Each block, found by BLOCK, with the paragraph before it."""
        for found in BLOCK.finditer(self.text):
            yield found, self.text[: found.start()].rstrip().rpartition("\n\n")[2]

    def blocks(self):
        """(language, name of the file that it is or None, text) in order. A file's name stands in
        the block's first line, or is the last one in the paragraph before the block."""
        for found, before in self.blocks_and_paragraphs():
            first = found[2].split("\n", 1)[0]
            names = FILE.findall(first) if first.startswith(("//", "/*", "!", "#!")) else []
            if not names and found[1] in ("c", "cpp", "fortran", "python", "cmake"):
                names = FILE.findall(before)
            yield found[1], names[-1] if names else None, found[2]

    def tables(self):
        """Each table as a list of rows, each a list of cells; the first row is the heading."""
        rows = []
        for line in self.prose.split("\n") + [""]:
            if line.startswith("|"):
                cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
                rows.append([c.strip().replace("\\|", "|") for c in cells])
            elif rows:
                yield [r for r in rows if not all(set(c) <= set("-: ") for c in r)]
                rows = []

    def inline_code(self):
        return re.findall(r"`([^`\n]+)`", self.prose)

    def links(self):
        return LINK.findall(self.prose)

    def heading_marks(self):
        """What `#mark` of a link to this page can be."""
        for title in re.findall(r"^#+ (.*)$", self.text, re.MULTILINE):
            plain = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower())
            yield plain.replace(" ", "-")


def pages():
    found = [p for p in ROOT.glob("*.md")]
    for folder in ("docs", "src", "abi", "tools", "bench", "examples"):
        found += [p for p in (ROOT / folder).rglob("*.md") if ".venv" not in p.parts]
    return [Page(p) for p in sorted(found)]
