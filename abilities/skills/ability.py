"""Skills: how something is done here, in words that the operator or the person approved."""

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from onevalet.ability import Ability, Commands, OwnSettings, Sources, Starter
from onevalet.foundations import Foundation

if TYPE_CHECKING:
    from typer import Typer


def _settings() -> OwnSettings[Any]:
    from abilities.skills.settings import SkillSettings

    return OwnSettings(SkillSettings)


def _sources(foundation: Foundation) -> AbstractAsyncContextManager[Sources]:
    from abilities.skills.use import open_skills

    return open_skills(foundation)


def _commands() -> "Typer":
    from abilities.skills.cli import skills_app

    return skills_app


def _starter() -> Starter:
    from abilities.skills.starter import SKILL

    return SKILL


ABILITY = Ability(
    name="skills",
    settings=_settings,
    tools=("abilities.skills.tools",),
    sources=_sources,
    described=("skills",),
    commands=(Commands("skills", "Consent", _commands),),
    starters={"skill": _starter},
)
