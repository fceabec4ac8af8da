"""People who are added while the simulator runs, kept over restarts and Reset."""

import re
import unicodedata
from collections.abc import Callable

from workbench.simulator.base import BadAction, Wire
from workbench.simulator.config import Person
from workbench.simulator.keeping import Drawer, Form

MOST = 20
"""Maximum number of people: a page that draws each person's chats has its limit, as have the fictional numbers."""
_LONGEST = 40
_FORM = Form(list[Person])


class Roster:
    """Adds people. `joined` hears of each, so that a provider makes room for them."""

    name = "people"

    def __init__(self, wire: Wire, joined: Callable[[Person], None]) -> None:
        self._config = wire.config
        self._joined = joined

    def add(self, name: object) -> Person:
        """Add a person with a phone, a Slack user and a Telegram user. Raises `BadAction`."""
        if (
            not isinstance(name, str)
            or not name.isprintable()
            or not 1 <= len(name := " ".join(name.split())) <= _LONGEST
        ):
            raise BadAction(f"A name has 1 to {_LONGEST} characters.")
        everyone = self._config.everyone
        if any(person.name.casefold() == name.casefold() for person in everyone):
            raise BadAction(f"{name} is here already.")
        if len(everyone) >= MOST:
            raise BadAction(f"{MOST} people are as many as the simulator has room for.")
        person = _new(name, len(everyone) + 1, {person.key for person in everyone})
        self._take(person)
        return person

    def save(self, drawer: Drawer) -> bytes:
        return _FORM.write(list(self._config.joined), drawer)

    def load(self, kept: bytes, drawer: Drawer) -> None:
        for person in _FORM.read(kept, drawer):
            if self._config.person(person.key) is None:
                self._take(person)

    def resume(self) -> None:
        """Nothing is ever under way."""

    def _take(self, person: Person) -> None:
        self._config.joined.append(person)
        self._joined(person)


def _new(name: str, number: int, taken: set[str]) -> Person:
    """Return a person with unused ids, in the form of each provider's."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.findall("[a-z0-9]+", plain) or ["person"]
    key = words[0] if words[0] not in taken else f"{words[0]}{number}"
    return Person(
        key,
        name,
        f"+1415555{100 + number:04d}",
        f"U0{key.upper()[:4]:0<4}{number:04d}",
        700_100_000 + number,
        f"{'_'.join(words)}_{number}"[:32],
    )
