"""Bring the catalogues up to date with the code: `uv run -m workbench.pages.catalogues`.

Each keeps the sentences of its code, in the code's order, and their translations; new sentences are empty. An ability
has catalogues of its own; a sentence that moves between folders keeps its translation. The name of a plugin's package
brings the catalogues in its folder `locales` up to date instead.
"""

import sys
from collections.abc import Iterable, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from core.language.catalogue import LANGUAGES, LOCALES

ROOT = Path(__file__).parents[2]
SPINE = ("core", "channels", "notify", "providers", "jobs", "agents", "onevalet", "operations", "workbench")
"""The packages whose sentences are in `LOCALES`."""
ABILITIES = "abilities"
PACKAGES = (*SPINE, ABILITIES)
_KEYWORDS = {"gettext": None, "gettext_noop": None, "ngettext": (1, 2), "ngettext_noop": (1, 2)}
_METHODS = [("**.py", "python"), ("**/templates/**.html", "jinja2")]
_HEADER = "# The product's sentences. `uv run -m workbench.pages.catalogues` adds what is new in the code.\n"


@cache
def sentences(packages: tuple[str, ...] = PACKAGES) -> tuple[Message, ...]:
    """Return the sentences that the code marks, each once, in the order of packages, files and lines.

    Read once a process: to read all of the code takes seconds.
    """
    found = Catalog()
    for package in packages:
        for _, _, sentence, _, _ in extract_from_dir(ROOT / package, _METHODS, keywords=_KEYWORDS):
            found.add(sentence)
    return tuple(message for message in found if message.id)


@cache
def folders() -> Mapping[Path, tuple[str, ...]]:
    """Return the folders of the product's catalogues, each with the packages whose sentences it has."""
    found: dict[Path, tuple[str, ...]] = {LOCALES: SPINE}
    for ability in sorted(path.parent for path in (ROOT / ABILITIES).glob("*/ability.py")):
        package = (f"{ABILITIES}/{ability.name}",)
        # To read an ability's code takes long, and is needed for one that has no catalogue yet.
        if (ability / "locales").is_dir() or sentences(package):
            found[ability / "locales"] = package
    return found


def translated(language: str) -> tuple[Message, ...]:
    """Return all translations into a language."""
    return tuple(message for folder in folders() for message in _read(folder / f"{language}.po") if message.id)


def updated(path: Path, packages: tuple[str, ...] = PACKAGES, others: Iterable[Catalog] = ()) -> bytes:
    """Return a catalogue as it should be stored; its file is named after its language.

    A sentence that it does not have yet is taken over from `others`.
    """
    language = path.stem
    known = (_read(path), *others)
    catalogue = Catalog(locale=language)
    for message in sentences(packages):
        before = next((found.string for one in known if (found := one.get(message.id)) and found.string), "")
        catalogue.add(message.id, before, flags=message.flags)
    body = BytesIO()
    write_po(body, catalogue, width=110, omit_header=True)
    fields = [
        ("Language", language),
        ("Plural-Forms", catalogue.plural_forms),
        ("Content-Type", "text/plain; charset=utf-8"),
    ]
    header = "".join(f'"{name}: {value}\\n"\n' for name, value in fields)
    return f'{_HEADER}msgid ""\nmsgstr ""\n{header}\n'.encode() + body.getvalue()


def _read(path: Path) -> Catalog:
    return read_po(BytesIO(path.read_bytes() if path.exists() else b""), locale=path.stem)


if __name__ == "__main__":
    plugin = tuple(sys.argv[1:2])
    wanted = {ROOT / plugin[0] / "locales": plugin} if plugin else folders()
    for code in LANGUAGES[1:]:
        # All catalogues are read before any is written.
        stored = [_read(folder / f"{code}.po") for folder in wanted]
        for folder, packages in wanted.items():
            folder.mkdir(exist_ok=True)
            (folder / f"{code}.po").write_bytes(updated(folder / f"{code}.po", packages, stored))
