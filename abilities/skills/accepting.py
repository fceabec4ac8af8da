"""The work of `skills list`, `skills accept` and `skills withdraw`."""

import json
from collections.abc import Mapping

from abilities.skills.folders import read_folder
from abilities.skills.settings import SkillSettings
from abilities.skills.types import Skill
from core.errors import ConfigError
from core.json_types import JsonObject
from core.tools.accepted import Accepted, AcceptedDefinitions
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import open_database
from onevalet.settings import Settings


async def print_skills(settings: Settings, *, as_json: bool) -> None:
    """List the skills of the folder and the accepted skills."""
    there = _there(settings)
    async with open_database(settings, "skills") as database:
        accepted = {one.source: one for one in await AcceptedDefinitions(database, "skill").list()}
    rows: list[JsonObject] = [
        {"skill": name, "state": _state(there.get(name), accepted.get(name))} for name in sorted({*there, *accepted})
    ]
    if as_json:
        say_json(rows)
        return
    for row in rows:
        say(f"{row['skill']}  {row['state']}")
    if not rows:
        say("There are no skills of the operator's.")


async def accept(settings: Settings, name: str) -> None:
    """Accept a skill of the folder, after showing it; raise `ConfigError` if there is none."""
    skill = _there(settings).get(name)
    if skill is None:
        raise ConfigError(f"There is no skill {name} in the folder that ONEVALET_SKILLS names.")
    # Escaped as JSON: invisible characters become visible.
    say(f"{name}: {json.dumps(skill.description)}")
    for path, text in {"SKILL.md": skill.text, **skill.files}.items():
        say(f"\n{path}:")
        for line in text.splitlines():
            say(f"  {json.dumps(line)[1:-1]}")
    async with open_database(settings, "skills") as database:
        await AcceptedDefinitions(database, "skill").accept(Accepted(name, "", skill.hash, skill.to_json()))
    say("\nAccepted.")


async def withdraw(settings: Settings, name: str) -> None:
    """Withdraw a skill; raise `ConfigError` if it is not accepted."""
    async with open_database(settings, "skills") as database:
        if not await AcceptedDefinitions(database, "skill").withdraw(name, ""):
            raise ConfigError(f"Nothing of that name is accepted: {name}.")
    say(f"Withdrawn: {name}.")


def _there(settings: Settings) -> Mapping[str, Skill]:
    folder = settings.of(SkillSettings).onevalet_skills
    return {} if folder is None else {skill.name: skill for skill in read_folder(folder)}


def _state(skill: Skill | None, accepted: Accepted | None) -> str:
    if skill is None:
        return "accepted, and not in the folder any more"
    if accepted is None:
        return "new"
    return "accepted" if accepted.hash == skill.hash else "changed"
