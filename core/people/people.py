"""A person's preferences and profile, for tools and turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.clock import Clock
from core.db.database import Database
from core.errors import ToolRetry
from core.ids import IdMaker
from core.language.catalogue import gettext
from core.people.preference_changes import PreferenceChange, change_preference, take_back_preference
from core.people.preferences import PreferenceRefused, PreferenceStore, written
from core.people.profile import MAX_VALUE, FactSource, FactTakenBack, ProfileStore, fact_lines, written_facts
from core.people.regions import region_of
from core.people.waiting import WaitingNote, read_waiting

_OWN_WORDS = """
select i.text, i.heard from turns t
join inbound i on i.tenant_id = t.tenant_id and i.conversation_id = t.conversation_id
where t.tenant_id = $1 and t.id = $2 and i.origin = 'own' order by i.seq desc limit 300
"""


class People:
    """Everybody's preferences and profiles; each call names the person."""

    def __init__(
        self, database: Database, make_id: IdMaker, clock: Clock, idle: Mapping[str, str] | None = None
    ) -> None:
        self.database = database
        self.preferences = PreferenceStore(database, idle)
        self.profile = ProfileStore(database, make_id)
        self.clock = clock

    def for_turn(self, tenant_id: str, turn_id: str) -> "Person":
        return Person(self, tenant_id, turn_id)

    async def known(self, tenant_id: str) -> Sequence[str]:
        return fact_lines(await self.profile.read(tenant_id))


@dataclass(frozen=True, slots=True)
class Person:
    """A person, as tools see them. Implements `core.tools.context.PersonAccess`."""

    people: People
    tenant_id: str
    turn_id: str

    async def preferences(self) -> str:
        return written(await self.people.preferences.read(self.tenant_id))

    async def prefer(self, name: str, value: str) -> str:
        try:
            return written(await self.people.preferences.set(self.tenant_id, name, value, self.turn_id))
        except PreferenceRefused as error:
            raise ToolRetry(str(error)) from error

    async def change(self, name: str, value: str, key: str) -> PreferenceChange:
        try:
            return await change_preference(self.people.preferences, self.tenant_id, name, value, self.turn_id, key)
        except PreferenceRefused as error:
            raise ToolRetry(str(error)) from error

    async def change_back(self, name: str, before: Mapping[str, str], after: Mapping[str, str]) -> str | None:
        store = self.people.preferences
        return await take_back_preference(store, self.tenant_id, name, before, after, self.turn_id)

    async def needs_timezone(self) -> bool:
        return await self.people.preferences.needs_timezone(self.tenant_id)

    async def own_words(self) -> Sequence[str]:
        rows = await self.people.database.tenant_rows(self.tenant_id, _OWN_WORDS, self.turn_id)
        return [f"{row['text']}\n{row['heard']}".strip() for row in rows]

    async def region(self) -> str | None:
        row = await self.people.database.tenant_row(
            self.tenant_id,
            "select t.timezone, t.language, array(select i.user_key from identities i where i.tenant_id = t.tenant_id"
            " and i.channel = 'sms' and i.admitted <> '' order by i.created_at) as numbers"
            " from tenants t where t.tenant_id = $1",
        )
        return region_of(row["numbers"], row["timezone"], row["language"]) if row else None

    async def waiting(self) -> Sequence[WaitingNote]:
        return await read_waiting(self.people.database, self.tenant_id, self.people.clock.now())

    async def profile(self) -> str:
        return written_facts(await self.people.profile.read(self.tenant_id))

    async def learn(self, key: str, value: str) -> str:
        key = "_".join(key.lower().split())
        value = " ".join(value.split())
        if not value or len(value) > MAX_VALUE:
            raise ToolRetry(f"A fact has 1 to {MAX_VALUE} characters.")
        now = self.people.clock.now()
        number = await self.people.profile.keep(self.tenant_id, key, value, FactSource.TOLD, self.turn_id, now)
        if not number:
            return gettext("That was known already.")
        return gettext("Kept as number {number}: {key}: {value}", number=number, key=key, value=value)

    async def fact(self, number: int) -> str:
        found = [fact for fact in await self.people.profile.read(self.tenant_id) if fact.number == number]
        return f"{found[0].key.replace('_', ' ')}: {found[0].value}" if found else ""

    async def relearn(self, number: int) -> bool:
        return await self.people.profile.restore(self.tenant_id, number)

    async def unlearn(self, number: int, key: str) -> FactTakenBack:
        undone = await self.people.profile.undo(self.tenant_id, number, self.people.clock.now(), key)
        if undone is None:
            return FactTakenBack("", gettext("There is no fact {number} now.", number=number))
        fact = f"{undone.key.replace('_', ' ')}: {undone.value}"
        taken_back = gettext("Taken back: {key}: {value}.", key=undone.key, value=undone.value)
        if not undone.before:
            return FactTakenBack(fact, taken_back)
        return FactTakenBack(fact, f"{taken_back} {gettext('This counts again: {value}.', value=undone.before)}")
