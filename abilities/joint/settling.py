"""The other side of joint consents: their card, the result of both decisions, and the news of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from abilities.household.households import Households
from abilities.joint.deciders import name_of, quiet_end
from abilities.joint.wording import card_note, card_summary, end_for_other, run_for_other
from core.approvals.cards import Card, card
from core.approvals.seal import seal
from core.approvals.store import ApprovalStore
from core.approvals.types import NewApproval, read_form
from core.clock import Clock
from core.db.database import Database
from core.ids import for_person, new_token
from core.journal.types import Outcome
from core.json_types import JsonObject
from core.language.catalogue import gettext, speaking
from core.messaging.capabilities import too_long
from core.messaging.channels import NotificationChannel
from core.notifications.types import Notification, Notifier, Urgency
from core.queue.rounds import take_each
from core.queue.wakeups import Wakeups

DUE = "joint consents"
"""The kind of work that `sql/due.sql` names if there is any."""
CATEGORY = "household"
AGREE = "agree_with"
"""The name of the action in the other person's approval: no tool has it."""
_AT_ONCE = 50
_SHORTEST = 60.0
"""Seconds for which the other person's card is open at least."""


@dataclass(frozen=True, slots=True)
class Settling:
    """The work on all open joint consents. Each step may be repeated."""

    database: Database
    clock: Clock
    wakeups: Wakeups
    approvals: ApprovalStore
    channels: Mapping[str, NotificationChannel]
    notifier: Notifier

    async def once(self) -> None:
        """Take each joint consent as far as it goes now."""
        rows = await self.database.rows("select * from claim_joint($1,$2)", self.clock.now(), _AT_ONCE)
        await take_each(rows, self._take, "joint_consent_failed")

    async def _take(self, due: asyncpg.Record) -> None:
        await self.settle(due["tenant_id"], due["approval_id"])
        await self.database.tenant_rows(
            due["tenant_id"],
            "update joint_consents set attempts = 0, next_attempt_at = clock_timestamp()"
            " where tenant_id = $1 and approval_id = $2",
            due["approval_id"],
        )

    async def settle(self, tenant_id: str, approval_id: str, fault: str = "") -> None:
        """Take one as far as it goes now."""
        row = await self.database.one(
            "select settle_joint($1,$2,$3,$4) as lane", tenant_id, approval_id, fault, self.clock.now()
        )
        if row["lane"]:
            self.wakeups.wake_turn(row["lane"])
        await self._ask(tenant_id, approval_id)
        await self._tell(tenant_id, approval_id)

    async def _ask(self, tenant_id: str, approval_id: str) -> None:
        """Show the other person their card, unless they have it."""
        now = self.clock.now()
        row = await self.database.one(
            "select joint_to_ask($1,$2,$3,$4) as asked", tenant_id, approval_id, sorted(self.channels), now
        )
        asked = row["asked"]
        if asked is None:
            return None
        facts = asked["facts"] or {}
        channel = self.channels.get(facts.get("channel") or "")
        if channel is None:
            return await self.settle(tenant_id, approval_id, "away" if facts else "gone")
        if (end := quiet_end(facts, now)) is not None:
            return await self._wait(tenant_id, approval_id, end)
        who = await self._name(tenant_id)
        shown = await self._card(asked, facts, tenant_id, approval_id, who, now)
        if too_long(shown.message, channel):
            return await self.settle(tenant_id, approval_id, "too_long")
        other, turn_id = asked["other"], f"turn_{shown.approval.id.removeprefix('apr_')}"
        row = await self.database.one(
            "select show_second($1,$2,$3,$4) as told", other, facts["conversation"], turn_id, shown.to_json()
        )
        if row["told"] is None:
            return await self.settle(tenant_id, approval_id, "away")
        noted = await self.database.one("select note_asked($1,$2,$3) as asked", tenant_id, approval_id, who)
        if not noted["asked"]:
            await self._end_second(other, shown.approval.id, "refused")
        self.wakeups.wake_delivery(row["told"])
        return None

    async def _wait(self, tenant_id: str, approval_id: str, end: datetime) -> None:
        """Leave the other person alone until their quiet hours end."""
        await self.database.tenant_rows(
            tenant_id,
            "update joint_consents set ask_at = $3 where tenant_id = $1 and approval_id = $2 and state = 'asking'",
            approval_id,
            end,
        )

    async def _card(
        self, asked: dict[str, Any], facts: dict[str, Any], tenant_id: str, approval_id: str, who: str, now: datetime
    ) -> Card:
        """Return the other person's card: the whole action, who asks, and whose time it is in."""
        other, second = str(asked["other"]), str(asked["second"])
        arguments: JsonObject = {
            "who": who,
            "from": tenant_id,
            "approval": approval_id,
            "action": asked["name"],
            "arguments": asked["arguments"],
            "summary": asked["summary"],
            "seal": asked["seal"],
        }
        with speaking(facts["language"]):
            shown = [(gettext("Asked by"), who), *((label, text) for label, text in asked["shown"])]
            if asked["timezone"] and asked["timezone"] != facts["timezone"]:
                shown.append((gettext("Times are in"), str(asked["timezone"])))
            approval = NewApproval(
                id=second,
                call_id=f"0.1/{AGREE}",
                generation=1,
                name=AGREE,
                summary=card_summary(who, asked["summary"]),
                arguments=arguments,
                rendered=tuple(shown),
                form=read_form(asked["form"]),
                risk=asked["risk"],
                source="trigger",
                code=await self.approvals.issue_code(other, second, now),
                token=for_person(other, new_token()),
                seconds=max(float(asked["seconds"]), _SHORTEST),
                sealed=seal(other, other, AGREE, arguments),
                created_at=now,
                note=card_note(who),
                editable=bool(asked["editable"] and asked["form"]),
            )
            return card(approval, f"out_{second.removeprefix('apr_')}")

    async def _tell(self, tenant_id: str, approval_id: str) -> None:
        """End the other person's request if both have ended, and tell them the result."""
        row = await self.database.one("select joint_news($1,$2) as news", tenant_id, approval_id)
        news = row["news"]
        if news is None or not news["over"]:
            return
        if not news["agreed"]:
            await self._end_second(news["other"], news["second"], news["reason"])
        if text := _for_other(news):
            # The summary is words of the asker, or of others.
            told = Notification(text, CATEGORY, Urgency.NORMAL, f"joint {approval_id}", outside=True)
            await self.notifier.notify(news["other"], told)
        await self.database.one("select note_told($1,$2)", tenant_id, approval_id)

    async def _end_second(self, other: str, second: str, reason: str) -> None:
        await self.database.one("select end_second($1,$2,$3,$4)", other, second, reason, self.clock.now())

    async def _name(self, tenant_id: str) -> str:
        """Return the asker's name as others of the household know them."""
        home = await Households(self.database, self.clock, tenant_id, "").read()
        me = next((one for one in home.people if one.id == tenant_id), None) if home else None
        return name_of(me) if me else gettext("Somebody of your household")


def _for_other(news: dict[str, Any]) -> str:
    """Return the notice to the other person, in their language; empty for none, or if they had no card."""
    if not news.get("code"):
        return ""
    about = (news["from"], news["code"], news["summary"])
    with speaking(news["language"]):
        if news["agreed"]:
            return run_for_other(Outcome(news["ran"]) if news["ran"] else None, *about)
        return end_for_other(news["reason"], *about)
