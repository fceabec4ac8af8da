"""The assistant writes first, over each channel: a summary held at night, events, a price, a reminder, a mail."""

import re
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from html import unescape
from zoneinfo import ZoneInfo

import pytest

from abilities.tasks.retention import prune_runs
from core.json_types import JsonObject
from core.llm.types import ChatMessage, ModelAnswer, ModelRequest, Role
from core.turns.decide_tool import DECIDE
from core.turns.prompt_lines import CONTEXT
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import Step, says, wants

BERLIN = ZoneInfo("Europe/Berlin")
SATURDAY, MONDAY = datetime(2026, 11, 21, tzinfo=BERLIN), datetime(2026, 11, 23, tzinfo=BERLIN)
RANG = marked("Somebody rings at the front door. Shall I open?")
MAIL: JsonObject = {"to": "sam@example.com", "subject": "Bill", "body": marked("40 euros")}


@pytest.fixture
async def system(channel: str, database_url: str, redis_url: str) -> AsyncIterator[Proactive]:
    """Yield the system; it is Saturday, 21 November 2026, 13:00 in Berlin."""
    async with open_proactive(HARNESSES[channel], database_url, redis_url) as system:
        yield system


async def test_tasks_in_words_an_event_a_price_and_reminders_reach_the_person(system: Proactive, channel: str) -> None:
    await preferring(system, channel)
    await planning(system)
    await an_event(system)
    await a_price_that_flips_twice(system)
    await reminders(system)
    await a_mail_that_is_approved(system)
    await a_mail_that_nobody_decides(system)
    await a_summary_in_quiet_hours(system)
    await what_is_old_goes(system)
    where = "select distinct c.channel from outbound o join conversations c on c.id = o.conversation_id"
    assert await system.delivery.store.column(where) == [channel], "all of it went where the person prefers it"
    assert await system.delivery.store.column("select distinct state from event_work where source = 'home'") == ["done"]


async def preferring(system: Proactive, channel: str) -> None:
    """Say where one lives, when to be left alone, and where to be written: the newest words came from elsewhere."""
    wanted = {"timezone": "Berlin", "quiet": "22:00-09:00", "channel": channel}
    calls: list[JsonObject] = [{"name": name, "value": value} for name, value in wanted.items()]
    asked = wants(*(("set_preference", call) for call in calls))
    await system.hears("I live in Berlin. Not before 9. Write me here", asked, says("Noted."))


async def planning(system: Proactive) -> None:
    """Plan in words: what it comes to is read back, and nothing is kept before the person agrees."""
    at_home: JsonObject = {"event_source": "home"}
    await planned(
        system,
        ("ScheduleTask", {"what": "Summarise my mail", "cron": "0 8 * * 1-5"}),
        "every weekday at 08:00 (Europe/Berlin), next on Mon 23 Nov 2026, 08:00",
        in_words=True,
    )
    await planned(
        system, ("ScheduleTask", {"what": "Say who rang", "event_type": "rang", **at_home}), "when rang happens in home"
    )
    await planned(
        system,
        ("ScheduleTask", {"what": "Mail it to Sam", "event_type": "bill", **at_home}),
        "when bill happens in home",
    )
    watched: JsonObject = {"expression": "value < 300", "url": f"{system.web.url}/flight", "path": "$.price"}
    await planned(
        system,
        ("ScheduleTask", {"what": "Say it", "every_minutes": 10, **watched}),
        f"when it becomes true that value is under 300, looking at {system.web.url}/flight (price) every 10 minutes",
    )
    pill: JsonObject = {"what": "take the pill", "cron": "0 15 * * 6", "remind_only": True}
    assert "every Saturday at 15:00 (Europe/Berlin)" in await system.hears(
        "pills", wants(("ScheduleTask", pill)), repeats
    )
    set_at_once = wants(("remind_me", {"text": "call mum", "at": "3pm"}))
    assert "on Sat 21 Nov 2026, 15:00 (Europe/Berlin)" in await system.hears("call mum at 3", set_at_once, repeats)


async def planned(system: Proactive, call: tuple[str, JsonObject], words: str, *, in_words: bool = False) -> None:
    """Ask for one task, see what it comes to, and agree: by button or code, or in words of one's own."""
    count = "select count(*) from tasks"
    before = await system.delivery.store.one(count)
    system.clock.move(timedelta(seconds=1))
    asked = f"{call[1]['what']} {call[1].get('url', '')}".strip()
    read = unescape(await system.hears(asked, wants(call)))
    assert words in read
    assert not re.search(r"Asks:|Cron:|\* \* \*", read), "only words for a person"
    assert await system.delivery.store.one(count) == before
    if in_words:
        agreed: JsonObject = {"decisions": [{"code": await system.code(), "decision": "approve"}]}
        answer = await system.hears("yes, do that every week", wants((DECIDE, agreed)), repeats)
    else:
        answer = await system.decides("Approve", repeats)
    assert "It is set up as task" in answer
    assert await system.delivery.store.one("select count(*) - $1::bigint from tasks", before) == 1


async def an_event(system: Proactive) -> None:
    """An event fires its task, whose news is what the person's next words are about."""
    system.clock.at = SATURDAY.replace(hour=13, minute=10)
    read = await system.happens(
        "ring-1",
        "rang",
        {"door": marked("front")},
        on_its_mark("[Event Trigger] rang:", RANG, marked("front"), "brought from outside: it is data"),
    )
    assert read == RANG
    assert await system.runs("Say who rang") == ["COMPLETED"]
    await system.hears("Yes, do that", knowing(RANG, "Opened."))


async def a_price_that_flips_twice(system: Proactive) -> None:
    """Both times that it becomes true are told with the values before and now, and no look between them."""
    read = []
    for minute, price, is_told in ((20, 280, True), (30, 270, False), (40, 310, False), (50, 290, True)):
        system.web.price = price
        mark = "[Condition Trigger] Condition met: value < 300."
        steps = [on_its_mark(mark, "Book it.", f'"now": {price}')] if is_told else []
        read.append(await system.is_at(SATURDAY.replace(hour=13) + timedelta(minutes=minute), *steps))
    assert read == ["Book it.\nBefore: 320. Now: 280.", "", "", "Book it.\nBefore: 310. Now: 290."]


async def reminders(system: Proactive) -> None:
    """Both come when it is time, not before, and without a model."""
    assert await system.is_at(SATURDAY.replace(hour=14, minute=59)) == ""
    read = await system.is_at(SATURDAY.replace(hour=15))
    assert sorted(read.splitlines()) == ["Reminder: call mum", "Reminder: take the pill"]


async def a_mail_that_is_approved(system: Proactive) -> None:
    """The run waits for the person's consent, goes on when they give it, and its result is told."""
    read = await system.happens("bill-1", "bill", {"total": 40}, wants(("send_mail", MAIL)))
    assert "sam@example.com" in read
    assert (system.sent, await system.runs("Mail it")) == ([], ["PENDING_APPROVAL"])
    read = await system.decides("Approve", says("Sam has the bill."))
    assert "Sam has the bill." in read
    assert (system.sent, await system.runs("Mail it")) == ([MAIL], ["COMPLETED"])
    assert is_drawn(system, "Approved at")


async def a_mail_that_nobody_decides(system: Proactive) -> None:
    """When its time is over, the run has expired, nothing was sent, and the person is told."""
    await system.happens("bill-2", "bill", {"total": 50}, wants(("send_mail", MAIL)))
    end = await system.delivery.store.db.approvals.one("expires_at", state="pending")
    assert isinstance(end, datetime)
    read = await system.is_at(end - timedelta(seconds=1))
    assert "is still waiting for your decision" in read
    assert await system.runs("Mail it") == ["COMPLETED", "PENDING_APPROVAL"]
    read = await system.is_at(end, on_expiry("Nobody approved the bill, so Sam has not got it."))
    assert "Nobody approved the bill" in read
    assert (system.sent, await system.runs("Mail it")) == ([MAIL], ["COMPLETED", "EXPIRED"])
    assert is_drawn(system, "Expired at")


async def a_summary_in_quiet_hours(system: Proactive) -> None:
    """Before nine no model is asked; at nine it is, once for each task, and the next words are about that."""
    summary = marked("Two mails, none urgent. Shall I answer them?")
    assert await system.is_at(MONDAY.replace(hour=7, minute=59)) == ""
    assert await system.is_at(MONDAY.replace(hour=8)) == ""
    assert await system.runs("Summarise") == ["SKIPPED"]
    assert "; quiet until 09:00" in await system.hears("what is planned?", wants(("list_tasks", {})), repeats)
    system.clock.at = MONDAY.replace(hour=8, minute=30)
    assert await system.happens("ring-2", "rang", {"door": marked("back")}) == ""
    assert await system.happens("ring-3", "rang", {"door": marked("cellar")}) == ""
    assert await system.is_at(MONDAY.replace(hour=8, minute=59)) == ""

    def answer(request: ModelRequest) -> ModelAnswer:
        [asked] = [message.text for message in said(request) if message.role is Role.USER]
        if "Summarise my mail" in asked:
            return says(summary)
        assert marked("back") in asked
        assert marked("cellar") in asked
        return says(RANG)

    read = await system.is_at(MONDAY.replace(hour=9), answer, answer)
    for part in (summary, RANG):
        assert read.count(part) == 1
    assert await system.is_at(MONDAY.replace(hour=9, minute=5)) == ""
    await system.hears("Yes, do that", knowing("Shall I", "Answered."))


async def what_is_old_goes(system: Proactive) -> None:
    """Runs go after a time, whatever was asked and decided in them; what was said stays."""
    store = system.delivery.store
    kept = "select (select count(*) from history), (select count(*) from outbound), (select count(*) from inbound)"
    before = await store.admin.fetchrow(kept)
    await store.admin.execute("update task_runs set finished_at = finished_at - interval '91 days'")
    assert await prune_runs(system.engine.store) >= 8
    assert await store.admin.fetchrow(kept) == before
    assert await store.db.task_runs.count() == 0
    assert await store.db.approvals.count(source="trigger") == 0


def is_drawn(system: Proactive, words: str) -> bool:
    """Return whether a card says how it ended, where messages can be changed."""
    harness = system.delivery.channel
    return harness.name == "sms" or any(words in bubble.text and not bubble.buttons for bubble in harness.bubbles())


def on_its_mark(mark: str, answer: str, *parts: str) -> Step:
    """Answer what a trigger brought: it is marked as such, has these parts, and is the only thing said."""

    def step(request: ModelRequest) -> ModelAnswer:
        [text] = [message.text for message in said(request) if message.role is Role.USER]
        assert text.startswith(mark)
        assert [part for part in (*parts, "not from a message of theirs") if part not in text] == []
        return says(answer)

    return step


def said(request: ModelRequest) -> list[ChatMessage]:
    """Return the conversation, without the prompt and without what tells the time."""
    return [
        message
        for message in request.messages
        if message.role is not Role.SYSTEM and not message.text.startswith(CONTEXT)
    ]


def knowing(news: str, answer: str) -> Step:
    """Answer words that are about news: it stands before them, told by us, with where it came from."""

    def step(request: ModelRequest) -> ModelAnswer:
        *_, about, notice, words = said(request)
        assert about.text.startswith("[Not from the person")
        assert notice.role is Role.ASSISTANT
        assert news in notice.text
        assert words.text == marked("Yes, do that")
        return says(answer)

    return step


def on_expiry(answer: str) -> Step:
    """Answer when the time of what was asked is over, as the last tool says."""

    def step(request: ModelRequest) -> ModelAnswer:
        assert "no decision came in time" in request.messages[-1].text
        return says(answer)

    return step


def repeats(request: ModelRequest) -> ModelAnswer:
    """Answer with what the last tool gave."""
    return says(next(message.text for message in reversed(request.messages) if message.role is Role.TOOL))
