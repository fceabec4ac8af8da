"""Promise 5: a worker is killed at each step of taking in new mail; no mail is missed, and none told twice."""

import re
import signal
from pathlib import Path

import pytest

from core.clock import Clock
from core.credentials.secret_keys import SecretKeys, read_secret_key
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.ids import make_id
from core.json_types import JsonObject
from core.queue.wakeups import NoWakeups
from core.triggers.engine import TriggerEngine
from core.triggers.kinds.event import EventTrigger
from simulator.config import Person
from tests.forker import Forker
from tests.jobs.mail_harness import mail
from tests.kills.harness import open_system
from tests.plugins.kills_mail import POINTS
from tests.scripted_model import ModelCall, Reply, ScriptedModel, text
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.dovecot import dovecot as dovecot

ANN = Person("k01", "Ann", "+15550600001", "U0M0000001", 640_000_001)
LET_GO = (
    "update mail_watches set lease_until = clock_timestamp();"
    "update lanes set lease_until = clock_timestamp() where owner is not null"
)


def tells(call: ModelCall) -> Reply:
    """Say which mail came."""
    came = re.search(r'"subject": "([^"]*)"', call.last_user)
    return text(f"{came[1]} has come" if came else "Hello.")


@pytest.mark.slow
@pytest.mark.xdist_group("processes")
async def test_promise_5_new_mail_is_told_once_under_kills(
    tmp_path: Path, database_url: str, redis_url: str, forker: Forker, dovecot: Dovecot
) -> None:
    address, plugins = dovecot.new(), "agents,tests.plugins.kills_mail"
    async with open_system(tmp_path, database_url, redis_url, [ANN], ScriptedModel(tells), forker) as system:
        system.environment |= {"ONEVALET_FETCH_HOSTS": f"127.0.0.1:{dovecot.imap}", "ONEVALET_PLUGINS": plugins}
        await system.say(ANN, "hello")
        await waiting_for_mail(database_url, system.environment["ONEVALET_SECRET_KEYS"], address, dovecot)
        for point in POINTS:
            dovecot.deliver(address, mail(f"Mail {point}"))
            victim = system.fork_worker(f"victim-{point}", KILLS_MAIL=point)
            ended = await victim.wait()
            assert ended == -signal.SIGKILL, (point, ended, (tmp_path / f"victim-{point}.log").read_text()[-3000:])
            await system.admin.execute(LET_GO)
        dovecot.deliver(address, mail("Mail after"))
        await system.finish(len(POINTS) + 2)
        events = await system.admin.fetch("select data ->> 'subject' as subject from events where source = 'mail'")
        told = sorted(system.answers(ANN))
    subjects = sorted(f"Mail {point}" for point in (*POINTS, "after"))
    assert sorted(row["subject"] for row in events) == subjects
    assert told == sorted(["Hello.", *(f"{subject} has come" for subject in subjects)])


async def waiting_for_mail(database_url: str, key: str, address: str, dovecot: Dovecot) -> None:
    """Let the one person there have a mailbox, and a task that waits for mail."""
    database = Database(database_url)
    try:
        [tenant] = [row["tenant_id"] for row in await database.rows("select tenant_id from find_tenants(2)")]
        stored: JsonObject = {
            "user": address,
            "password": PASSWORD,
            "imap": {"host": "127.0.0.1", "port": dovecot.imap, "tls": "none"},
        }
        await CredentialStore(database, SecretKeys([read_secret_key(key)])).save(tenant, "email", stored)
        engine = TriggerEngine(database, make_id, Clock(), NoWakeups())
        trigger = EventTrigger("mail", "mail.received")
        await engine.create_task(tenant_id=tenant, trigger=trigger, action={"instruction": "Say what came"})
    finally:
        await database.close()
