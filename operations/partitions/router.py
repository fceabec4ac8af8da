"""The router before people's partitions: a Postgres with PL/Proxy that leads each call of the way in to its person.

It has none of our tables. Each function of the way in is there under its own name, and calls the function of that name
in a partition, by `ROUTES`: that with which an id or a token begins, or that of the address that wrote. PL/Proxy wants
a power of two of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from core.db.serving import ROLE

SQL = Path(__file__).with_name("router.sql")

_ADDRESS = "partition_at(p_channel, p_account, p_user_key)"
_ARRIVAL = "partition_at_arrival(p_arrival)"
_TENANT = "partition_of(p_tenant)"
_POLLED = "0"
"""Who holds an account's poll or sweep is written down once, for all partitions."""
NOWHERE = ""
"""The call is nobody's in particular, and its rows can be in several partitions: it returns no row."""

ROUTES: dict[str, str] = {
    "word_facts": _ARRIVAL,
    "receive_exact": _ARRIVAL,
    "press_facts": _ARRIVAL,
    "receive_press": _ARRIVAL,
    "reacted_message": _ARRIVAL,
    "receive_reaction": _ARRIVAL,
    "amendment_facts": _ARRIVAL,
    "receive_amendment": _ARRIVAL,
    "receive_deletion": _ARRIVAL,
    "note_brought": _ARRIVAL,
    "receive_choice": _ARRIVAL,
    "meet_stranger": _ARRIVAL,
    "tell_stranger": _ARRIVAL,
    "take_answer": _ARRIVAL,
    "say_once": _ARRIVAL,
    "change_reachability": _ARRIVAL,
    "find_identity": _ADDRESS,
    "form_sent": _ADDRESS,
    "language_at": _ADDRESS,
    "note_sender": _ADDRESS,
    "note_sender_language": _ADDRESS,
    "change_address": "partition_at(p_channel, p_account, p_old)",
    # An ignored message may have an unknown sender: a repeat of it has the same keys.
    "ignore_message": "partition_by(p_keys[1])",
    "refuse_overload": _TENANT,
    "tell_overload": _TENANT,
    "publish_event": _TENANT,
    "publish_source_event": _TENANT,
    "planned_work": _TENANT,
    "apply_status": "partition_of(p_ref)",
    "mark_gone": "partition_of(p_ref)",
    "find_event_source": "partition_of(p_source)",
    # The members of a group can be in different partitions: groups are off.
    "take_in_group": NOWHERE,
    "event_source_keys": "all",
    "claim_poll": _POLLED,
    "keep_poll": _POLLED,
    "look_at_poll": _POLLED,
    "release_poll": _POLLED,
    "claim_catch_up": _POLLED,
    "keep_catch_up": _POLLED,
    "end_catch_up": _POLLED,
    "leave_catch_up": _POLLED,
}
"""The partition of each function: an expression over its arguments, all partitions, or none."""

OWN = frozenset({"receive_messages", "link_stranger", "note_link_of_stranger"})
"""The router's own functions, in router.sql, and functions that are not called once those exist."""

_SIGNATURE = """
select pg_get_function_arguments(p.oid) as arguments, pg_get_function_result(p.oid) as result, p.proretset as many,
       p.prorettype = 'void'::regtype as nothing, 'o' = any (a.modes) as has_out,
       array(select n from unnest(p.proargnames, a.modes) x(n, m) where m = 'i') as names,
       array(select n from unnest(p.proargnames, a.modes) x(n, m) where m = 'o') as outs
from pg_proc p, lateral (
    select coalesce(p.proargmodes::text[], array_fill('i'::text, array[cardinality(p.proargnames)])) as modes) a
where p.pronamespace = 'public'::regnamespace and p.proname = $1
"""


@dataclass(frozen=True, slots=True)
class Login:
    """Who asks every partition."""

    name: str
    password: str


async def make_router(router: str, partitions: Sequence[str], login: Login) -> None:
    """Make an empty database the router of partitions, whose functions are read from the first.

    `router` and `partitions` are addresses of superusers. `login` serves in every partition, and has its role from the
    server (`alter role … set role`).
    """
    if len(partitions) & (len(partitions) - 1):
        raise ValueError("PL/Proxy wants a power of two of partitions")
    connection, first = await asyncpg.connect(router), await asyncpg.connect(partitions[0])
    try:
        async with connection.transaction():
            await connection.execute("create extension plproxy; create table partitions (number int primary key)")
            numbers = [(number,) for number in range(len(partitions))]
            await connection.executemany("insert into partitions (number) values ($1)", numbers)
            await connection.execute(_server(partitions, login))
            await connection.execute(SQL.read_text(encoding="utf-8"))
            for name, route in ROUTES.items():
                (signature,) = await first.fetch(_SIGNATURE, name)
                await connection.execute(_wrapper(name, route, signature))
            await connection.execute(
                f"grant usage on schema routed to {ROLE}; grant usage on foreign server people to {ROLE};"
                f" grant select on all tables in schema public to {ROLE}"
            )
    finally:
        await first.close()
        await connection.close()


def _server(partitions: Sequence[str], login: Login) -> str:
    """Return the statements that name the partitions, and who asks them: the serving role, which may be there."""
    places = [urlsplit(url) for url in partitions]
    hosts = [f"host={place.hostname} port={place.port} dbname={place.path.lstrip('/')}" for place in places]
    options = ", ".join(f"p{number} {_quoted(f'{host} connect_timeout=2')}" for number, host in enumerate(hosts))
    return (
        f"do $$ begin create role {ROLE} nologin; exception when duplicate_object then null; end $$;"
        f" create server people foreign data wrapper plproxy options ({options});"
        f" create user mapping for {ROLE} server people"
        f" options (user {_quoted(login.name)}, password {_quoted(login.password)})"
    )


def _wrapper(name: str, route: str, signature: asyncpg.Record) -> str:
    """Return the statements that create a receiving function: the call by PL/Proxy, and its form for callers."""
    names = ", ".join(signature["names"])
    result = f" returns {signature['result']}" if not signature["has_out"] or signature["many"] else ""
    head = f"{name}({signature['arguments']}){result}"
    if route == NOWHERE:
        return f"create function public.{head} language plpgsql as $$ begin end $$"
    if signature["many"]:
        body = f"return query select * from routed.{name}({names});"  # noqa: S608 - names of ours
    elif signature["nothing"]:
        body = f"perform routed.{name}({names});"
    elif signature["has_out"]:
        body = f"select * into {', '.join(signature['outs'])} from routed.{name}({names});"  # noqa: S608 - names of ours
    else:
        body = f"return routed.{name}({names});"
    return (
        f"create function routed.{head} language plproxy as"
        f" $$ cluster 'people'; run on {route}; target public.{name}; $$;"
        f" create function public.{head} language plpgsql as $$ begin {body}"
        " exception when others then perform raise_again(sqlerrm, sqlstate); end $$"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
