"""A briefing's parts: one that fails says so alone, an account that is missing is told once, texts stay short."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from abilities.briefing import parts
from abilities.briefing.parts import BriefingRequest
from abilities.briefing.reading import read_briefing
from abilities.briefing.sections import LONG, Section, briefing_text
from core.credentials.types import Account, OpenAccount
from core.errors import AccountMissing, RefusedLogin
from core.json_types import JsonObject
from core.tools.context import TaskNote, TaskState
from onevalet import StoreUnavailable, ToolExecutionContext
from onevalet.testing import StandingClock, make_context, speaking
from tests.abilities.mail.mail_harness import mail
from tests.agents.services import Web, open_meteo
from tests.servers.dovecot import Dovecot

MORNING = datetime(2026, 11, 23, 6, tzinfo=UTC)


@dataclass
class Boxes:
    """A person's mailboxes, and which logins were noted as refused."""

    opened: list[OpenAccount]
    noted: list[RefusedLogin] = field(default_factory=list)
    gone: list[Account] = field(default_factory=list)

    async def list(self, need: str = "") -> Sequence[Account]:
        return [*(one.account for one in self.opened), *self.gone] if need == "mail.read" else []

    async def open(self, need: str, account_name: str = "") -> OpenAccount:
        for one in self.opened:
            if one.account.name == account_name:
                return one
        if any(one.name == account_name for one in self.gone):
            raise AccountMissing(f"The account {account_name} has to be connected again.", need, account_name)
        raise AccountMissing("No account can do this.", need)

    async def refused(self, login: RefusedLogin) -> bool:
        self.noted.append(login)
        return True


@dataclass
class Planned:
    """A person's tasks."""

    tasks: list[TaskNote] = field(default_factory=list)

    async def list(self) -> Sequence[TaskNote]:
        return self.tasks


@pytest.fixture
async def meteo() -> AsyncIterator[Web]:
    async with open_meteo() as server:
        yield server


@pytest.fixture
async def context(meteo: Web, dovecot: Dovecot) -> AsyncIterator[ToolExecutionContext]:
    """Yield the context of a person in Berlin on Monday, 23 November 2026, at 07:00."""
    http = dovecot.http(meteo.url.removeprefix("http://"))
    made = make_context(clock=StandingClock(MORNING))
    yield replace(
        made,
        timezone="Europe/Berlin",
        http=http,
        settings={"weather_url": meteo.url},
        tasks=Planned(),  # type: ignore[arg-type]
        accounts=Boxes([]),  # type: ignore[arg-type]
    )
    await http.close()


def a_task(number: int, due: datetime, **more: object) -> TaskNote:
    """Return a task that is due."""
    trigger: JsonObject = {"kind": "schedule", "at": due.isoformat()}
    note = TaskNote(f"t{number}", number, f"thing {number}", "", "", TaskState.ACTIVE, trigger=trigger, due=due)
    return replace(note, **more)  # type: ignore[arg-type]


async def test_each_part_fails_alone_in_a_sentence(context: ToolExecutionContext, meteo: Web, dovecot: Dovecot) -> None:
    meteo.status = 500
    boxes = Boxes([dovecot.account(dovecot.new(), secret="wrong")])
    late = a_task(1, MORNING + timedelta(hours=2))
    read = await read_briefing(replace(context, accounts=boxes, tasks=Planned([late])))  # type: ignore[arg-type]
    weather, calendar, mails, reminders = read.text.split("\n\n")[1:]
    assert weather == "**Weather**: The weather service does not work at the moment (status 500)."
    assert calendar.startswith("**Calendar**: You have connected no account for it. To connect one, write “connect”.")
    assert mails.startswith("**Mail**: ")
    assert {login.service for login in boxes.noted} == {"email"}, "its person is asked to renew it"
    assert reminders == "**Reminders and tasks**\n- 09:00 thing 1"
    assert read.missing == {"calendar"}


async def test_a_mailbox_that_does_not_open_keeps_no_other_from_being_read(
    context: ToolExecutionContext, dovecot: Dovecot
) -> None:
    address, gone = dovecot.new(), Account("email", "work", revoked=True)
    dovecot.deliver(address, mail("Lunch?", "Bob <bob@example.org>"))
    boxes = Boxes([dovecot.account(address)], gone=[gone])
    read = await read_briefing(replace(context, accounts=boxes), ["weather", "calendar"])  # type: ignore[arg-type]
    assert read.text.endswith("**Mail**: 1 unread\n- Bob: Lunch?\n- The account work has to be connected again.")
    wrong = dovecot.account(dovecot.new(), secret="wrong")
    wrong = replace(wrong, account=replace(wrong.account, name="old"))
    boxes = Boxes([dovecot.account(address), wrong])
    await read_briefing(replace(context, accounts=boxes), ["weather", "calendar"])  # type: ignore[arg-type]
    assert [login.account for login in boxes.noted] == ["old"]
    boxes = Boxes([], gone=[gone])
    read = await read_briefing(replace(context, accounts=boxes), ["weather", "calendar"])  # type: ignore[arg-type]
    assert read.text.endswith("**Mail**: The account work has to be connected again. To connect one, write “connect”.")
    assert read.missing == {"mail"}


async def test_a_part_with_a_defect_takes_no_other_with_it(
    context: ToolExecutionContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(wanted: BriefingRequest) -> Section | None:
        raise ZeroDivisionError

    monkeypatch.setitem(parts.READERS, "mail", broken)
    read = await read_briefing(context, ["calendar"])
    assert "**Weather in Berlin**: overcast" in read.text
    assert "**Mail**: It could not be read this time." in read.text


async def test_a_database_that_is_away_is_no_part_that_fails(
    context: ToolExecutionContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(wanted: BriefingRequest) -> Section | None:
        raise StoreUnavailable

    monkeypatch.setitem(parts.READERS, "reminders", away)
    with pytest.raises(StoreUnavailable):
        await read_briefing(context)


async def test_a_missing_account_is_not_said_where_it_is_known(context: ToolExecutionContext) -> None:
    read = await read_briefing(context, ["weather"], known=["mail"])
    assert "Mail" not in read.text
    assert "**Calendar**: You have connected no account for it." in read.text
    read = await read_briefing(context, ["weather"], known=["mail", "calendar"])
    assert read.text.endswith("**Today**: there is nothing to tell")
    assert read.missing == {"mail", "calendar"}


async def test_only_what_is_due_today_and_once_is_listed(context: ToolExecutionContext) -> None:
    evening = datetime(2026, 11, 23, 22, 59, tzinfo=UTC)
    tasks = [
        a_task(1, evening),
        a_task(2, evening + timedelta(minutes=1)),
        a_task(3, MORNING + timedelta(hours=1), title="[dial](tel:1)"),
        a_task(4, evening, executor="briefing"),
        a_task(5, evening, trigger={"kind": "schedule", "interval_minutes": 30.0}),
        a_task(6, evening, trigger={"kind": "condition"}),
        a_task(7, evening, state=TaskState.PAUSED),
        replace(a_task(8, evening), due=None),
    ]
    wanted = BriefingRequest(replace(context, tasks=Planned(tasks)), LONG)  # type: ignore[arg-type]
    section = await parts.read_reminders(wanted)
    assert section is not None
    assert section.things == ("08:00 \\[dial\\](tel:1)", "23:59 thing 1")


async def test_a_text_message_stays_within_a_few_segments(context: ToolExecutionContext, dovecot: Dovecot) -> None:
    address, tasks = dovecot.new(), [a_task(n, MORNING + timedelta(hours=n), title="x" * 300) for n in range(1, 10)]
    for _ in range(9):
        dovecot.deliver(address, mail("s" * 300, f"{'n' * 200} <a@example.org>"))
    boxes = Boxes([dovecot.account(address)])
    given = replace(context, accounts=boxes, tasks=Planned(tasks), channel="sms")  # type: ignore[arg-type]
    read = await read_briefing(given)
    assert "9 unread" in read.text
    assert "6 more" in read.text
    assert len(read.text) < 5 * 153


def test_both_forms_say_the_same() -> None:
    day = MORNING.date()
    sections = [
        Section("Mail", "3 unread", ("Ann: hi", "Bob: lunch"), 1),
        Section("Calendar", problem="It took too long."),
        Section("Weather", "rain", problem="Half of it."),
        Section("Tasks", things=("08:00 tea",), problem="Not all."),
    ]
    with speaking("en"):
        assert briefing_text(day, sections, short=True).splitlines() == [
            "Your briefing for Mon 23 Nov 2026:",
            "Mail: 3 unread; Ann: hi; Bob: lunch; 1 more",
            "Calendar: It took too long.",
            "Weather: rain; Half of it.",
            "Tasks: 08:00 tea; Not all.",
        ]
        assert briefing_text(day, sections, short=False).split("\n\n")[1:] == [
            "**Mail**: 3 unread\n- Ann: hi\n- Bob: lunch\n- 1 more",
            "**Calendar**: It took too long.",
            "**Weather**: rain; Half of it.",
            "**Tasks**\n- 08:00 tea\n- Not all.",
        ]
