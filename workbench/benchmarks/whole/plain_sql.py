"""The floor of a durable message in Postgres: the rows that claims, history and outbox need, by plain statements.

There are no functions, keys to other rows, triggers and row-level security, and one warm connection commits five times
a message with tools, four times a plain one: the message, its turn, the tools, the answer with its delivery begun, and
the receipt.
"""

import itertools
from dataclasses import dataclass

import asyncpg
import psutil

from workbench.benchmarks.cpu import cpu_of

_TABLES = """
create schema if not exists plain_sql;
create table plain_sql.inbound (id bigint primary key, person bigint, text text, turn bigint, state text,
    at timestamptz default clock_timestamp());
create table plain_sql.turns (id bigint primary key, person bigint, state text, usage jsonb, fence bigint,
    at timestamptz default clock_timestamp());
create table plain_sql.steps (turn bigint, step int, kind text, result jsonb, primary key (turn, step));
create table plain_sql.history (person bigint, position bigint, turn bigint, message jsonb,
    primary key (person, position));
create table plain_sql.outbound (id bigint primary key, person bigint, text text, state text, provider_id text,
    at timestamptz default clock_timestamp());
"""
_RECEIVE = "insert into plain_sql.inbound (id, person, text, state) values ($1, $2, $3, 'waiting')"
_BEGIN = """
with taken as (update plain_sql.inbound set state = 'taken', turn = $1 where id = $1)
insert into plain_sql.turns (id, person, state, fence) values ($1, $2, 'running', $1)
"""
_STEPS = """
insert into plain_sql.steps select $1, n, case n when 1 then 'model' else 'tool' end, $2 from generate_series(1, 3) n
"""
_END = """
with turn as (update plain_sql.turns set state = 'done', usage = '{"input_tokens": 400, "output_tokens": 40}'
              where id = $1),
message as (update plain_sql.inbound set state = 'done' where id = $1),
said as (insert into plain_sql.history select $2, $1 * 4 + n, $1, $3 from generate_series(1, $4::int) n)
insert into plain_sql.outbound (id, person, text, state) values ($1, $2, $5, 'sending')
"""
_RECEIPT = "update plain_sql.outbound set state = 'sent', provider_id = 'SM' || $1 where id = $1"
_TEXT = "Remind me to water the plants tomorrow at nine, and tell me what the weather will be."
_RESULT = '{"content": "", "calls": [{"id": "c1", "name": "calculate", "arguments": {"expression": "1 + 2"}}]}'
_SAID = f'{{"role": "user", "text": "{_TEXT}"}}'


@dataclass(slots=True)
class PlainSql:
    """A warm connection to the measured Postgres, and the messages so far."""

    connection: "asyncpg.Connection[asyncpg.Record]"
    backend: psutil.Process
    numbers: "itertools.count[int]"

    @classmethod
    async def of(cls, connection: "asyncpg.Connection[asyncpg.Record]") -> "PlainSql":
        """Make the tables."""
        await connection.execute(_TABLES)
        return cls(connection, psutil.Process(await connection.fetchval("select pg_backend_pid()")), itertools.count(1))

    async def run(self, messages: int, *, tools: bool) -> tuple[float, float]:
        """Return the ms of CPU and the kB of WAL of a message."""
        cpu, wal = cpu_of(self.backend), await wal_written(self.connection)
        for _ in range(messages):
            await self._message(next(self.numbers), tools=tools)
        wal = await wal_written(self.connection) - wal
        return (cpu_of(self.backend) - cpu) / messages * 1000, wal / messages / 1000

    async def _message(self, number: int, *, tools: bool) -> None:
        person, execute = number % 8, self.connection.execute
        await execute(_RECEIVE, number, person, _TEXT)
        await execute(_BEGIN, number, person)
        if tools:
            await execute(_STEPS, number, _RESULT)
        await execute(_END, number, person, _SAID, 4 if tools else 2, _TEXT)
        await execute(_RECEIPT, number)


async def wal_written(connection: "asyncpg.Connection[asyncpg.Record]") -> int:
    """Return how many bytes of WAL have been written so far."""
    return int(await connection.fetchval("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"))
