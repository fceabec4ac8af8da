"""Bring the catalogues up to date with the code: `uv run -m core.language.update`.

Each keeps the sentences that the code has, in the code's order, and its translations of them; new ones are empty.
"""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from core.language.catalogue import LANGUAGES, LOCALES

ROOT = Path(__file__).parents[2]
PACKAGES = ("core", "channels", "notify", "jobs", "agents", "onevalet")
_KEYWORDS = {"gettext": None, "gettext_noop": None, "ngettext": (1, 2)}
_HEADER = "# The product's sentences. `uv run -m core.language.update` adds what is new in the code.\n"


def sentences() -> Iterator[Message]:
    """Yield the sentences that the code marks, each once, in the order of packages, files and lines."""
    found = Catalog()
    for package in PACKAGES:
        for _, _, sentence, _, _ in extract_from_dir(ROOT / package, [("**.py", "python")], keywords=_KEYWORDS):
            found.add(sentence)
    yield from (message for message in found if message.id)


def updated(language: str) -> bytes:
    """Return a catalogue as it should be stored."""
    path = LOCALES / f"{language}.po"
    known = read_po(BytesIO(path.read_bytes() if path.exists() else b""), locale=language)
    catalogue = Catalog(locale=language)
    for message in sentences():
        before = known.get(message.id)
        catalogue.add(message.id, before.string if before else "", flags=message.flags)
    body = BytesIO()
    write_po(body, catalogue, width=110, omit_header=True)
    fields = [
        ("Language", language),
        ("Plural-Forms", catalogue.plural_forms),
        ("Content-Type", "text/plain; charset=utf-8"),
    ]
    header = "".join(f'"{name}: {value}\\n"\n' for name, value in fields)
    return f'{_HEADER}msgid ""\nmsgstr ""\n{header}\n'.encode() + body.getvalue()


if __name__ == "__main__":
    for code in LANGUAGES[1:]:
        (LOCALES / f"{code}.po").write_bytes(updated(code))
