"""The bot's side of Telegram that outlives a restart of the simulator."""

from dataclasses import dataclass

from workbench.simulator.journal import Json
from workbench.simulator.keeping import Form
from workbench.simulator.telegram.state import Chat, StoredFile, World
from workbench.simulator.telegram.updates import Failure, Update, Webhook


@dataclass(frozen=True, slots=True)
class Kept:
    """A world without the parts that end with the run: presses that wait for an answer, and polls.

    `commands` and `words` are rows of a scope or name, a language, and the value.
    """

    chats: dict[int, Chat]
    files: dict[str, StoredFile]
    commands: list[tuple[str, str, list[Json]]]
    words: list[tuple[str, str, str]]
    menu_buttons: dict[int, dict[str, Json]]
    group_id: int
    last_message: int
    next_update: int
    waiting: list[Update]
    failures: list[Failure]
    allowed: list[str]
    webhook: Webhook
    privacy: bool = True


FORM = Form(Kept)


def keep(world: World) -> Kept:
    """Return the kept state of a world."""
    settings, updates = world.settings, world.updates
    return Kept(
        chats=world.chats,
        files=world.files,
        commands=[(scope, language, set_to) for (scope, language), set_to in settings.commands.items()],
        words=[(name, language, said) for (name, language), said in settings.words.items()],
        menu_buttons=settings.menu_buttons,
        group_id=world.group_id,
        last_message=world.last_message,
        next_update=updates.next_id,
        waiting=updates.waiting(),
        failures=updates.failures,
        allowed=sorted(updates.allowed),
        webhook=world.webhook,
        privacy=world.privacy,
    )


def bring_back(world: World, kept: Kept) -> None:
    """Restore an earlier world's state in a new world."""
    settings, updates = world.settings, world.updates
    world.chats, world.files, world.group_id, world.webhook = kept.chats, kept.files, kept.group_id, kept.webhook
    world.privacy = kept.privacy
    settings.commands = {(scope, language): commands for scope, language, commands in kept.commands}
    settings.words = {(name, language): words for name, language, words in kept.words}
    settings.menu_buttons = kept.menu_buttons
    world.last_message = max(world.last_message, kept.last_message)
    updates.restore(kept.waiting, kept.next_update)
    updates.failures, updates.allowed = kept.failures, frozenset(kept.allowed)
