"""A person's own skills: how they want something done, in words that they approved, kept in versions."""

import re
from typing import cast

from core.json_types import object_of, objects_in
from onevalet import ToolExecutionContext, ToolGroup, ToolRetry, gettext, gettext_noop, tool

type _Version = dict[str, str | int]

_SKILLS = "skills"
_GROUP = ToolGroup("skills", gettext_noop("skill, skills"))
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MAX_TEXT, _MAX_DESCRIPTION, _MAX_KEPT, _MAX_VERSIONS = 10_000, 300, 40, 10


@tool(name="save_skill", effect="idempotent", needs_approval=True, parallel=False, group=_GROUP)
async def save_skill(name: str, description: str, text: str, context: ToolExecutionContext) -> str:
    """Keep how something is done, for later: when the person says to make that a skill, or to change one.

    Write down the steps that were taken and what the person wanted about them, so that someone who was not there can
    follow. The person is shown the text and must approve it. It can use the tools that there are, and no others.

    Args:
        name: A short name of small letters, digits and hyphens, such as weekly-report. An existing one gets a version.
        description: When to use it, in one sentence.
        text: The steps, in Markdown.
    """
    if len(name) > 64 or _NAME.fullmatch(name) is None:
        raise ToolRetry("The name needs small letters, digits and hyphens, such as weekly-report.")
    if not 0 < len(description.strip()) <= _MAX_DESCRIPTION or not 0 < len(text.strip()) <= _MAX_TEXT:
        raise ToolRetry(f"A description has up to {_MAX_DESCRIPTION} characters, and a text up to {_MAX_TEXT}.")
    kept = await context.storage.get(_SKILLS, name)
    if kept is None and len(await context.storage.list(_SKILLS)) >= _MAX_KEPT:
        raise ToolRetry(gettext("There are {number} skills already; remove one first.", number=_MAX_KEPT))
    versions = _versions(kept.value if kept else None)
    if not versions or versions[-1].get("call") != context.idempotency_key:
        number = int(versions[-1]["number"]) + 1 if versions else 1
        fresh: _Version = {"number": number, "description": description.strip(), "text": text.strip()}
        versions = [*versions, {**fresh, "call": context.idempotency_key}]
        await _keep(name, versions, context)
    return gettext("The skill {name} is kept, version {number}.", name=name, number=versions[-1]["number"])


@tool(name="list_skills", effect="read", group=_GROUP)
async def list_skills(context: ToolExecutionContext) -> str:
    """List the person's own skills, with their versions."""
    kept = [(value.key, _versions(value.value)) for value in await context.storage.list(_SKILLS)]
    lines = [
        gettext(
            "{name}, version {number}: {description}",
            name=name,
            number=versions[-1]["number"],
            description=versions[-1]["description"],
        )
        for name, versions in sorted(kept)
        if versions
    ]
    return "\n".join([gettext("Your skills:"), *lines]) if lines else gettext("You have no skills of your own.")


@tool(name="show_skill", effect="read", group=_GROUP)
async def show_skill(name: str, context: ToolExecutionContext, version: int = 0) -> str:
    """Show the text of one of the person's own skills.

    Args:
        name: Its name.
        version: Which version; without it, the newest.
    """
    found = await _find(name, version, context)
    head = gettext("The skill {name}, version {number}:", name=name, number=found["number"])
    return f"{head}\n{found['description']}\n\n{found['text']}"


@tool(name="revert_skill", effect="idempotent", parallel=False, group=_GROUP)
async def revert_skill(name: str, version: int, context: ToolExecutionContext) -> str:
    """Use an earlier version of a skill again, as the person approved it then.

    Args:
        name: Its name.
        version: The version's number.
    """
    found = await _find(name, version, context)
    kept = await context.storage.get(_SKILLS, name)
    versions = _versions(kept.value if kept else None)
    if versions[-1].get("call") != context.idempotency_key:
        _offer(context, gettext("Skill {name} as it was", name=name), name, versions)
        number = int(versions[-1]["number"]) + 1
        fresh = {**found, "number": number, "call": context.idempotency_key}
        await _keep(name, [*versions, fresh], context)
        versions = [fresh]
    return gettext("The skill {name} is kept, version {number}.", name=name, number=versions[-1]["number"])


@tool(name="remove_skill", effect="idempotent", parallel=False, group=_GROUP)
async def remove_skill(name: str, context: ToolExecutionContext) -> str:
    """Remove one of the person's own skills, with all its versions.

    Args:
        name: Its name.
    """
    if kept := await context.storage.get(_SKILLS, name):
        _offer(context, gettext("Removed skill {name}", name=name), name, _versions(kept.value))
        await context.storage.delete(_SKILLS, name)
    return gettext("The skill {name} is removed.", name=name)


@tool(name="put_back_skill", effect="idempotent", inverse=True)
async def put_back_skill(name: str, versions: list[_Version], context: ToolExecutionContext) -> str:
    """Put back a skill as it was.

    Args:
        name: Its name.
        versions: Its versions.
    """
    await _keep(name, versions, context)
    return gettext("Undone: the skill {name} is as it was.", name=name)


def _offer(context: ToolExecutionContext, title: str, name: str, versions: list[_Version]) -> None:
    context.undo.offer(title, put_back_skill.name, {"name": name, "versions": [{**version} for version in versions]})


async def _keep(name: str, versions: list[_Version], context: ToolExecutionContext) -> None:
    await context.storage.put(_SKILLS, name, {"versions": [{**version} for version in versions[-_MAX_VERSIONS:]]})


async def _find(name: str, version: int, context: ToolExecutionContext) -> _Version:
    kept = await context.storage.get(_SKILLS, name)
    versions = _versions(kept.value if kept else None)
    found = [one for one in versions if not version or one["number"] == version]
    if not found:
        names = ", ".join(value.key for value in await context.storage.list(_SKILLS)) or "none"
        raise ToolRetry(f"There is no such skill or version. There are: {names}.")
    return found[-1]


def _versions(value: object) -> list[_Version]:
    return cast("list[_Version]", objects_in(object_of(value).get("versions")))
