"""Tasks in the console: when they come, why they ran or did not, and what may be done with them."""

from datetime import timedelta

import pytest

from abilities.tasks.console.listing import DAYS, PAGE
from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.reminders import TellExecutor
from abilities.tasks.service import TaskService
from abilities.tasks.types import Task
from core.ids import make_id
from core.json_types import JsonObject
from tests.operations.console.conftest import console as console
from tests.operations.console.harness import ANN, BOB, Console

HERE = "/console/tasks"
WEEKLY = ScheduleTrigger(cron="30 9 * * 1")


def _service(console: Console) -> TaskService:
    return TaskService(console.store.database, make_id, console.clock, console.store.wakeups)


async def _task(
    console: Console, sender: str, title: str, trigger: ScheduleTrigger | ConditionTrigger = WEEKLY
) -> tuple[Task, str]:
    """Create a task of a person; return it and the address of its page."""
    tenant = await console.tenant(sender)
    action: JsonObject = {"instruction": f"Say: {title}"}
    task = await _service(console).create_task(tenant_id=tenant, trigger=trigger, action=action, title=title)
    return task, f"{HERE}/{tenant}/{task.id}"


async def test_a_person_sees_their_own_tasks_by_when_they_come(console: Console) -> None:
    await _task(console, BOB, "water plants")
    await _task(console, BOB, "call mother", ScheduleTrigger(interval_minutes=5))
    _, theirs = await _task(console, ANN, "secret errand")
    async with console.browser(BOB) as phone:
        await phone.get(HERE)
        assert phone.text.index("call mother") < phone.text.index("water plants")
        assert "every Monday at 09:30" in phone.text
        assert "secret errand" not in phone.text
        assert await phone.get(theirs) == 404
        for action in ("run", "pause", "resume", "retry", "edit"):
            assert await phone.post(f"{theirs}/{action}", {"proof": phone.proof}) == 404, action
        await phone.get(f"{HERE}?state=PAUSED")
        assert "No such task is here." in phone.text


async def test_an_operator_sees_everybodys_tasks_without_their_words(console: Console) -> None:
    _, page = await _task(console, BOB, "secret errand")
    await _task(console, ANN, "my own errand")
    async with console.browser(ANN) as owner:
        await owner.get(HERE)
        assert len(owner.links(f"{HERE}/")) == 2
        assert "my own errand" in owner.text
        assert "secret errand" not in owner.page
        await owner.get(page)
        assert "secret errand" not in owner.page
        assert "Pause" in owner.text
        assert await owner.post(f"{page}/edit", {"proof": owner.proof, "title": "mine now"}) == 404


async def test_a_task_is_paused_resumed_and_run_and_that_is_recorded(console: Console) -> None:
    task, page = await _task(console, BOB, "water plants")
    state = "select state from tasks"
    async with console.browser(BOB) as phone:
        await phone.get(page)
        form = phone.form
        assert await phone.post(f"{page}/pause", form) == 303
        assert await console.store.one(state) == "PAUSED"
        await phone.get(f"{page}?said=pause")
        assert "Paused: nothing runs until it is resumed." in phone.text
        assert await phone.post(f"{page}/resume", form) == 303
        assert await console.store.one(state) == "ACTIVE"
        assert [await phone.post(f"{page}/run", form) for _ in range(2)] == [303, 303]
        assert await console.store.column("select cause ->> 'by_hand' from task_runs") == ["true"], "a double click"
        await phone.get(page)
        assert "queued" in phone.text
        assert await phone.post(f"{page}/pause", {"proof": "0" * 64}) == 403
    assert await console.store.one(state) == "ACTIVE"
    actions = await console.store.db.console_actions.column("what", order="at, id", subject=task.id)
    assert actions == ["pause task", "resume task", "run task", "run task"]


async def test_a_task_says_what_comes_and_a_condition_is_tried(console: Console) -> None:
    _, weekly = await _task(console, BOB, "water plants")
    condition = ConditionTrigger(url="https://shop.example/price", expression="value < 10", every_minutes=60)
    task, watch = await _task(console, BOB, "cheap kettle", condition)
    seen = '{"seen": [{"at": "2026-11-20T10:00:00+00:00", "value": 12}]}'
    await console.store.admin.execute("update tasks set watch = $1::jsonb where id = $2", seen, task.id)
    async with console.browser(BOB) as phone:
        await phone.get(weekly)
        assert phone.text.count("09:30") >= 10
        assert "It has not run yet." in phone.text
        await phone.get(watch)
        assert "would send nothing" in phone.text
        await phone.get(f"{watch}?expression=value+%3C+20")
        assert "would tell" in phone.text
        assert await phone.get(f"{watch}?expression=value+%3C%3C") == 200
        assert await console.store.one("select trigger ->> 'expression' from tasks where id = $1", task.id) == (
            "value < 10"
        ), "a dry run changes nothing"


@pytest.mark.parametrize(
    ("trigger", "field", "wrong", "right"),
    [
        (WEEKLY, "cron", "every day", "0 7 * * *"),
        (ScheduleTrigger(interval_minutes=30), "minutes", "soon", "45"),
    ],
    ids=["cron", "interval"],
)
async def test_a_task_is_changed_by_its_person(
    console: Console, trigger: ScheduleTrigger, field: str, wrong: str, right: str
) -> None:
    task, page = await _task(console, BOB, "water plants", trigger)
    async with console.browser(BOB) as phone:
        await phone.get(page)
        form = {"proof": phone.proof, "title": "water all plants", "instruction": "Say: water all of them"}
        assert await phone.post(f"{page}/edit", form | {field: wrong}) == 422
        assert f"“{wrong}”" in phone.text
        assert 'value="water all plants"' in phone.page, "what was written stays"
        assert await phone.post(f"{page}/edit", form | {field: right}) == 303
        await phone.get(f"{page}?said=edit")
        assert "Changed, from now on." in phone.text
    changed = await _service(console).get_task(task.tenant_id, task.id)
    assert changed is not None
    assert (changed.title, changed.instruction) == ("water all plants", "Say: water all of them")
    assert changed.next_at != task.next_at


async def test_a_reminder_is_changed_by_its_person(console: Console) -> None:
    service = _service(console)
    service.add_executors([TellExecutor()])
    tenant, at = await console.tenant(BOB), console.clock.now() + timedelta(days=3)
    task = await service.create_task(
        tenant_id=tenant, trigger=ScheduleTrigger(at=at), action={"text": "call mum"}, executor="tell", title="call mum"
    )
    page = f"{HERE}/{tenant}/{task.id}"
    async with console.browser(BOB) as phone:
        await phone.get(page)
        assert 'name="title"' not in phone.page, "a reminder is what it says"
        later = f"{at + timedelta(days=1):%Y-%m-%dT%H:%M}"
        form = {"proof": phone.proof, "text": "call dad", "at": later}
        assert await phone.post(f"{page}/edit", form) == 303
    changed = await service.get_task(tenant, task.id)
    assert changed is not None
    assert (changed.title, changed.action) == ("call dad", {"text": "call dad"})
    assert changed.next_at is not None
    assert f"{changed.next_at:%Y-%m-%dT%H:%M}" == later


async def test_the_calendar_has_each_day_that_a_task_comes_on(console: Console) -> None:
    await _task(console, BOB, "every day", ScheduleTrigger(cron="15 7 * * *"))
    await _task(console, BOB, "all the time", ScheduleTrigger(interval_minutes=10))
    soon = console.clock.now() + timedelta(days=3)
    await _task(console, BOB, "just once", ScheduleTrigger(at=soon.replace(microsecond=0)))
    async with console.browser(BOB) as phone:
        await phone.get(f"{HERE}?view=calendar")
        assert phone.page.count('class="day') == DAYS
        assert phone.text.count("07:15 every day") in (DAYS - 1, DAYS), "today's may be over"
        assert phone.text.count("all the time and again") in (DAYS - 1, DAYS)
        assert phone.text.count("just once") == 1


async def test_the_list_of_tasks_goes_on_where_it_ended(console: Console) -> None:
    for number in range(PAGE + 2):
        await _task(console, BOB, f"task {number}", ScheduleTrigger(interval_minutes=number + 1))
    await console.store.db.tasks.change({"next_at": None}, number=1)
    for viewer in (ANN, BOB):
        async with console.browser(viewer) as browser:
            await browser.get(HERE)
            first = browser.links(f"{HERE}/")
            [following] = browser.links("after=")
            await browser.get(following)
            second = browser.links(f"{HERE}/")
            assert (len(first), len(second)) == (PAGE, 2)
            assert not set(first) & set(second)
            for wrong in ("x", "infinity~", "2026-13-01~a", "0001-01-01T00:00:00%2B14:00~x"):
                assert await browser.get(f"{HERE}?after={wrong}&state=%ff&view=x") == 200, wrong
                assert await browser.get(f"{HERE}?after={wrong}&state=%00&view=x") == 400, wrong


async def test_what_a_task_is_called_is_text_on_every_page(console: Console) -> None:
    evil = "<script>alert(1)</script><img src=x>{{7*7}}"
    _, page = await _task(console, BOB, evil)
    async with console.browser(BOB) as phone:
        for address in (HERE, f"{HERE}?view=calendar", page):
            await phone.get(address)
            assert "<img" not in phone.page, address
            assert phone.page.count("<script") == 1, "our own"


async def test_an_open_page_of_tasks_is_told_of_changes_to_who_sees_it(console: Console) -> None:
    task, page = await _task(console, BOB, "water plants")
    async with console.browser(ANN) as owner, console.browser(BOB) as person:

        async def versions() -> list[str]:
            pages = [(HERE, owner), (page, owner), (HERE, person), (page, person)]
            return [await browser.told(path) for path, browser in pages]

        before = await versions()
        assert await versions() == before
        await _service(console).pause_task(await console.tenant(BOB), task.id)
        assert [new != old for new, old in zip(await versions(), before, strict=True)] == [True] * 4


async def test_a_page_says_which_calls_were_spared_and_what_they_would_have_cost(console: Console) -> None:
    priced, page = await _task(console, BOB, "look at the mail")
    unpriced, _ = await _task(console, BOB, "look at the door")
    theirs, _ = await _task(console, ANN, "my own errand")
    runs = "insert into task_runs (tenant_id, id, task_id, occurrence, due_at, state, reason, cause) values"
    row = " ($1, $2 || $3, $2, $3, now(), $4, $5, $6)"
    for task, reasons in ((priced, ["made_up"] * 31 + ["unchanged"] * 4), (unpriced, ["quiet"]), (theirs, ["quiet"])):
        for number, reason in enumerate(reasons):
            given = (task.tenant_id, task.id, f"s{number}", "SKIPPED", reason, "{}")
            await console.store.admin.execute(runs + row, *given)
    for number, cause in enumerate(["{}", '{"waited": [{}]}']):
        given = (priced.tenant_id, priced.id, f"r{number}", "COMPLETED", "", cause)
        await console.store.admin.execute(runs + row, *given)
    await console.store.admin.execute(
        "insert into usage_days (tenant_id, day, task_id, kind, name, calls, cost)"
        " values ($1, current_date, $2, 'model', 'm', 2, 0.5)",
        priced.tenant_id,
        priced.id,
    )
    async with console.browser(BOB) as phone:
        await phone.get(HERE)
        # 31 of a night but for the run that made up for them, one of another task, and four; at a quarter of a dollar.
        for said in ("Spared in quiet hours 31", "had changed 4", "about $8.50, and 1 of unknown cost"):
            assert said in phone.text, phone.text
        await phone.get(page)
        assert "Spared in quiet hours 30" in phone.text
        assert "about $8.50" in phone.text
    async with console.browser(ANN) as owner:
        await owner.get(HERE)
        assert "Spared in quiet hours 32" in owner.text, "an operator sees everybody's on the page"
        assert "about $8.50, and 2 of unknown cost" in owner.text
