"""Skills: how something is done here, in words that the operator or the person approved."""

from typing import TYPE_CHECKING

from onevalet.ability import Ability, Commands, calls, named

if TYPE_CHECKING:
    pass


ABILITY = Ability(
    name="skills",
    settings=named("abilities.skills.settings:SKILLS"),
    tools=("abilities.skills.tools",),
    sources=calls("abilities.skills.use:open_skills"),
    described=("skills",),
    commands=(Commands("skills", "Consent", named("abilities.skills.cli:skills_app")),),
    starters={"skill": named("abilities.skills.starter:SKILL")},
)
