"""The blocks of the pages: what a reader writes to files, and what they type."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.shipping.harness import ROOT, read

PAGES = ("README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")))
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
EXAMPLES = ROOT / "docs" / "examples"
"""The files that pages lead to instead of showing them, each by the name that it has in a reader's clone."""
_EXAMPLE = re.compile(r"\]\(examples/([^)]+)\)")
_FILE = re.compile(r"# ((?:[\w.-]+/)*[\w-]+(?:\.\w+)+)\n")
_NAMED_IN_WORDS = {("docs/skills.md", "markdown"): "skills/weekly-report/SKILL.md"}
"""Files whose first line is not free for their name."""
_SETTING = re.compile(r"[A-Z][A-Z0-9_]+=")
_COMMENT = re.compile(r"(?:^|\s+)#.*$")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page; `line` is the line of its fence."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        """Return where it is, as editors take it."""
        return f"{self.page}:{self.line}"

    @property
    def file(self) -> str:
        """Return the file that its first line names, or nothing."""
        named = _FILE.match(self.text)
        return named[1] if named else _NAMED_IN_WORDS.get((self.page, self.language), "")

    @property
    def code(self) -> str:
        """Return what its file holds."""
        return self.text.partition("\n")[2] if _FILE.match(self.text) else self.text

    @property
    def are_settings(self) -> bool:
        """Tell whether it is lines of `.env`."""
        return all(_SETTING.match(line) and " bin/" not in line for line in self.text.splitlines())

    @property
    def commands(self) -> tuple[str, ...]:
        """Return what is typed, without what is said about it: each with the lines that go on from it."""
        if self.file or self.are_settings or not (self.language == "sh" or self.text.startswith("bin/")):
            return ()
        return tuple(_commands(self.text.splitlines()))


def _commands(lines: list[str]) -> Iterator[str]:
    typed = ""
    for line in lines:
        typed += _COMMENT.sub("", line)
        is_open = typed.endswith(("\\", "|")) or typed.count("'") % 2
        if is_open:
            typed += "\n"
        elif typed.strip():
            yield typed.strip()
        if not is_open:
            typed = ""


@cache
def blocks_of(page: str) -> tuple[Block, ...]:
    """Return a page's blocks and the examples that it leads to, in their order."""
    text = read(page)
    found = [*_examples(page, text)]
    for match in _BLOCK.finditer(text):
        margin = match[1]
        lines = [line.removeprefix(margin) for line in match[3].splitlines(keepends=True)]
        found.append(Block(page, text.count("\n", 0, match.start()) + 1, match[2], "".join(lines)))
    return tuple(sorted(found, key=lambda block: block.line))


def _examples(page: str, text: str) -> Iterator[Block]:
    for match in _EXAMPLE.finditer(text):
        code = (EXAMPLES / match[1]).read_text(encoding="utf-8")
        yield Block(page, text.count("\n", 0, match.start()) + 1, "python", f"# {match[1]}\n{code}")


def write_files(page: str, folder: Path) -> list[Path]:
    """Write a page's files below a folder, and make packages of the folders of its Python; return the files."""
    paths = []
    for block in blocks_of(page):
        if not block.file:
            continue
        path = folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.code, encoding="utf-8")
        paths.append(path)
        if path.suffix == ".py" and path.parent not in (folder, folder / "tests"):
            (path.parent / "__init__.py").touch()
    return paths
