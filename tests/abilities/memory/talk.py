"""A person who writes, and an assistant that answers, with everything that this leaves in the database."""

from abilities.memory.momex import Momex
from core.llm.types import ChatMessage, Role, ToolCall
from tests.core.harness import Store

CANARY = "Quixotania"
"""A word that stands nowhere else."""


class Talk:
    """A person who writes, and an assistant that answers, with everything that this leaves in the database."""

    def __init__(self, store: Store, momex: Momex) -> None:
        self.store = store
        self.momex = momex
        self.tenant_id = ""

    async def turn(self, text: str, reply: str, act: str = "", what: str = CANARY) -> None:
        """Say something, have it answered and delivered, and let memory's job run. `act`: what a tool does in it."""
        await self.store.say(text)
        lease, turn = await self.store.claim_turn()
        self.tenant_id = lease.tenant_id
        memory = self.momex.for_tenant(lease.tenant_id, turn.turn_id)
        call = ToolCall("c1", "look", '{"what": "' + text.replace('"', "") + '"}')
        await self.store.database.call(
            "select record_step($1,$2,$3,$4,jsonb_build_object('agent_path', '', 'step', 0,"
            " 'call_index', 0, 'kind', 'model', 'name', 'm', 'args_hash', '', 'effect', 'read', 'state', 'done',"
            " 'outcome', 'ok', 'idempotency_key', '', 'result', $5::jsonb, 'usage', '{}'::jsonb, 'duration_ms', 1))",
            lease.tenant_id, lease.lane_id, lease.fence, turn.turn_id,
            ChatMessage(Role.ASSISTANT, reply, (call,)).to_json(),
        )  # fmt: skip
        if act == "ask":
            assert await memory.ask_to_forget(what)
            assert await memory.forget() == 0, "nobody has agreed yet"
        if act == "forget":
            assert await memory.forget() > 0
        assert not await self.store.finish(lease, turn, reply)
        await self.store.send(await self.store.claim_sending(reply))
        await self.work()

    async def work(self) -> None:
        """Do every job of memory that waits."""
        while job := await self.momex.work.claim(None, "w"):
            await self.momex.work.run(job)

    async def dump(self) -> dict[str, str]:
        """Return the tables in which the word stands, with their rows as text."""
        tables = await self.store.column("select tablename::text from pg_tables where schemaname = 'public'")
        contents = {
            str(t): str(await self.store.one(f"select string_agg(x::text, ' ') from {t} x where x::text ~* $1", CANARY))  # noqa: S608
            for t in tables
        }
        return {table: rows for table, rows in contents.items() if rows != "None"}
