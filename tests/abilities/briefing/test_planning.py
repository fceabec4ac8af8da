"""The briefing set, changed and taken back: what its tasks and its settings become, and what the person is told."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from abilities.briefing.settings import BriefingSettings
from abilities.briefing.tools import BriefingExecutor, SetBriefing, take_back_briefing
from core.credentials.types import Account, OpenAccount
from core.errors import AccountMissing
from core.tools.context import TaskNote, TaskState
from onevalet import AgentStatus, ToolExecutionContext, ToolFailed, ToolRetry
from onevalet.testing import StandingClock, make_context, rehearse


@dataclass
class Tasks:
    """A person's tasks in memory; `quiet`: a new one falls in the quiet hours."""

    made: dict[str, TaskNote] = field(default_factory=dict)
    quiet: bool = False

    async def timezone(self) -> str:
        return "Europe/Berlin"

    async def check(self, trigger: dict[str, Any]) -> str:
        return ""

    def describe(self, trigger: dict[str, Any], timezone: str | None = None) -> str:
        return str(trigger["cron"])

    async def create(self, trigger: dict[str, Any], action: dict[str, Any], **more: Any) -> TaskNote:
        key = more["key"]
        note = TaskNote(
            key, len(self.made) + 1, more["title"], str(trigger["cron"]), "tomorrow", TaskState.ACTIVE,
            quiet=self.quiet, executor=more["executor"], trigger=trigger,
        )  # fmt: skip
        return self.made.setdefault(key, note)

    async def list(self) -> Sequence[TaskNote]:
        return [task for task in self.made.values() if not task.deleted]

    async def find(self, task_id: str) -> TaskNote | None:
        return self.made.get(task_id)

    async def change(self, task_id: str, change: str) -> bool:
        self.made[task_id] = replace(self.made[task_id], deleted=True)
        return True


class NoAccounts:
    """The accounts of a person who has connected none."""

    async def list(self, need: str = "") -> Sequence[Account]:
        return []

    async def open(self, need: str, account_name: str = "") -> OpenAccount:
        raise AccountMissing("No account can do this.", need)

    async def connect(self) -> str:
        return "Connect an account here: https://valet.example.com/connect/1"


@dataclass
class Person:
    """A person who talks about their briefing; each call is one of its own."""

    context: ToolExecutionContext
    tasks: Tasks = field(default_factory=Tasks)
    calls: int = 0

    def call(self, **more: Any) -> ToolExecutionContext:
        self.calls += 1
        fresh = make_context(clock=self.context.clock)
        return replace(
            fresh, storage=self.context.storage, tasks=self.tasks, accounts=NoAccounts(),  # type: ignore[arg-type]
            idempotency_key=f"call{self.calls}", timezone="Europe/Berlin", **more,
        )  # fmt: skip

    async def says(self, **given: Any) -> ToolExecutionContext:
        """Say something about the briefing that is done at once; return the call's context."""
        context = self.call()
        result = await rehearse(SetBriefing, context, **given).go_on()
        assert result.status is AgentStatus.COMPLETED
        self.told = result.raw_message
        return context

    async def undoes(self, context: ToolExecutionContext) -> str:
        """Take back what a call did."""
        [offer] = context.undo.offered
        return await take_back_briefing(**offer.arguments, context=self.call())  # type: ignore[arg-type]

    @property
    def crons(self) -> list[str]:
        return sorted(str(task.trigger["cron"]) for task in self.tasks.made.values() if not task.deleted)


@pytest.fixture
def person() -> Person:
    return Person(make_context(clock=StandingClock()))


async def test_it_comes_at_seven_each_day_unless_something_else_is_said(person: Person) -> None:
    await person.says()
    assert person.crons == ["0 7 * * *"]
    assert (
        "the weather in Berlin, your calendar, unread mail, reminders and tasks and what waits for you" in person.told
    )
    assert person.told.endswith("https://valet.example.com/connect/1")


async def test_two_briefings_share_a_week_and_no_day(person: Person) -> None:
    await person.says(clock="6:30", days="weekdays")
    await person.says(clock="9", days="weekends")
    assert person.crons == ["0 9 * * 0,6", "30 6 * * 1-5"]
    with pytest.raises(ToolRetry, match="On which days"):
        await person.says(clock="8")
    await person.says(clock="7 pm", days="every day")
    assert person.crons == ["0 19 * * *"]


async def test_what_is_not_said_stays(person: Person) -> None:
    await person.says(clock="6:30", days="weekdays", place="Lyon")
    await person.says(without=["weather"])
    assert person.crons == ["30 6 * * 1-5"]
    assert person.told.startswith("From now on your briefing contains: your calendar, unread mail, reminders")
    assert "account" not in person.told, "that was said when it was set up"
    await person.says(clock="8")
    assert person.crons == ["0 8 * * 1-5"]
    await person.says(without=[])
    assert "the weather in Lyon" in person.told


async def test_undo_brings_back_what_was_there(person: Person) -> None:
    first = await person.says(clock="6:30", days="weekdays")
    second = await person.says(clock="8", days="every day", without=["mail"])
    assert await person.undoes(second) == "Undone: your briefing is as it was before."
    assert person.crons == ["30 6 * * 1-5"]
    assert (await BriefingSettings.of(person.call())).without == ()
    assert await person.undoes(first) == "Undone: I will not send you briefings."
    assert person.crons == []


async def test_a_call_that_is_repeated_offers_the_same(person: Person) -> None:
    await person.says(clock="6:30")
    second = await person.says(clock="8", without=["mail"])
    person.calls -= 1  # its worker died before the end of the call was written down
    again = await person.says(clock="8", without=["mail"])
    assert again.undo.offered == second.undo.offered
    await person.undoes(again)
    assert person.crons == ["30 6 * * *"]


async def test_a_briefing_that_was_changed_since_is_not_taken_back(person: Person) -> None:
    first = await person.says(clock="6:30")
    await person.says(clock="8")
    with pytest.raises(ToolFailed, match="changed since"):
        await person.undoes(first)
    assert person.crons == ["0 8 * * *"]


async def test_undo_of_the_first_ends_it(person: Person) -> None:
    set_up = await person.says()
    assert await person.undoes(set_up) == "Undone: I will not send you briefings."
    assert person.crons == []


async def test_in_quiet_hours_it_is_said_to_wait(person: Person) -> None:
    person.tasks.quiet = True
    await person.says(clock="5")
    assert "That is in your quiet hours: it comes when they end." in person.told


async def test_a_tasks_run_asks_first(person: Person) -> None:
    result = await rehearse(SetBriefing, person.call(in_task=True)).go_on()
    assert result.status is AgentStatus.WAITING_FOR_APPROVAL
    assert person.crons == []


def test_one_part_has_to_stay() -> None:
    everything = ["weather", "calendar", "mail", "reminders", "waiting"]
    assert "at least one part" in rehearse(SetBriefing, without=everything).question


async def test_a_repeated_run_says_the_same_and_a_later_one_no_hint(person: Person) -> None:
    async def sent(context: ToolExecutionContext) -> str:
        done = await BriefingExecutor().execute(SimpleNamespace(tools=context))  # type: ignore[arg-type]
        assert done.outside
        return done.output

    await BriefingSettings(without=("weather", "mail")).keep(person.context)
    first = person.call()
    assert "To connect one, write “connect”." in await sent(first)
    assert "To connect one, write “connect”." in await sent(first), "its worker died, and another began again"
    assert "connect" not in await sent(person.call())


def test_an_account_that_is_lost_again_is_told_again() -> None:
    told = BriefingSettings().noting(["mail"], "monday")
    assert told.known("monday") == []
    assert told.noting(["mail"], "tuesday").known("tuesday") == ["mail"]
    connected = told.noting([], "wednesday")
    assert connected.noting(["mail"], "thursday").known("thursday") == []
