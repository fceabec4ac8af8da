"""`tasks …`: people's tasks, and why they ran or did not."""

from typing import Annotated

import typer

from onevalet.cli.options import Json, Tenant, group
from onevalet.cli.runner import run_work

Which = Annotated[str, typer.Argument(help="A task's id, its number, or words of its title.")]

tasks_app = group("See and change people's tasks, and ask why they ran.")


@tasks_app.command("list")
def list_tasks(
    stopped: Annotated[bool, typer.Option("--stopped", help="Include stopped tasks.")] = False,
    tenant: Tenant = "",
    json: Json = False,
) -> None:
    """List a person's tasks; listing changes nothing."""
    from abilities.tasks.operating import print_tasks

    run_work(lambda settings: print_tasks(settings, tenant, stopped=stopped, as_json=json))


@tasks_app.command("pause")
def pause_task(which: Which, tenant: Tenant = "") -> None:
    """Pause a task until it is resumed."""
    from abilities.tasks.operating import change_task

    run_work(lambda settings: change_task(settings, tenant, which, "pause"))


@tasks_app.command("resume")
def resume_task(which: Which, tenant: Tenant = "") -> None:
    """Resume a paused or disabled task; missed runs are not made up for."""
    from abilities.tasks.operating import change_task

    run_work(lambda settings: change_task(settings, tenant, which, "resume"))


@tasks_app.command("retry")
def retry_task(
    which: Annotated[str, typer.Argument(help="A task's id, its number, or words of its title; by default all.")] = "",
    tenant: Annotated[str, typer.Option(help="The person; by default everybody.")] = "",
) -> None:
    """Retry tasks that an unforeseen error set aside; missed runs follow each task's policy."""
    from abilities.tasks.operating import retry_tasks

    run_work(lambda settings: retry_tasks(settings, tenant, which))


@tasks_app.command("run")
def run_task(which: Which, tenant: Tenant = "") -> None:
    """Run a task once, outside its schedule."""
    from abilities.tasks.operating import run_task as run

    run_work(lambda settings: run(settings, tenant, which))


@tasks_app.command("why")
def why_task(which: Which, tenant: Tenant = "", json: Json = False) -> None:
    """Show why a task ran or did not: its readings, decisions and deliveries."""
    from abilities.tasks.operating import print_why

    run_work(lambda settings: print_why(settings, tenant, which, as_json=json))


@tasks_app.command("dry-run")
def dry_run_task(
    which: Which,
    expression: Annotated[str, typer.Option(help="Try this condition instead, over recorded data.")] = "",
    tenant: Tenant = "",
    json: Json = False,
) -> None:
    """Show a task's next ten times, or its condition or filter over recorded data; change nothing."""
    from abilities.tasks.operating import print_dry_run

    run_work(lambda settings: print_dry_run(settings, tenant, which, expression, as_json=json))
