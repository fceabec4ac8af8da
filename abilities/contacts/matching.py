"""The contacts that a person means by some words: matched by whole parts of names, never by a part of a word. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from abilities.contacts.book import Contact

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_FILLERS = frozenset(
    re.findall(
        r"\w+",
        "my the a an from at in of with our mr mrs ms dr who whose is named called one"
        " mein meine meinen meiner der die das den dem von bei aus im herr frau"
        " mi mis el la los las de del en mon ma mes le les du chez au meu minha o os as do da dos das no na",
    )
)
"""Words around a name that do not identify it; if they are part of a name they count."""


def matches(words: str, contacts: Iterable[Contact]) -> list[Contact]:
    """Return the contacts that are meant: those with this whole name, else those whose names or relation have all its
    words.

    Besides a word of the name, words may name the relation or the employer ("Sam from work").
    """
    known = list(contacts)
    whole = folded(words)
    exact = [contact for contact in known if any(whole == folded(name) for name in _names(contact))]
    if exact:
        return exact
    related = [c for c in known if c.relation and _bare(words) and _bare(words) == _bare(c.relation)]
    if related:
        return related
    wanted = _parts(words)
    sought = [word for word in wanted if word not in _FILLERS] or wanted
    return [contact for contact in known if sought and _fits(sought, contact)]


def folded(text: str) -> str:
    """Return a text with neither case nor accents, and single spaces."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return " ".join(bare.replace("ß", "ss").split())


def _fits(sought: Sequence[str], contact: Contact) -> bool:
    named = {part for name in _names(contact) for part in _parts(name)}
    about = named | {*_parts(contact.relation), *_parts(contact.organization), str(contact.number)}
    about |= {part for address in (*contact.phones, *contact.mails) for part in _parts(address)}
    return any(word in named for word in sought) and all(word in about for word in sought)


def _names(contact: Contact) -> tuple[str, ...]:
    return (contact.name, *contact.nicknames)


def _bare(text: str) -> tuple[str, ...]:
    return tuple(part for part in _parts(text) if part not in _FILLERS)


@lru_cache(8192)
def _parts(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(folded(text)))
