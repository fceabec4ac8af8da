"""The product's own sentences in the person's language, from the gettext catalogues in `locales`.

The code's own sentences are English. A sentence that no catalogue has is said in English. Abilities and
plugins bring catalogues of their own, which are asked after the spine's.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from string import Formatter
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from core.errors import ConfigError

if TYPE_CHECKING:  # babel loads slowly: modules that only mark sentences do without it
    from babel import Locale
    from babel.messages.catalog import Catalog

LOCALES = Path(__file__).parent / "locales"
LANGUAGES = ("en", "es", "de", "fr", "pt", "zh")

_language: ContextVar[str] = ContextVar("language", default="en")
_folders = [LOCALES]


@contextmanager
def speaking(tag: str | None) -> Iterator[None]:
    """Use the language of a BCP 47 tag for the sentences inside; English if it is None or unknown."""
    token = _language.set(language_of(tag))
    try:
        yield
    finally:
        _language.reset(token)


def language_of(tag: str | None) -> str:
    """Return the language of `LANGUAGES` that serves a BCP 47 tag best."""
    code = (tag or "").replace("_", "-").partition("-")[0].lower()
    return code if code in LANGUAGES else "en"


def current_language() -> str:
    """Return the language of `LANGUAGES` that sentences are in now."""
    return _language.get()


def gettext(sentence: str, /, **fields: object) -> str:
    """Return a sentence in the person's language, with its fields filled in."""
    text = translations(_language.get()).gettext(sentence)
    return text.format(**fields) if fields else text


def ngettext(one: str, many: str, number: int, /, **fields: object) -> str:
    """Return the sentence for a number of things in the person's language; `{number}` is filled in too."""
    text = translations(_language.get()).ngettext(one, many, number)
    return text.format(number=number, **fields)


def name_in_words(name: str) -> str:
    """Return the name of a tool or of an argument as words, translated if a catalogue has them."""
    return gettext(name.replace("_", " "))


def gettext_noop(sentence: str) -> str:
    """Mark a sentence for the catalogues that is translated only when it is used."""
    return sentence


def ngettext_noop(one: str, many: str) -> tuple[str, str]:
    """Mark a sentence about a number of things for the catalogues that is translated only when it is used."""
    return one, many


def listed(names: Sequence[str], style: Literal["standard", "or"] = "standard") -> str:
    """Return names as a list in a sentence, such as `a, b and c`, or with "or"."""
    from babel.lists import format_list

    return format_list(list(names), style, locale=current_locale())


def labelled(label: str, value: str) -> str:
    """Return a label with its value as the language writes it, such as "Subject: Lunch"."""
    return gettext("{label}: {value}", label=label, value=value)


def in_a_row(names: Sequence[str]) -> str:
    """Return names in a row, with the comma of the language and no "and"."""
    middle = str(current_locale().list_patterns["standard"]["middle"])
    return middle.removeprefix("{0}").removesuffix("{1}").join(names)


def current_locale() -> "Locale":
    """Return the locale of the rules for dates, numbers and lists that fit the person's language."""
    from babel import Locale

    return Locale.parse({"en": "en_GB", "pt": "pt_PT"}.get(_language.get(), _language.get()))


def add_catalogues(folder: Path) -> None:
    """Add a folder of catalogues behind the others, with a file for each language, such as `de.po`.

    Raise `ConfigError` for a file that cannot be read, and for a translation with other fields than its sentence.
    """
    for path in sorted(folder.glob("*.po")):
        _check(path)
    use_catalogues(folder)


def use_catalogues(folder: Path) -> None:
    """Add a folder of catalogues of the product's own, whose files a test has checked."""
    if folder not in _folders:
        _folders.append(folder)
        translations.cache_clear()


def add_catalogues_of(modules: Iterable[ModuleType]) -> None:
    """Use the catalogues in the `locales` of packages."""
    for folder in (Path(path) / "locales" for module in modules for path in getattr(module, "__path__", ())):
        if folder.is_dir():
            add_catalogues(folder)


def fields_of(sentence: str) -> frozenset[str]:
    """Return the names of the fields in a sentence."""
    return frozenset(name for _, name, _, _ in Formatter().parse(sentence) if name is not None)


@cache
def translations(language: str) -> NullTranslations:
    """Return the translations of a language's catalogues."""
    found = NullTranslations()
    for path in (folder / f"{language}.po" for folder in _folders):
        if path.exists():
            found.add_fallback(_compiled(path))
    return found


def _check(path: Path) -> None:
    if path.stem not in LANGUAGES:
        raise ConfigError(f"{path}: there is no language {path.stem!r}; there are {', '.join(LANGUAGES[1:])}.")
    for message in _read(path):
        ids, texts = ((one,) if isinstance(one, str) else tuple(one or ()) for one in (message.id, message.string))
        try:
            same = all(fields_of(text) == fields_of(ids[-1]) for text in texts if message.id and text)
        except ValueError:  # a brace without its other half
            same = False
        if not same:
            raise ConfigError(f"{path}:{message.lineno}: the translation has other fields than its sentence.")


def _read(path: Path) -> "Catalog":
    from babel.messages.pofile import PoFileError, read_po

    try:
        return read_po(BytesIO(path.read_bytes()), locale=path.stem, abort_invalid=True)
    except (PoFileError, ValueError) as error:
        raise ConfigError(f"{path}: this is no catalogue: {error}.") from error


def _compiled(path: Path) -> GNUTranslations:
    from babel.messages.mofile import write_mo

    catalogue = _read(path)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return GNUTranslations(compiled)
