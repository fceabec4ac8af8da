"""`skills …`: the operator's skills, and which of them people have."""

from typing import Annotated

import typer

from onevalet.cli.options import group
from onevalet.cli.runner import run_work

Skill = Annotated[str, typer.Argument(help="The skill's name.")]

skills_app = group("See, accept and withdraw the skills of ONEVALET_SKILLS.")


@skills_app.command("list")
def list_skills(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the skills of the folder and those that are accepted, and say which are new, changed or gone."""
    from abilities.skills.accepting import print_skills

    run_work(lambda settings: print_skills(settings, as_json=json))


@skills_app.command("accept")
def accept_skill(skill: Skill) -> None:
    """Show all texts of a skill, and accept them as they are now."""
    from abilities.skills.accepting import accept

    run_work(lambda settings: accept(settings, skill))


@skills_app.command("withdraw")
def withdraw_skill(skill: Skill) -> None:
    """Stop offering a skill."""
    from abilities.skills.accepting import withdraw

    run_work(lambda settings: withdraw(settings, skill))
