"""Rules: an operator's file decides, before a tool call runs, whether it may run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onevalet.ability import Ability, named
from onevalet.foundations import HookFoundation

if TYPE_CHECKING:
    from core.hooks.hooks import Hook


def _hooks(foundation: HookFoundation) -> "Sequence[Hook]":
    from abilities.rules.rules_file import read_rules
    from abilities.rules.settings import RuleSettings

    file = foundation.settings.of(RuleSettings).onevalet_rules
    return [read_rules(file, foundation.storage)] if file else []


ABILITY = Ability(name="rules", settings=named("abilities.rules.settings:RULES"), hooks=_hooks)
