"""Bring the catalogues up to date with the code: `uv run -m core.language.update`.

Each keeps the sentences that the code has, in the code's order, and its translations of them; new ones are empty.
The name of a plugin's package brings those in its folder `locales` up to date instead.
"""

import sys
from functools import cache
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from core.language.catalogue import LANGUAGES, LOCALES

ROOT = Path(__file__).parents[2]
PACKAGES = ("core", "channels", "notify", "jobs", "abilities", "agents", "onevalet")
_KEYWORDS = {"gettext": None, "gettext_noop": None, "ngettext": (1, 2), "ngettext_noop": (1, 2)}
_HEADER = "# The product's sentences. `uv run -m core.language.update` adds what is new in the code.\n"


@cache
def sentences(packages: tuple[str, ...] = PACKAGES) -> tuple[Message, ...]:
    """Return the sentences that the code marks, each once, in the order of packages, files and lines.

    Read once a process: to read all of the code takes seconds.
    """
    found = Catalog()
    for package in packages:
        for _, _, sentence, _, _ in extract_from_dir(ROOT / package, [("**.py", "python")], keywords=_KEYWORDS):
            found.add(sentence)
    return tuple(message for message in found if message.id)


def updated(path: Path, packages: tuple[str, ...] = PACKAGES) -> bytes:
    """Return a catalogue as it should be stored; its file is named after its language."""
    language = path.stem
    known = read_po(BytesIO(path.read_bytes() if path.exists() else b""), locale=language)
    catalogue = Catalog(locale=language)
    for message in sentences(packages):
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
    plugins = sys.argv[1:]
    folder = ROOT / plugins[0] / "locales" if plugins else LOCALES
    folder.mkdir(exist_ok=True)
    for code in LANGUAGES[1:]:
        stored = folder / f"{code}.po"
        stored.write_bytes(updated(stored, tuple(plugins[:1]) or PACKAGES))
