"""Habits: what a person wants to do each day, with a reminder until it is done."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from core.language.catalogue import gettext_noop, ngettext_noop
from core.messaging.chat_words import ChatCommand
from core.people.table_rules import Belonging, Merge, PersonTable
from onevalet.ability import Ability, ConsolePages, OwnSettings, Repeated
from onevalet.foundations import ServiceFoundation, WorkFoundation

if TYPE_CHECKING:
    from core.turns.services import ForTurn


def _settings() -> OwnSettings[Any]:
    from tests.plugins.habits.settings import HabitSettings

    return OwnSettings(HabitSettings)


def _services(stack: AsyncExitStack, foundation: ServiceFoundation) -> "Mapping[type, ForTurn]":
    from tests.plugins.habits.habits import Habits
    from tests.plugins.habits.settings import HabitSettings

    most = foundation.settings.of(HabitSettings).habits_most
    return {Habits: lambda tenant_id, turn_id: Habits(foundation.database, foundation.clock, tenant_id, most)}


def _pages(foundation: ServiceFoundation) -> ConsolePages:
    from tests.plugins.habits.pages import HabitPages

    return ConsolePages([HabitPages], menu=[("habits", "Habits")])


def _work(stack: AsyncExitStack, foundation: WorkFoundation) -> Sequence[Repeated]:
    from tests.plugins.habits.reminding import EVERY, remind

    once = partial(remind, foundation.database, foundation.clock, foundation.notifier)
    return [Repeated("reminders of habits", EVERY, once, "habits", by_peoples_clock=True)]


ABILITY = Ability(
    name="habits",
    settings=_settings,
    tools=("tests.plugins.habits.tools",),
    services=_services,
    words=(
        ChatCommand(
            name="habits",
            words={"en": ("habits",)},
            help=gettext_noop("your habits, and which are done today"),
            answer="tests.plugins.habits.words:list_habits",
        ),
    ),
    tables=(PersonTable("habits", Belonging(Merge.FIRST, ngettext_noop("{number} habit", "{number} habits"))),),
    pages=_pages,
    work=_work,
)
