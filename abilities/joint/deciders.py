"""The people whose consent a person may want besides their own: implements `core.approvals.other_deciders`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

from abilities.household.households import Households
from abilities.household.roles import HouseholdRole
from abilities.household.types import Member
from abilities.joint.wording import REASONS
from core.approvals.consent import Consent, ConsentState
from core.approvals.other_deciders import OtherDecider
from core.clock import Clock, zone_or_utc
from core.db.database import Database
from core.errors import ToolFailed
from core.language.catalogue import gettext
from core.people.tenant import QuietHours
from core.replies import TELL_THEM

MOST_A_DAY = 20
"""Requests to one person within a day."""


@dataclass(frozen=True, slots=True)
class HouseholdDeciders:
    """The adults of a person's household. `channels`: those that are on."""

    database: Database
    clock: Clock
    tenant_id: str
    channels: Sequence[str]

    async def find(self, named: str = "", person: str = "") -> OtherDecider:
        """Return an adult of the household by name, or by their tenant; raise if they cannot be asked."""
        home = await Households(self.database, self.clock, self.tenant_id, "").read()
        if home is None:
            raise ToolFailed(gettext("You are in no household, so there is nobody else whose consent I can ask."))
        found = next((one for one in home.people if one.id == person), None) if person else home.named(named)
        if found is None or found.id == self.tenant_id:
            raise ToolFailed(gettext("“{name}” does not name exactly one other person of your household.", name=named))
        name = name_of(found)
        if found.role is HouseholdRole.CHILD:
            raise ToolFailed(gettext("{who} is a child of the household, and cannot agree to this.", who=name))
        facts = await self._facts(found.id)
        if not facts.get("conversation"):
            raise ToolFailed(gettext("I cannot reach {who}, so I cannot ask them.", who=name))
        if int(facts["today"]) >= MOST_A_DAY:
            raise ToolFailed(gettext("I have asked {who} often enough today; try again tomorrow.", who=name))
        now = self.clock.now()
        return OtherDecider(found.id, name, facts["language"], (quiet_end(facts, now) or now) - now)

    async def agreed(self, approval_id: str) -> Consent:
        """Return whether the other person agrees; once it is GRANTED, neither takes it back."""
        row = await self.database.one("select use_joint($1,$2) as state", self.tenant_id, approval_id)
        state = str(row["state"])
        if state == "used":
            return Consent(ConsentState.GRANTED)
        if state == "waiting":
            return Consent(ConsentState.PENDING)
        name = await self._name(approval_id)
        return Consent(ConsentState.REFUSED, f"Not done: {REASONS[state].format(who=name)}{TELL_THEM}")

    async def _facts(self, other_id: str) -> dict[str, Any]:
        row = await self.database.one(
            "select decider_facts($1,$2,$3,$4) as facts",
            self.tenant_id,
            other_id,
            list(self.channels),
            self.clock.now(),
        )
        return row["facts"] or {}

    async def _name(self, approval_id: str) -> str:
        row = await self.database.tenant_row(
            self.tenant_id,
            "select other_name from joint_consents where tenant_id = $1 and approval_id = $2",
            approval_id,
        )
        return str(row["other_name"]) if row else "the other person"


def quiet_end(facts: dict[str, Any], now: datetime) -> datetime | None:
    """Return when a person's quiet hours end, by their preferences; None outside them."""
    if not facts["quiet_from"]:
        return None
    hours = QuietHours(time.fromisoformat(facts["quiet_from"]), time.fromisoformat(facts["quiet_until"]))
    return hours.ending(now, zone_or_utc(facts["timezone"]))


def name_of(member: Member) -> str:
    """Return a member's name as others of the household know them, or their place."""
    return member.called or member.place
