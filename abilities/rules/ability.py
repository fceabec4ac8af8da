"""Rules: an operator's file decides, before a tool call runs, whether it may run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onevalet.ability import Ability, OwnSettings
from onevalet.foundations import HookFoundation

if TYPE_CHECKING:
    from core.hooks.hooks import Hook


def _settings() -> OwnSettings[Any]:
    from abilities.rules.settings import RuleSettings

    return OwnSettings(RuleSettings)


def _hooks(foundation: HookFoundation) -> "Sequence[Hook]":
    from abilities.rules.rules_file import read_rules
    from abilities.rules.settings import RuleSettings

    file = foundation.settings.of(RuleSettings).onevalet_rules
    return [read_rules(file, foundation.storage)] if file else []


ABILITY = Ability(name="rules", settings=_settings, hooks=_hooks)
