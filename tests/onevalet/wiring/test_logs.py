"""Logs: no word of anybody's in a traceback, and one line for what an outage makes everything say."""

import asyncio
import os
import sys
from pathlib import Path

import asyncpg
import pytest
import structlog

from onevalet.wiring.log_errors import format_error
from onevalet.wiring.logs import Repeats
from tests.patience import patience

CANARY = "zqcanaryofapersonswords"
ROOT = Path(__file__).parents[3]
QUOTING = {
    "a token of JSON": ("select $1::text::jsonb", f'{{"said": {CANARY}}}'),
    "a value of another type": ("select $1::int", CANARY),
    "a key that is there": ("insert into said values ($1), ($1)", CANARY),
    "a row that breaks a check": ("insert into said values ($1)", f"{CANARY}!"),
    "a word of ours": ("select pg_temp.raise_said($1)", CANARY),
}


@pytest.mark.parametrize("leak", QUOTING)
async def test_a_databases_error_is_logged_without_the_values_it_quotes(database_url: str, leak: str) -> None:
    statement, value = QUOTING[leak]
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(
            "create temp table said (word text primary key check (word not like '%!'));"
            "create function pg_temp.raise_said(w text) returns void language plpgsql as"
            " $$ begin raise exception 'said %', w using detail = w, errcode = '22023'; end $$"
        )
        with pytest.raises(LookupError) as caught:
            await _fails_on_top_of(connection, statement, value)
    finally:
        await connection.close()
    error = caught.value
    shown = format_error((type(error), error, error.__traceback__))
    assert CANARY not in shown
    assert "sqlstate 2" in shown
    for kept in ("ValueError: another", "LookupError: while that was handled", "test_logs.py", "ExceptionGroup"):
        assert kept in shown
    if leak == "a key that is there":
        assert "table said, constraint said_pkey" in shown


async def _fails_on_top_of(connection: "asyncpg.Connection[asyncpg.Record]", statement: str, value: str) -> None:
    try:
        try:
            await connection.fetch(statement, value)
        except Exception as first:
            quotes = CANARY in f"{first.__dict__}{first}"
            assert quotes, "a weak test"
            raise ExceptionGroup("several", [first, ValueError("another")]) from first
    except ExceptionGroup:
        raise LookupError("while that was handled")  # noqa: B904 - the chain of what was handled, not of causes


@pytest.mark.whole("it starts a process of its own")
async def test_no_process_logs_the_words_that_a_database_quotes(database_url: str) -> None:
    code = (
        "import asyncio, logging, asyncpg, structlog\n"
        "from onevalet.wiring.logs import set_up_logs\n"
        "set_up_logs('json')\n"
        "async def main():\n"
        f"    connection = await asyncpg.connect({database_url!r})\n"
        "    try:\n"
        f"        value = '[zqcanary' + {CANARY.removeprefix('zqcanary')!r} + ']'\n"
        "        await connection.fetch('select $1::text::jsonb', value)\n"
        "    except Exception:\n"
        "        structlog.get_logger().exception('work_failed')\n"
        "        logging.getLogger('asyncio').exception('never retrieved')\n"
        "        raise\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, cwd=ROOT, env={"PATH": os.environ["PATH"]}, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await asyncio.wait_for(process.communicate(), 30)
    shown = errors.decode()
    assert CANARY not in shown
    assert shown.count("InvalidTextRepresentationError: sqlstate 22P02") == 3, shown


@pytest.mark.whole("it starts a process of its own")
async def test_no_process_logs_the_numbers_that_twilio_is_asked_about() -> None:
    code = (
        "import asyncio, logging\n"
        "from onevalet.wiring.logs import set_up_logs\n"
        "set_up_logs('json')\n"
        "from twilio.http.async_http_client import AsyncTwilioHttpClient\n"
        "async def main():\n"
        "    client = AsyncTwilioHttpClient()\n"
        "    try:\n"
        "        await client.request('GET', 'http://127.0.0.1:9/Messages/+4915112345678.json')\n"
        "    except OSError:\n"
        "        logging.getLogger().info('it was tried')\n"
        "    await client.session.close()\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, cwd=ROOT, env={"PATH": os.environ["PATH"]}, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await asyncio.wait_for(process.communicate(), 60)
    assert "it was tried" in errors.decode()
    assert "4915112345678" not in errors.decode()


async def test_promise_14_no_known_secret_reaches_a_log_line() -> None:
    code = (
        "import logging, structlog\n"
        "from onevalet.wiring.logs import set_up_logs\n"
        "set_up_logs('json', ['short', 'xoxb-4711', 'xoxb-4711-and-more'])\n"
        "structlog.get_logger().info('short_event', cause='refused xoxb-4711-and-more')\n"
        "try:\n"
        "    raise ValueError('no such token: xoxb-4711')\n"
        "except ValueError:\n"
        "    structlog.get_logger().exception('work_failed')\n"
        "    logging.getLogger('library').exception('asked with %s', 'xoxb-4711')\n"
        "import threading\n"
        "def fail():\n"
        "    raise ValueError('no such token: xoxb-4711')\n"
        "thread = threading.Thread(target=fail)\n"
        "thread.start()\n"
        "thread.join()\n"
        "class Ends:\n"
        "    def __del__(self):\n"
        "        fail()\n"
        "Ends()\n"
        "fail()\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, cwd=ROOT, env={"PATH": os.environ["PATH"]}, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await asyncio.wait_for(process.communicate(), patience())
    shown = errors.decode()
    assert "xoxb" not in shown
    assert "short_event" in shown, "what is too short to be a secret is left alone"
    assert shown.count("no such token: [secret]") == 5, "two logged, a thread, a finalizer, the process"
    for line in ('"cause": "refused [secret]"', "library: asked with [secret]"):
        assert line in shown


def test_a_warning_that_repeats_itself_is_counted_not_repeated() -> None:
    now = 0.0
    repeats = Repeats(lambda: now)

    def passes(**event: object) -> object:
        try:
            return dict(repeats(None, "warning", event)).get("left_out", 0)
        except structlog.DropEvent:
            return None

    outage = {"event": "claim_delayed", "work": "turn", "cause": "DiskFullError"}
    assert passes(**outage, request="req_1") == 0
    assert [passes(**outage, request=f"req_{n}") for n in range(100)] == [None] * 100
    assert passes(**(outage | {"work": "delivery"})) == 0
    assert [passes(event="turn_delayed", lane=lane, cause="x") for lane in "ab"] == [0, 0]
    assert [passes(event="no_cause") for _ in range(3)] == [0, 0, 0]
    now = Repeats.SECONDS
    assert passes(**outage, request="req_2") == 100
    assert [repeats(None, "error", {"event": "e", "cause": "x"})["event"] for _ in range(2)] == ["e", "e"]


async def test_promise_14_no_line_inside_a_program_has_a_known_secret() -> None:
    code = (
        "import logging, structlog\n"
        "from onevalet.wiring.logs import log_inside\n"
        "logging.basicConfig(level=logging.INFO)\n"
        "log_inside(['xoxb-4711'])\n"
        "try:\n"
        "    raise ValueError('no such key: xoxb-4711')\n"
        "except ValueError:\n"
        "    structlog.get_logger().exception('failed', detail='the key xoxb-4711 is wrong')\n"
    )
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    shown = (await asyncio.wait_for(child.communicate(), patience(20)))[0].decode()
    assert "xoxb-4711" not in shown
    assert shown.count("[secret]") == 2
