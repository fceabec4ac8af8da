"""The product's own sentences in the person's language, from the gettext catalogues in `locales`.

English is what the code says. A sentence that no catalogue has is said in English.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

from babel import Locale
from babel.lists import format_list
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

LOCALES = Path(__file__).parent / "locales"
LANGUAGES = ("en", "es", "de", "fr", "pt", "zh")

_language: ContextVar[str] = ContextVar("language", default="en")


@contextmanager
def speaking(tag: str) -> Iterator[None]:
    """Use the language of a BCP 47 tag for the sentences inside; English where it is empty or unknown."""
    token = _language.set(language_of(tag))
    try:
        yield
    finally:
        _language.reset(token)


def language_of(tag: str) -> str:
    """Return which of `LANGUAGES` serves a BCP 47 tag best."""
    code = tag.replace("_", "-").partition("-")[0].lower()
    return code if code in LANGUAGES else "en"


def gettext(sentence: str, /, **fields: object) -> str:
    """Return a sentence in the person's language, with its fields filled in."""
    text = _translations(_language.get()).gettext(sentence)
    return text.format(**fields) if fields else text


def ngettext(one: str, many: str, number: int, /, **fields: object) -> str:
    """Return the sentence for a number of things in the person's language; `{number}` is filled in too."""
    text = _translations(_language.get()).ngettext(one, many, number)
    return text.format(number=number, **fields)


def gettext_noop(sentence: str) -> str:
    """Mark a sentence for the catalogues that is translated where it is said."""
    return sentence


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence, such as `a, b and c`."""
    return format_list(list(names), locale=current_locale())


def current_locale() -> Locale:
    """Return whose rules for dates, numbers and lists go with the person's language."""
    return Locale.parse({"en": "en_GB", "pt": "pt_PT"}.get(_language.get(), _language.get()))


@cache
def _translations(language: str) -> NullTranslations:
    if language == "en":
        return NullTranslations()
    with (LOCALES / f"{language}.po").open("rb") as file:
        catalogue = read_po(file, locale=language)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return GNUTranslations(compiled)
