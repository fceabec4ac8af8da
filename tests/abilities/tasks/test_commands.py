"""What an operator sees and does about what an unforeseen error set aside: `doctor`, `tasks list`, `tasks retry`."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.operating import change_task, print_tasks, print_why, retry_tasks
from abilities.tasks.probes import check_set_aside
from abilities.tasks.types import Task
from core.errors import ConfigError
from core.tools.context import TaskState
from onevalet.settings import Settings
from tests.abilities.tasks.harness import Harness, make_harness
from tests.core.harness import opened


async def set_aside(harness: Harness, title: str) -> Task:
    """Make a task whose row cannot be read, and let it come due."""
    task = await harness.engine.create_task(
        tenant_id=harness.tenant, trigger=ScheduleTrigger(interval_minutes=60), executor="counting", title=title
    )
    await harness.store.admin.execute(
        'update tasks set trigger = trigger || \'{"until": "9999-12-31T23:59"}\' where id = $1', task.id
    )
    harness.clock.move(hours=1)
    await harness.work()
    return task


async def test_set_aside_tasks_are_shown_and_tried_again_by_commands(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(_env_file=None, database_url=SecretStr(database_url), onevalet_home=tmp_path)
    async with opened(database_url) as store:
        harness = await make_harness(store)
        assert await check_set_aside(store.database) == [], "nothing to say"
        task = await set_aside(harness, "Drink water")
        [check] = await check_set_aside(store.database)
        assert not check.ok
        assert f"task 1 of {harness.tenant} (TriggerError)" in check.detail
        assert "tasks retry" in check.fix
        await print_tasks(settings, harness.tenant, stopped=False, as_json=False)
        assert "set aside (TriggerError)" in capsys.readouterr().out
        await print_tasks(settings, harness.tenant, stopped=False, as_json=True)
        await print_why(settings, harness.tenant, "1", as_json=False)
        assert "It is set aside" in capsys.readouterr().out
        with pytest.raises(ConfigError, match="2199"):
            await change_task(settings, harness.tenant, "1", "resume")
        # The row is mended, as a newer version might do it; then everybody's are tried again.
        await store.admin.execute("update tasks set trigger = trigger - 'until' where id = $1", task.id)
        await retry_tasks(settings, "", "")
        assert f"task 1 of {harness.tenant}" in capsys.readouterr().out
        assert (await harness.again(task)).state is TaskState.ACTIVE
        assert await check_set_aside(store.database) == []
        await retry_tasks(settings, "", "")
        assert capsys.readouterr().out == "Nothing was set aside.\n"
        with pytest.raises(ConfigError, match="not set aside"):
            await retry_tasks(settings, harness.tenant, "1")
