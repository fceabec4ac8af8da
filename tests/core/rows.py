"""The rows of the database by the names of their tables, over all tenants, for tests that look at them."""

from collections.abc import Mapping

import asyncpg


class Table:
    """The rows of a table. Arguments by name are columns with the values that rows must have to be meant."""

    def __init__(self, admin: "asyncpg.Connection[asyncpg.Record]", name: str) -> None:
        self._admin = admin
        self._name = name

    async def count(self, **equal: object) -> int:
        """Return the number of rows."""
        statement = f"select count(*) from {self._name}{_where(equal)}"  # noqa: S608
        return int(await self._admin.fetchval(statement, *equal.values()))

    async def one(self, column: str, /, **equal: object) -> object:
        """Return a column of the row, of whichever comes first if there are several; None without a row."""
        statement = f"select {column} from {self._name}{_where(equal)}"  # noqa: S608
        return await self._admin.fetchval(statement, *equal.values())

    async def column(self, column: str, /, *, order: str = "", **equal: object) -> list[object]:
        """Return a column of all rows. `order`: the columns by which they are sorted."""
        by = f" order by {order}" if order else ""
        statement = f"select {column} from {self._name}{_where(equal)}{by}"  # noqa: S608
        return [row[0] for row in await self._admin.fetch(statement, *equal.values())]

    async def change(self, new: Mapping[str, object], /, **equal: object) -> None:
        """Set columns."""
        changes = ", ".join(f"{column} = ${number}" for number, column in enumerate(new, 1))
        statement = f"update {self._name} set {changes}{_where(equal, len(new) + 1)}"  # noqa: S608
        await self._admin.execute(statement, *new.values(), *equal.values())

    async def add(self, **values: object) -> None:
        """Add a row."""
        places = ", ".join(f"${number}" for number in range(1, len(values) + 1))
        statement = f"insert into {self._name} ({', '.join(values)}) values ({places})"  # noqa: S608
        await self._admin.execute(statement, *values.values())

    async def delete(self, **equal: object) -> None:
        """Delete rows."""
        await self._admin.execute(f"delete from {self._name}{_where(equal)}", *equal.values())  # noqa: S608


class Rows:
    """The tables that tests look at."""

    approval_audit: Table
    approval_cards: Table
    approvals: Table
    channel_state: Table
    client_tokens: Table
    connect_links: Table
    consent_uses: Table
    consents: Table
    console_actions: Table
    console_looks: Table
    conversations: Table
    credentials: Table
    deletions: Table
    deliveries: Table
    event_sources: Table
    event_work: Table
    events: Table
    export_links: Table
    file_deletions: Table
    files: Table
    followup_choices: Table
    followups: Table
    guesses: Table
    halt_words: Table
    halts: Table
    history: Table
    household_deeds: Table
    household_invitations: Table
    household_limits: Table
    household_members: Table
    household_news: Table
    identities: Table
    ignored_messages: Table
    inbound: Table
    inbox_keys: Table
    lanes: Table
    link_codes: Table
    links: Table
    mail_watches: Table
    memories: Table
    memory_forgettings: Table
    memory_jobs: Table
    memory_members: Table
    memory_versions: Table
    message_words: Table
    notifications: Table
    outbound: Table
    outbound_parts: Table
    pairings: Table
    person_audit: Table
    pool_entries: Table
    profile_facts: Table
    profile_jobs: Table
    prompts: Table
    questions: Table
    recipients: Table
    redraws: Table
    reminder_permits: Table
    reminder_wishes: Table
    reservations: Table
    run_notices: Table
    segment_days: Table
    segments_of_all: Table
    spending: Table
    standing_consents: Table
    steps: Table
    stored_values: Table
    task_runs: Table
    tasks: Table
    tenants: Table
    turns: Table
    undo_records: Table
    usage_days: Table
    usage_totals: Table
    worker_health: Table

    def __init__(self, admin: "asyncpg.Connection[asyncpg.Record]") -> None:
        for name in Rows.__annotations__:
            setattr(self, name, Table(admin, name))

    async def person(self, user_key: str = "") -> str:
        """Return the id of the person with an address, or of the only person."""
        if not user_key:
            return str(await self.tenants.one("tenant_id"))
        return str(await self.identities.one("tenant_id", user_key=user_key))


def _where(equal: Mapping[str, object], first: int = 1) -> str:
    conditions = [f"{column} = ${number}" for number, column in enumerate(equal, first)]
    return f" where {' and '.join(conditions)}" if conditions else ""
