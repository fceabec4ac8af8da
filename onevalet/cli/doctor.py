"""`doctor`: one table of what is configured, what answers, what came in and went out last, and what to fix."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from asyncpg import PostgresError, Record
from redis.asyncio import Redis
from redis.exceptions import RedisError

from core.credentials.key_rotation import count_data_keys
from core.db.clock_check import MAX_APART
from core.db.database import Database
from core.db.migrate import load_functions, load_migrations
from core.errors import ConfigError, OneValetError
from core.messaging.channels import Check
from core.notifications.delays import DELAYED
from core.queue.worker_health import workers_seen
from core.triggers.store import TaskStore
from onevalet.cli.channels_setup import NoSink
from onevalet.cli.mailbox_checks import check_accounts, check_mailboxes
from onevalet.cli.outside_checks import check_search, outside_checks
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import Reached, reach
from onevalet.dev.simulator_wiring import simulator_config, wire_simulator
from onevalet.settings import Settings
from onevalet.wiring.channels import build_channels
from onevalet.wiring.secret_keys import secret_keys, with_key_file

REPEATED = 2
"""Failures of a part in a row that are shown: a single one may be chance."""
SHOWN = 5
"""How many of each kind are named: tasks that were set aside, messages that could not be delivered."""


async def print_checks(settings: Settings, *, as_json: bool) -> bool:
    """Print the table; return True when nothing needs fixing."""
    checks = await run_checks(settings)
    if as_json:
        say_json([asdict(check) for check in checks])
    else:
        for check in checks:
            mark = "ok " if check.ok else "FIX"
            say(f"{mark}  {check.what:<26} {check.detail}")
            if check.fix:
                say(f"     {'':<26} -> {check.fix}")
    return all(check.ok for check in checks)


async def run_checks(settings: Settings) -> list[Check]:
    """Run all checks; never raise."""
    try:
        reached = reach(settings)
    except ConfigError as error:
        return [
            Check("system", False, "not found", str(error)),
            *await outside_checks(settings),
            *await _channels(settings),
        ]
    if reached.simulator_url:
        # The running `dev` knows its own port, whatever PORT is for this command.
        settings = settings.model_copy(update={"public_url": settings.public_url or reached.gateway_url})
        try:
            config = simulator_config(settings.onevalet_home)
            settings = wire_simulator(settings, config, reached.simulator_url).settings
        except ConfigError as error:
            return [Check("simulator", False, "not as these settings say", f"{error} Then start `dev` again.")]
    database = Database(reached.database_url, patience=3, size=1, name="onevalet doctor")
    try:
        return [
            *await _database(database),
            *await check_set_aside(database),
            *await check_workers(database),
            *await check_mailboxes(database),
            *await check_accounts(database),
            await _redis(reached),
            *await outside_checks(settings),
            *check_search(settings),
            await _secret_keys(settings, database),
            *await _channels(settings, database),
            *await _last_seen(database),
        ]
    finally:
        await database.close()


async def _database(database: Database) -> list[Check]:
    try:
        row = await database.call("select max(number) as newest from schema_migrations")
        functions = await database.rows("select name, checksum from schema_functions")
        work = await database.call("select * from count_work()")
        lost = await database.call("select * from count_lost_answers(interval '7 days')")
        given_up = await database.call("select * from count_given_up(interval '7 days')")
        delayed = await database.rows("select * from count_delayed($1)", DELAYED)
        trouble = await database.rows("select * from find_trouble($1)", SHOWN)
        user = await database.call("select rolsuper or rolbypassrls as free from pg_roles where rolname = session_user")
    except OneValetError:
        return [Check("database", False, "does not answer", "start Postgres, or correct DATABASE_URL")]
    except Exception as error:  # whatever an incomplete database answers is shown, not raised
        return [Check("database", False, type(error).__name__, "run `bin/onevalet migrate`")]
    known = load_migrations()[-1].number
    newest = row["newest"] if row else 0
    same = {row["name"]: row["checksum"] for row in functions} == {
        file.name: file.checksum for file in load_functions()
    }
    current = newest == known and same
    checks = [
        Check(
            "database",
            current,
            f"answers; migration {newest} of {known}{'' if same else ', functions of another version'}",
            "" if current else "run `bin/onevalet migrate`",
        )
    ]
    if user and user["free"]:
        todo = "let `web` and `worker` log in as one that may only act as onevalet_app: see docs/deploy.md"
        checks.append(Check("database user", True, "a superuser, or one past row-level security", todo))
    if work:
        waiting = (
            f"{work['waiting_messages']} waiting, {work['running_turns']} running, {work['open_outbound']} to send"
        )
        checks.append(Check("work", True, waiting))
        checks.append(_trouble(work, trouble))
    checks += await _writes(database)
    checks += await _texts(database)
    if lost:
        detail = (
            f"{lost['lost']} in 7 days: {lost['found']} found by look-up, {lost['told']} told by the provider,"
            f" {lost['resent']} sent again, {lost['left_alone']} left, {lost['still_open']} open"
        )
        checks.append(Check("sends without an answer", True, detail))
    if given_up:
        detail = f"{given_up['given_up']} in 7 days, {given_up['told']} of them told with a later message"
        checks.append(Check("given up", True, detail))
    return checks + [_delayed(row) for row in delayed]


def _trouble(work: Record, found: Sequence[Record]) -> Check:
    """Return a check that names what went wrong for good, by ids that `trace` explains."""
    parts = []
    for kind, words in {"ambiguous": "ambiguous", "failed": "not deliverable", "poison": "set aside"}.items():
        ids = [str(row["id"]) for row in found if row["kind"] == kind]
        more = " …" if work[kind] > len(ids) else ""
        parts.append(f"{work[kind]} {words}{f' ({", ".join(ids)}{more})' if ids else ''}")
    return Check("trouble", True, ", ".join(parts), "see `trace ID` for each" if found else "")


def _delayed(row: Record) -> Check:
    """Return a check about an account that has been unable to deliver for long."""
    detail = (
        f"answers in {row['conversations']} conversation(s) wait since {_moment(row['since'])}"
        f" ({row['reasons'] or 'no reason given'}); next try {_moment(row['next_try'])}"
    )
    fix = "see whether the provider is away or limits us; it is tried by itself, for a day"
    return Check(f"{row['channel']}: delayed", False, detail, fix)


async def check_set_aside(database: Database) -> list[Check]:
    """Check for work that an unforeseen error set aside and that can be retried."""
    try:
        count = await database.call("select * from count_set_aside()")
        tasks = await TaskStore(database).find_set_aside(SHOWN)
    except (OneValetError, PostgresError):
        return []  # the database's own check says so
    if count is None or not any(count.values()):
        return []
    parts = [f"{count['tasks']} tasks", f"{count['notices']} notices", f"{count['events']} events"]
    named = "; ".join(f"task {task.number} of {task.tenant_id} ({task.cause})" for task in tasks)
    detail = ", ".join(parts) + (f": {named}{' …' if count['tasks'] > len(tasks) else ''}" if named else "")
    fixes = ["`tasks retry`"] if count["tasks"] or count["notices"] else []
    fixes += ["`events list --set-aside` and `events retry`"] if count["events"] else []
    return [Check("set aside", False, detail, f"see the log for each, then {', '.join(fixes)}")]


async def check_workers(database: Database) -> list[Check]:
    """Check what each worker reported about itself."""
    try:
        seen = await workers_seen(database)
    except (OneValetError, PostgresError):
        return []  # the database's own check says so
    checks = [Check("workers", True, f"{len(seen)} seen in the last minute")]
    for worker in seen:
        name = worker.worker.split("/")[0]
        if worker.ahead is not None and abs(worker.ahead) > MAX_APART:
            direction = "ahead of" if worker.ahead > 0 else "behind"
            detail = f"{abs(worker.ahead):,.0f} s {direction} Postgres': nothing that time decides is done there"
            checks.append(Check(f"clock of {name}", False, detail, "set the time of that machine, by NTP for example"))
        for part in worker.failing:
            if int(str(part["failures"])) >= REPEATED:
                detail = f"{part['part']}: failed {part['failures']} times in a row, last with {part['cause']}"
                checks.append(Check(f"part of {name}", False, detail, "look for worker_part_failed in its log"))
    return checks


async def _texts(database: Database) -> list[Check]:
    """Check whether messages were not sent because the day's segments for all people are used up."""
    try:
        row = await database.call(
            "select segments, refused from segments_of_all where day = (clock_timestamp() at time zone 'UTC')::date"
        )
    except OneValetError:
        return []
    if row is None:
        return []
    left_out = row["refused"]
    detail = f"{row['segments']} segments for all people today, {left_out} messages not sent for their limit"
    return [Check("texts", not left_out, detail, "raise ONEVALET_SMS_SEGMENTS_ALL_DAY" if left_out else "")]


async def _writes(database: Database) -> list[Check]:
    """Check whether the database accepts writes (it may be full or read-only), and what it has refused."""
    try:
        await database.call("select probe_write()")
        refused = await database.call("select * from count_refused()")
    except OneValetError as error:
        todo = "make room on its disk, or end its read-only mode"
        return [Check("database writes", False, f"refused ({error})", todo)]
    if refused is None or not any(refused.values()):
        return [Check("database writes", True, "taken")]
    detail = f"{refused['memory_jobs']} of memory's jobs, {refused['redraws']} cards that could not be redrawn"
    todo = "the log says why: memory_job_set_aside, redraw_set_aside"
    return [Check("database writes", True, "taken"), Check("not tried any more", True, detail, todo)]


async def _redis(reached: Reached) -> Check:
    if not reached.redis_url:
        return Check("redis", False, "REDIS_URL is not set", "set REDIS_URL")
    try:
        async with Redis.from_url(reached.redis_url, socket_timeout=3, socket_connect_timeout=3) as redis:
            await redis.ping()
            aof = await redis.config_get("appendonly")
    except (RedisError, OSError) as error:
        return Check("redis", False, f"does not answer ({type(error).__name__})", "start it, or correct REDIS_URL")
    kept = aof.get("appendonly") == "yes"
    return Check("redis", True, "answers", "" if kept else "turn its AOF on: a restart then delays nothing")


async def _secret_keys(settings: Settings, database: Database) -> Check:
    """Check whether every data key is wrapped with a secret key that is configured."""
    name = "secret keys"
    try:
        keys = secret_keys(with_key_file(settings, make=False))
    except (ConfigError, ValueError) as error:
        return Check(name, False, "cannot be used", str(error))
    try:
        under = await count_data_keys(database, keys)
    except (OneValetError, PostgresError) as error:
        return Check(name, False, f"cannot be told ({type(error).__name__})", "see the database above")
    detail = f"{under.newest} people's keys under the newest, {under.older} under older ones"
    if under.unopened:
        lost = f"{detail}, {under.unopened} under keys that are missing or do not open them"
        return Check(name, False, lost, "put the missing key back into ONEVALET_SECRET_KEYS")
    return Check(name, True, detail, "run `bin/onevalet keys rotate`" if under.older else "")


async def _channels(settings: Settings, database: Database | None = None) -> list[Check]:
    checks = [Check("sms", True, "on" if settings.sms_on else "off")]
    for channel in build_channels(settings, NoSink(), database):
        checks += [replace(check, what=f"{channel.name}: {check.what}") for check in await channel.check()]
        await channel.stop()
    return checks


async def _last_seen(database: Database) -> list[Check]:
    try:
        rows = await database.rows("select * from channel_state order by channel, account")
    except OneValetError:
        return []
    return [
        Check(
            f"{row['channel']} {row['account']}",
            True,
            f"last in {_moment(row['last_in_at'])}, last out {_moment(row['last_out_at'])}",
        )
        for row in rows
    ]


def _moment(value: object) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S} UTC" if value else "never"
