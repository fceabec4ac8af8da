"""Attempts of Ben, an adult, at what is Ann's or another household's, by what other abilities bring."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, timedelta
from functools import partial
from typing import Any

from abilities.calendar.together import CompanionCalendars
from abilities.joint.deciders import HouseholdDeciders
from abilities.receipts.store import ReceiptReader, receipts_of_turn
from abilities.receipts.types import Days
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.for_others import Permit, RemindersForOthers
from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.reminders import TellExecutor, take_back_reminder
from abilities.tasks.reminding_others import take_back_reminder_for
from core.approvals.exact_replies import Verb
from core.approvals.store import ApprovalStore
from core.credentials.secret_keys import SecretKey, SecretKeys
from core.messaging.search import PersonMessages, find_said
from core.tools.sharing import Companion, Sharing
from operations.tenants.links import ExportLinks
from tests.abilities.household.test_walls import ANN, BEN, CLEO, DAN, Street, canary

_TURN = (
    "insert into turns (tenant_id, id, lane_id, conversation_id, state, fence) values ($1, $2, 'l', 'c', 'waiting', 1)"
)
_APPROVAL = (
    "insert into approvals (tenant_id, id, turn_id, place, generation, conversation_id, name, summary, arguments,"
    " shown, code, token, timeout, sealed_head, sealed_tail, created_at)"
    " values ($1, $2, $3, '0.1/send', 1, 'c', 'send', $4, '{}', '[]', $5, $2, '1 hour', '', '', now())"
)
_JOINT = (
    "insert into joint_consents (tenant_id, approval_id, other_id, other_name, summary, shown, form, state, second_id,"
    " agreed, made_at) values ($1, $2, $3, 'Dan', $4, '[]', '[]', 'agreed', 'second', '{}', now())"
)


class Diary:
    """Somebody's accounts, which say whose they are."""

    def __init__(self, of: int) -> None:
        self.of = of

    def __repr__(self) -> str:
        return canary(self.of)

    async def list(self, _: str) -> Sequence[str]:
        """Return that there is an account."""
        return ["calendar"]


async def begin(street: Street) -> TriggerEngine:
    """Give Ann a reminder, a request and a receipt, and let Cleo want two things for which Dan is asked."""
    store, clock = street.store, street.world.harness.clock
    engine = TriggerEngine(store.database, store.make_id, clock, store.wakeups, executors=[TellExecutor()])
    at = clock.now() + timedelta(days=1)
    await engine.create_task(
        tenant_id=street.tenant(ANN),
        trigger=ScheduleTrigger(at=at),
        action={"text": canary(ANN)},
        executor="tell",
        key="of ann",
    )
    await RemindersForOthers(engine, street.tenant(CLEO)).wish(street.tenant(DAN), "wish", "Cleo", canary(CLEO), at)
    await store.admin.execute("set session_replication_role = replica")  # rows without those that they belong to
    for person, turn in ((ANN, "of ann"), (CLEO, "of cleo")):
        tenant = street.tenant(person)
        await store.admin.execute(_TURN, tenant, turn)
        await store.admin.execute(_APPROVAL, tenant, turn, turn, canary(person), f"7{person}")
    await store.admin.execute(_JOINT, street.tenant(CLEO), "of cleo", street.tenant(DAN), canary(CLEO))
    await store.admin.execute(
        "insert into receipts (tenant_id, turn_id, agent_path, step, call_index, number, at, told)"
        " values ($1, 'of ann', '', 0, 1, 'r', now(), $2)",
        street.tenant(ANN),
        f'{{"tool": "{canary(ANN)}"}}',
    )
    await store.admin.execute("set session_replication_role = origin")
    return engine


async def further(street: Street, engine: TriggerEngine) -> list[tuple[str, Any]]:
    """Return the calls, each by its name: an ability, and what it would do."""
    database, clock = street.store.database, street.world.harness.clock
    ann, ben, cleo, dan = (street.tenant(person) for person in (ANN, BEN, CLEO, DAN))
    reminders, tasks = RemindersForOthers(engine, ben), engine.for_tenant(ben)
    context = street.context(BEN, "attempt")
    context = replace(context, tasks=tasks, services={**context.services, RemindersForOthers: reminders})
    (task,) = [one.id for one in await engine.list_tasks(ann)]
    sharing: Any = context.services[Sharing]
    diaries = CompanionCalendars({ann: Diary(ANN), cleo: Diary(CLEO)}.__getitem__)  # type: ignore[arg-type]
    said, keys = PersonMessages(database, ben), SecretKeys([SecretKey("k", b"k" * 32)])
    links = ExportLinks(database, "https://x", keys)
    approvals = ApprovalStore(database, street.store.wakeups)
    deciders = HouseholdDeciders(database, clock, ben, ("sms",))
    receipts = ReceiptReader(partial(database.tenant_rows, ben), UTC)
    days = Days(date(2000, 1, 1), date(2100, 1, 1))

    async def in_his_wall(read: Any, *given: object) -> object:
        async with database.tenant(ben) as connection:
            return await read(connection, *given)

    def decide(approval: str, verb: Verb) -> Any:
        return lambda: approvals.decide(
            ben, approval, verb, how="console", channel="console", now=clock.now(), said_in=f"{approval} {verb}"
        )

    return [
        ("calendar: see hers", lambda: diaries.of(Companion(ann, "Ann", calendar="titles"), sharing)),
        ("calendar: see a stranger's", lambda: diaries.of(Companion(cleo, "Cleo", calendar="busy"), sharing)),
        ("search: find her words", lambda: said.search(canary(ANN))),
        ("search: find the other household's", lambda: said.search(canary("y"))),
        ("search: find hers by her id", lambda: in_his_wall(find_said, ann, canary(ANN), 10)),
        ("export: open hers by a made-up link", lambda: links.use("x" * 43, clock.now())),
        ("export: open hers by a link of his", lambda: links.use(links.tokens.make(ann), clock.now())),
        ("reminders: find hers", lambda: tasks.find(task)),
        ("reminders: read its plan", lambda: tasks.plan(task)),
        ("reminders: delete it", lambda: tasks.change(task, "delete")),
        ("reminders: take it back", lambda: take_back_reminder(task, context)),
        ("reminders: take back a stranger's for another", lambda: reminders.take_back(dan, "wish")),
        (
            "reminders: allow a stranger's in another's place",
            lambda: reminders.decide([Permit(cleo, "")], allowed=True),
        ),
        ("reminders: read who asks another", reminders.permits),
        ("reminders: take one back by its words", lambda: take_back_reminder_for(dan, "wish", context)),
        ("consents: approve her request", decide("of ann", Verb.APPROVE)),
        ("consents: refuse her request", decide("of ann", Verb.CANCEL)),
        ("consents: approve a stranger's", decide("of cleo", Verb.APPROVE)),
        ("consents: use what two others agreed to", lambda: deciders.agreed("of cleo")),
        ("consents: have a stranger asked", lambda: deciders.find("Cleo")),
        ("consents: have a stranger asked by their id", lambda: deciders.find(person=cleo)),
        ("receipts: list hers", lambda: receipts.newest(days)),
        ("receipts: read those of her turn", lambda: in_his_wall(receipts_of_turn, ann, "of ann")),
    ]
