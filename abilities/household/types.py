"""The values of households."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from abilities.household.roles import HouseholdRole, ShownCalendar
from core.messaging.visible_text import literal, plain_words
from core.people.chat_names import ChatIdentity

_MAX_OF_NAME = 40


class Outcome(StrEnum):
    """The outcome of a deed, as the SQL functions name it."""

    MADE = "made"
    KEPT = "kept"
    ASK = "ask"
    JOINED = "joined"
    LEFT = "left"
    CHANGED = "changed"
    REMOVED = "removed"
    ENDED = "ended"
    SHOWN = "shown"
    NONE = "none"
    """The person is in no household."""
    MEMBER = "member"
    """The person is in another household."""
    INSIDE = "inside"
    FULL = "full"
    LAST = "last"
    """The only adult cannot leave."""
    CHILD = "child"
    NOT_OWNER = "not_owner"
    UNKNOWN = "unknown"
    SAME = "same"
    REFUSED = "refused"
    WRONG = "wrong"
    USED = "used"
    EXPIRED = "expired"
    LIMITED = "limited"


@dataclass(frozen=True, slots=True)
class Member:
    """A member as the others see them: by their name, or else by their first place, whose address is shown in part."""

    id: str
    name: str = ""
    role: HouseholdRole | None = None
    channel: str = ""
    user_key: str = ""
    calendar: ShownCalendar = ShownCalendar.NOTHING

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Member":
        role = HouseholdRole(value["role"]) if value.get("role") else None
        place, calendar = (value.get("channel", ""), value.get("user_key", "")), value.get("calendar", "")
        return cls(value.get("id", ""), value.get("name", ""), role, *place, ShownCalendar(calendar))

    @property
    def called(self) -> str:
        """Return the name as plain text, empty for none."""
        return plain_words(self.name)[:_MAX_OF_NAME].strip()

    @property
    def shown(self) -> str:
        """Return the name as Markdown, or the place of somebody without a name."""
        return literal(self.called) or self.place

    @property
    def place(self) -> str:
        """Return the first place as Markdown, such as `Telegram •••••042 (Ada)`."""
        return ChatIdentity("", self.channel, self.user_key, self.name).shown


@dataclass(frozen=True, slots=True)
class Household:
    """A household, and its members in the order in which they came."""

    id: str
    name: str
    people: tuple[Member, ...]

    @property
    def shown(self) -> str:
        """Return the name as Markdown."""
        return literal(plain_words(self.name))

    def named(self, words: str) -> Member | None:
        """Return the member whom a name means; None for nobody, or for several."""
        words = words.strip().casefold()
        found = [one for one in self.people if one.called.casefold() == words]
        found = found or [one for one in self.people if words and words in one.called.casefold().split()]
        return found[0] if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class Deed:
    """The answer to a deed. `who`: the other member, or who invites; `people`: who is in the household.

    `limited`: as a child they get limits. `calendar`: how much of their calendars they show from now on.
    """

    outcome: Outcome
    household: str = ""
    who: Member | None = None
    role: HouseholdRole | None = None
    people: tuple[Member, ...] = ()
    limited: bool = False
    calendar: ShownCalendar = ShownCalendar.NOTHING

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Deed":
        return cls(
            Outcome(value["outcome"]),
            literal(plain_words(value.get("household", ""))),
            Member.from_json(value["who"]) if value.get("who") else None,
            HouseholdRole(value["role"]) if value.get("role") else None,
            tuple(Member.from_json(one) for one in value.get("people", ())),
            bool(value.get("limited")),
            ShownCalendar(value.get("calendar", "")),
        )
