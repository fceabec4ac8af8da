"""The judges that ship: they rate a turn, advise the model, and end a turn that takes no advice."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onevalet.ability import Ability, named
from onevalet.foundations import HookFoundation

if TYPE_CHECKING:
    from core.hooks.hooks import Hook


def _hooks(foundation: HookFoundation) -> "Sequence[Hook]":
    from abilities.judge.settings import JudgeSettings

    setting, config = foundation.settings.of(JudgeSettings).onevalet_judge, foundation.config
    hooks: list[Hook] = []
    if setting != "off":
        from abilities.judge.checks import CheckingJudge

        claims = None
        if setting != "loops":
            from abilities.judge.claims.judge import Claims

            claims = Claims()
        hooks.append(CheckingJudge(config.max_repeated_calls, config.max_idle_steps, claims))
    if setting == "model":
        from abilities.judge.asking import ModelJudge

        hooks.append(ModelJudge(foundation.model))
    return hooks


ABILITY = Ability(name="judge", settings=named("abilities.judge.settings:JUDGE"), hooks=_hooks)
