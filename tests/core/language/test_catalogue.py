"""The catalogues: every sentence of the code in every language, with the same fields, and said in the person's."""

from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from core import replies
from core.language.catalogue import LANGUAGES, fields_of, gettext, language_of, listed, ngettext, speaking
from tests.core.language.english import OTHERS
from workbench.pages.catalogues import folders, translated, updated

READS = ("{places} now reads and acts for you.", "{places} now read and act for you.")


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.whole("it collects all sentences of the code")
def test_a_catalogue_has_the_sentences_of_the_code(language: str) -> None:
    for folder, packages in folders().items():
        stored = (folder / f"{language}.po").read_text()
        assert stored == updated(folder / f"{language}.po", packages).decode(), (
            "run: uv run -m workbench.pages.catalogues"
        )


def test_a_sentence_that_moves_to_another_folder_keeps_its_translation(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("gettext('Gone: {name}.')\ngettext('New.')\n")
    before = b'msgid "Gone: {name}."\nmsgstr "Weg: {name}."\n\nmsgid "Elsewhere."\nmsgstr "Woanders."\n'
    others = [read_po(BytesIO(before), locale="de")]
    moved = read_po(BytesIO(updated(tmp_path / "de.po", (str(tmp_path),), others)), locale="de")
    assert {message.id: message.string for message in moved if message.id} == {
        "Gone: {name}.": "Weg: {name}.",
        "New.": "",
    }


@pytest.mark.parametrize("language", OTHERS)
def test_each_sentence_is_translated_with_its_fields(language: str) -> None:
    messages = translated(language)
    assert messages
    for message in messages:
        ids = (message.id,) if isinstance(message.id, str) else message.id
        texts = (message.string,) if isinstance(message.string, str) else tuple(message.string or ())
        assert texts
        assert all(texts), f"not translated: {message.id}"
        assert not message.fuzzy
        assert all(fields_of(text) == fields_of(ids[-1]) for text in texts), message.id


def test_a_sentence_is_said_in_the_language_of_its_person() -> None:
    said = set()
    for language in LANGUAGES:
        with speaking(language):
            said.add(gettext(replies.MODEL_DOWN))
    assert len(said) == len(LANGUAGES)
    assert gettext(replies.MODEL_DOWN) == replies.MODEL_DOWN, "afterwards it is English again"
    with speaking("de-AT"):
        assert ngettext(*READS, 2, places=listed(["a", "b", "c"])) == "a, b und c lesen und handeln jetzt für dich."
        assert ngettext(*READS, 1, places="a") == "a liest und handelt jetzt für dich."


@pytest.mark.parametrize(
    ("tag", "language"), [("", "en"), ("pt-BR", "pt"), ("zh_Hant", "zh"), ("DE", "de"), ("tlh", "en"), ("en-GB", "en")]
)
def test_a_tag_is_served_by_its_language_or_by_english(tag: str, language: str) -> None:
    assert language_of(tag) == language


def test_braces_of_a_person_are_no_fields() -> None:
    assert gettext("Stopped: {message}", message="{cap} {}") == "Stopped: {cap} {}"
