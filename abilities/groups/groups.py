"""A person's word about groups, as the installation's owner, and the way between a group and a member's own chat."""

import hashlib
from dataclasses import dataclass
from typing import cast

from abilities.groups import sentences
from core.db.database import Database
from core.json_types import JsonObject
from core.language.catalogue import gettext
from core.queue.wakeups import Wakeups


@dataclass(frozen=True, slots=True)
class Groups:
    """A turn's acts on groups. Each may be repeated with the same answer."""

    database: Database
    wakeups: Wakeups
    tenant_id: str
    turn_id: str

    async def all(self) -> list[JsonObject] | None:
        """Return the groups, for an owner of the installation; None for anybody else."""
        row = await self.database.one("select list_groups($1) as found", self.tenant_id)
        return cast("list[JsonObject] | None", row["found"])

    async def allow(self, group_id: str, *, allow: bool) -> JsonObject | None:
        """Allow a group or forbid it, by an owner's word; return it as it is then, None for anybody else."""
        told = {
            "on": sentences.in_all(lambda: gettext(sentences.ON)),
            "off": sentences.in_all(lambda: gettext(sentences.OFF)),
        }
        done = await self._deed("allow_group($1,$2,$3,$4,$5)", group_id, allow, told, self._id("allow"))
        return cast(JsonObject, done["group"]) if done else None

    async def ask_in_own_chat(self, name: str) -> JsonObject:
        """Hand a member's words of this turn to their own assistant: {outcome, name}."""
        new = {part: self._id(f"{part} {name}") for part in ("inbound", "outbound", "conversation")}
        told = sentences.in_all(sentences.from_group)
        return await self._deed("ask_in_own_chat($1,$2,$3,$4,$5)", self.turn_id, name, new, told) or {}

    async def say(self, title: str, text: str, key: str) -> JsonObject:
        """Say a text in the group that asked this conversation last: {outcome, title}."""
        return await self._deed("say_in_group($1,$2,$3,$4,$5)", self.turn_id, title, text, self._id(key)) or {}

    async def thread(self) -> str | None:
        """Return the topic or thread of this turn, empty outside of any; None if it is no group's."""
        row = await self.database.one("select group_thread($1,$2) as thread", self.tenant_id, self.turn_id)
        return cast("str | None", row["thread"])

    async def remind(self, thread: str, text: str) -> JsonObject:
        """Say this run's reminder in the group, in a topic or thread: {outcome}."""
        return await self._deed("remind_there($1,$2,$3,$4)", thread, text, self._id("reminder")) or {}

    async def _deed(self, call: str, *given: object) -> JsonObject | None:
        row = await self.database.one(f"select {call} as done", self.tenant_id, *given)
        done = cast("JsonObject | None", row["done"])
        if done and done.get("lane"):
            self.wakeups.wake_turn(str(done["lane"]))
        if done and done.get("conversation"):
            self.wakeups.wake_delivery(str(done["conversation"]))
        return done

    def _id(self, what: str) -> str:
        digest = hashlib.sha256(f"{self.tenant_id} {self.turn_id} {what}".encode()).hexdigest()
        return f"grp_{digest[:26]}"
