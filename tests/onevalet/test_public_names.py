"""The table of public names: its page, its types, and that documents need no other names."""

import re
from pathlib import Path

import onevalet
from onevalet.api_page import PAGE, page
from tests.shipping.harness import ROOT, read

_DOCUMENTS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
_WITH_CODE = [name for name in _DOCUMENTS if "```python\n" in read(name)]


def test_the_page_of_public_names_is_made_of_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: uv run -m onevalet.api_page"


def test_both_tables_of_public_names_agree() -> None:
    source = read("onevalet/__init__.py")
    typed = {name: module for module, name in re.findall(r"^    from (\S+) import (\w+) as \2$", source, re.MULTILINE)}
    assert typed == onevalet._HOMES


def test_every_public_name_says_what_it_is() -> None:
    undocumented = [name for name in onevalet.__all__ if not getattr(getattr(onevalet, name), "__doc__", "")]
    assert undocumented == []


def test_types_are_told_to_type_checkers() -> None:
    assert (Path(onevalet.__file__).parent / "py.typed").exists()


def test_no_page_imports_core() -> None:
    imports = re.compile(r"^\s*(?:from|import) core\b", re.MULTILINE)
    assert [name for name in _DOCUMENTS if imports.search(read(name))] == []


def test_every_name_that_a_page_imports_is_public() -> None:
    imported = re.compile(r"^from onevalet import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)
    names = {
        name.strip()
        for document in _DOCUMENTS
        for match in imported.finditer(read(document))
        for name in (match[1] or match[2]).split(",")
        if name.strip()
    }
    assert len(names) > 40
    assert names - set(onevalet.__all__) == set()


def test_every_public_name_is_used_in_code_of_a_page_that_runs() -> None:
    blocks = re.compile(r"^```python\n# \S+\n(.*?)^```", re.MULTILINE | re.DOTALL)
    imports = re.compile(r"^from onevalet import (?:\([^)]*\)|.+)$", re.MULTILINE)
    code = "\n".join(imports.sub("", block) for page in _WITH_CODE for block in blocks.findall(read(page)))
    assert [name for name in onevalet.__all__ if not re.search(rf"\b{name}\b", code)] == []


def test_every_block_of_python_names_the_file_that_a_test_writes_it_to() -> None:
    block = re.compile(r"^```python\n(.*)$", re.MULTILINE)
    unnamed = [name for name in _WITH_CODE for line in block.findall(read(name)) if not line.startswith("# ")]
    assert unnamed == []


def test_the_code_of_each_page_is_run_by_a_test() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    run = {f"docs/{name}.md" for name in re.findall(r'(?:write_blocks\("docs/|load\(")([\w-]+)(?:\.md)?"', tests)}
    assert set(_WITH_CODE) - run == {"docs/extending.md"}, "tests/agents/test_extending.py runs that one"
