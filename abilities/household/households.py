"""A person's household: making one, inviting, joining and leaving, by a word or a tool."""

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from abilities.household.children import ChildTier
from abilities.household.roles import HouseholdRole, ShownCalendar
from abilities.household.types import Deed, Household, Member, Outcome
from core.clock import Clock
from core.db.database import Database
from core.ids import partition_of
from core.json_types import JsonObject
from core.people.link_codes import GUESSES_WITHIN, MAX_GUESSES_PER_SENDER, new_link_code

VALID = timedelta(days=1)
"""The validity of an invitation: the invited person may see it only in the evening."""
MAX_INVITATIONS = 10
"""Invitations of a household in a day."""
MAX_PEOPLE = 12
MAX_NAME = 40
_LIST = "list "
"""The beginning of the key under which the list that was last shown in a channel is kept, among a person's deeds."""


@dataclass(frozen=True, slots=True)
class Households:
    """A person's acts on their household in a turn. Each may be repeated with the same answer.

    `tier`: the tier of children; None if they have no limits of their own.
    """

    database: Database
    clock: Clock
    tenant_id: str
    turn_id: str
    tier: ChildTier | None = None

    async def read(self) -> Household | None:
        """Return the person's household; None without one."""
        found = await self._call("read_household($1)")
        if not isinstance(found, dict):
            return None
        return Household(found["id"], found["name"], tuple(Member.from_json(one) for one in found["people"]))

    async def show(self, channel: str) -> Household | None:
        """Return the household to be shown as a list, whose numbers count in that channel from now on."""
        home = await self.read()
        if home is not None:
            await self.database.repeat(
                self.tenant_id,
                "insert into household_deeds (tenant_id, key, answer, at) values ($1, $2, $3, $4)"
                " on conflict (tenant_id, key) do update set answer = $3, at = $4 returning key",
                _LIST + channel,
                {"shown": [_mark(one) for one in home.people]},
                self.clock.now(),
            )
        return home

    async def find(self, words: str, channel: str) -> Member | None:
        """Return the member whom a name means, or a number of the list that was last shown in that channel."""
        home, words = await self.read(), words.strip()
        if home is None or not words.isdecimal():
            return home.named(words) if home else None
        answer = await self._call("household_deed($1,$2)", _LIST + channel)
        shown = answer["shown"] if isinstance(answer, dict) else []
        meant = shown[int(words) - 1 : int(words)] if 0 < int(words[:4]) <= len(shown) else []
        return next((one for one in home.people if [_mark(one)] == meant), None)

    async def make(self, name: str) -> Deed:
        """Make a household that the person owns."""
        id = f"hh_{hashlib.sha256(f'{self.tenant_id} {self.turn_id}'.encode()).hexdigest()[:26]}"
        return await self._deed("make_household($1,$2,$3,$4,$5)", self.turn_id, id, name, self.clock.now())

    async def invite(self, role: HouseholdRole) -> tuple[Outcome, str]:
        """Return a code by which somebody may join; it replaces an earlier one of the same turn."""
        code, now = new_link_code(partition_of(self.tenant_id)), self.clock.now()
        outcome = await self._call(
            "invite_to_household($1,$2,$3,$4,$5,$6,$7)",
            self.turn_id,
            invitation_hash(code),
            role.value,
            now,
            now + VALID,
            MAX_INVITATIONS,
        )
        return Outcome(str(outcome)), code

    async def join(self, code: str, *, agreed: bool) -> Deed:
        """Join by a code, once the person was asked and agreed in a later turn."""
        guesses: JsonObject = {"guesses": MAX_GUESSES_PER_SENDER, "within": f"{GUESSES_WITHIN.seconds} s"}
        tier = self.tier or ChildTier("")
        limits = guesses | {"people": MAX_PEOPLE, "tier": tier.name, "instead_of": list(tier.instead_of)}
        return await self._deed(
            "join_household($1,$2,$3,$4,$5,$6)", self.turn_id, invitation_hash(code), agreed, self.clock.now(), limits
        )

    async def done(self) -> Deed | None:
        """Return the answer to this turn's act before a crash; None if there was none."""
        answer = await self._call("household_deed($1,$2)", self.turn_id)
        return Deed.from_json(answer) if isinstance(answer, dict) else None

    async def leave(self) -> Deed:
        return await self._deed("leave_household($1,$2,$3)", self.turn_id, self.clock.now())

    async def remove(self, member: Member) -> Deed:
        """Remove a member, by the owner's word."""
        return await self._change(member, None)

    async def change(self, member: Member, role: HouseholdRole) -> Deed:
        """Change a member's role, by the owner's word."""
        return await self._change(member, role)

    async def show_calendar(self, shown: ShownCalendar) -> Deed:
        """Show the others more or less of one's calendars."""
        return await self._deed("show_calendar($1,$2,$3,$4)", self.turn_id, shown.value, self.clock.now())

    async def end(self, *, agreed: bool) -> Deed:
        """End the household with all that is shared, by the owner's word."""
        return await self._deed("end_household($1,$2,$3,$4)", self.turn_id, agreed, self.clock.now())

    async def _change(self, member: Member, role: HouseholdRole | None) -> Deed:
        return await self._deed(
            "change_household_member($1,$2,$3,$4,$5)",
            self.turn_id,
            member.id,
            role.value if role else "",
            self.clock.now(),
        )

    async def _deed(self, call: str, *given: object) -> Deed:
        answer = await self._call(call, *given)
        assert isinstance(answer, dict)  # noqa: S101 - as the functions return it
        return Deed.from_json(answer)

    async def _call(self, call: str, *given: object) -> Any:
        row = await self.database.one(f"select {call} as answer", self.tenant_id, *given)
        return row["answer"]


def _mark(member: Member) -> str:
    """Return the marks of members in a list that is kept: no id of another's, which would outlive them."""
    return hashlib.sha256(member.id.encode()).hexdigest()[:16]


def invitation_hash(code: str) -> bytes:
    """Return the stored hash of an invitation's code; case, spaces and dashes do not matter."""
    letters = "".join(letter for letter in code.upper() if letter.isalnum())
    return hashlib.sha256(b"onevalet household " + letters.encode()).digest()
