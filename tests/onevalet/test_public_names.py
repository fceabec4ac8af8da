"""The table of public names: its page, its types, and that documents need no other names."""

import re
from pathlib import Path

import pytest

import onevalet
from tests.documents.blocks import PAGES, blocks_of
from tests.shipping.harness import ROOT, read
from workbench.pages.api import PAGE, page

_DOCUMENTS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))


def test_the_page_of_public_names_is_made_of_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: uv run -m workbench.pages.api"


def test_every_public_name_says_what_it_is() -> None:
    undocumented = [name for name in onevalet.__all__ if not getattr(getattr(onevalet, name), "__doc__", "")]
    assert undocumented == []


def test_a_name_of_an_ability_that_is_not_there_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onevalet, "homes", lambda: {"Momex": "abilities.diary.momex"})
    monkeypatch.delitem(vars(onevalet), "Momex", raising=False)
    expected = (
        "^Momex belongs to the ability diary, and this installation has no folder abilities/diary: "
        "put the folder back, or do without the name[.]$"
    )
    with pytest.raises(ImportError, match=expected):
        onevalet.Momex  # noqa: B018 - it is asked for


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
    imports = re.compile(r"^from onevalet import (?:\([^)]*\)|.+)$", re.MULTILINE)
    code = "\n".join(imports.sub("", block.code) for page in PAGES for block in blocks_of(page))
    assert [name for name in onevalet.__all__ if not re.search(rf"\b{name}\b", code)] == []
