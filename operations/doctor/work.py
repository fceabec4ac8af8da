"""Backlog, failures and workers, as the database has them; the console's health page shows the same."""

from collections.abc import Sequence

from asyncpg import Record

from core.db.database import Database
from core.language.counted import counted
from core.messaging.channels import Check
from notify.delays import DELAYED
from operations.worker_checks import worker_checks
from operations.worker_health import workers_seen

SHOWN = 5
"""Number of undeliverable messages of each kind that are named."""


async def check_work(database: Database) -> Sequence[Check]:
    """Check the backlog, and name permanent failures."""
    work = await database.one("select * from count_work()")
    waiting = f"{work['waiting_messages']} waiting, {work['running_turns']} running, {work['open_outbound']} to send"
    trouble = await database.rows("select * from find_trouble($1)", SHOWN)
    return [Check("work", True, waiting), _trouble(work, trouble)]


async def check_answers(database: Database) -> Sequence[Check]:
    """Check the outcomes of sends without an answer, and count the messages that were given up."""
    lost = await database.one("select * from count_lost_answers(interval '7 days')")
    given_up = await database.one("select * from count_given_up(interval '7 days')")
    detail = (
        f"{lost['lost']} in 7 days: {lost['found']} found by look-up, {lost['told']} told by the provider,"
        f" {lost['resent']} sent again, {lost['left_alone']} left, {lost['still_open']} open"
    )
    later = f"{given_up['given_up']} in 7 days, {given_up['told']} of them told with a later message"
    return [Check("sends without an answer", True, detail), Check("given up", True, later)]


async def check_delays(database: Database) -> Sequence[Check]:
    """Check for accounts that have been unable to deliver for long."""
    return [_delayed(row) for row in await database.rows("select * from count_delayed($1)", DELAYED)]


async def check_workers(database: Database) -> Sequence[Check]:
    """Check each worker's report about itself."""
    seen = await workers_seen(database)
    checks = [Check("workers", True, f"{len(seen)} seen in the last minute")]
    return checks + [check for worker in seen for check in worker_checks(worker)]


async def check_texts(database: Database) -> Sequence[Check]:
    """Check whether messages were not sent because the day's segments for all people are used up."""
    row = await database.call(
        "select segments, refused from segments_of_all where day = (clock_timestamp() at time zone 'UTC')::date"
    )
    if row is None:
        return []
    left_out = row["refused"]
    used = counted(row["segments"], "segment")
    detail = f"{used} for all people today, {counted(left_out, 'message')} not sent for their limit"
    return [Check("texts", not left_out, detail, "raise ONEVALET_SMS_SEGMENTS_PERSON_DAY" if left_out else "")]


async def check_last_seen(database: Database) -> Sequence[Check]:
    """Show when each account last received a message, and when it last sent one."""
    rows = await database.rows("select * from channel_state order by channel, account")
    return [
        Check(
            f"{row['channel']} {row['account']}",
            True,
            f"last in {_moment(row['last_in_at'])}, last out {_moment(row['last_out_at'])}",
        )
        for row in rows
    ]


def _trouble(work: Record, found: Sequence[Record]) -> Check:
    """Return a check that names permanent failures, by ids that `trace` explains."""
    parts = []
    for kind, words in {"ambiguous": "ambiguous", "failed": "not deliverable", "poison": "set aside"}.items():
        ids = [str(row["id"]) for row in found if row["kind"] == kind]
        more = " …" if work[kind] > len(ids) else ""
        parts.append(f"{work[kind]} {words}{f' ({", ".join(ids)}{more})' if ids else ''}")
    return Check("trouble", True, ", ".join(parts), "see `trace ID` for each" if found else "")


def _delayed(row: Record) -> Check:
    detail = (
        f"answers in {row['conversations']} conversation(s) wait since {_moment(row['since'])}"
        f" ({row['reasons'] or 'no reason given'}); next try {_moment(row['next_try'])}"
    )
    fix = "see whether the provider is away or limits us; it is tried by itself, for a day"
    return Check(f"{row['channel']}: delayed", False, detail, fix)


def _moment(value: object) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S} UTC" if value else "never"
