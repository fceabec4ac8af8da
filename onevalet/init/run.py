"""The first hour, in order: the place to run, the model, each channel, and the commands to run then."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from core.errors import ConfigError
from onevalet.init import email, senses, slack, sms, telegram
from onevalet.init.address import ask_address
from onevalet.init.dialogue import Dialogue, Wrong
from onevalet.init.doorway import Doorway
from onevalet.init.draft import Draft
from onevalet.init.model import PRESET, set_up_model
from onevalet.init.place import PLACE, set_up_place, what_to_run
from onevalet.settings import is_setting

type FurtherModel = tuple[str, tuple[str, ...], Callable[[Dialogue, Draft], None]]
"""Its purpose, the names of its settings, and the function that asks for them."""
type SetUp = Callable[[Dialogue, Draft, Doorway, Callable[[], str]], None]

_CHANNELS: tuple[tuple[str, tuple[str, ...], SetUp], ...] = (
    ("Telegram", (*telegram.NAMES, telegram.HOW), telegram.set_up_telegram),
    ("SMS", sms.NAMES, sms.set_up_sms),
    ("Slack", (*slack.NAMES, slack.HOW), slack.set_up_slack),
    ("Email", email.NAMES, email.set_up_email),
)
_FURTHER_MODELS: tuple[FurtherModel, ...] = (
    ("an embedding model", (senses.EMBEDDING,), senses.set_up_embedding),
    ("a model for voice notes", senses.TRANSCRIPTION_NAMES, senses.set_up_transcription),
)


def run_init(talk: Dialogue, draft: Draft, further: Sequence[str], *, must_reach: bool) -> None:
    """Ask for all parts, saving each after its proof; print the commands to run."""
    talk.say(f"Each answer is tried, and saved to {draft.path} when it works. Enter takes what is in brackets.")
    talk.say()
    place = set_up_place(talk, draft)
    talk.say()
    if _wants(talk, draft, "a model", (PRESET, "ONEVALET_MODEL"), "ONEVALET_MODEL"):
        set_up_model(talk, draft, further)
    for title, names, set_up_further in further_models():
        if talk.is_given(*names) or (draft.has("ONEVALET_MODEL") and _wants(talk, draft, title, names, names[0])):
            talk.say()
            set_up_further(talk, draft)
    settings = draft.settings({})
    with Doorway(settings.host, settings.port) as doorway:
        for title, names, set_up in _CHANNELS:
            talk.say()
            if _wants(talk, draft, title, names, names[0]):
                _set_up_channel(talk, draft, doorway, set_up, must_reach)
    if talk.unused:
        raise ConfigError(f"Nothing asks for {', '.join(talk.unused)}: see `init --help` for the names.")
    draft.finish()
    _end(talk, draft, place)


def further_models() -> list[FurtherModel]:
    """Return the models beside the answering model whose abilities are there."""
    return [further for further in _FURTHER_MODELS if is_setting(further[1][0])]


def _wants(talk: Dialogue, draft: Draft, part: str, names: tuple[str, ...], setting: str) -> bool:
    """Return whether a part is to be set up: without a terminal, when a flag names something of it."""
    if not talk.interactive or talk.is_given(*names):
        return talk.is_given(*names)
    is_model = "model" in part
    if draft.has(setting):
        name = part.removeprefix("an ").removeprefix("a ")
        shown = f"{name}: {draft.value(setting)} is set." if is_model else f"{name} is set up."
        return talk.confirm(f"{shown[0].upper()}{shown[1:]} Change it?", default=False)
    # The optional parts are offered, not suggested.
    return talk.confirm(f"Set up {part}?", default=part in ("a model", "Telegram", "SMS", "Slack"))


def _set_up_channel(talk: Dialogue, draft: Draft, doorway: Doorway, set_up: SetUp, must_reach: bool) -> None:
    while True:
        try:
            return set_up(talk, draft, doorway, lambda: ask_address(talk, draft, doorway, must_reach=must_reach))
        except Wrong as wrong:  # the provider accepted each answer, but not all of them together
            talk.refuse("channel", wrong)
            if not talk.confirm("Once more from the beginning?", default=True):
                return None


def _end(talk: Dialogue, draft: Draft, place: str) -> None:
    talk.say()
    if draft.saved:
        talk.say(f"Saved to {draft.path}, for your eyes only (0600): {', '.join(sorted(draft.saved))}.")
    else:
        talk.say(f"Nothing to save: {draft.path} is as it was.")
    if draft.overruled:
        talk.say(
            f"Beware: the environment sets {', '.join(draft.overruled)} to something else, and goes before the file."
        )
    talk.say()
    talk.say("Now run, in this order:")
    for command in what_to_run(place):
        talk.say(f"  {command}")
    talk.say()
    talk.say("Then write to OneValet. It answers a stranger with a code, and this lets you in as its owner:")
    talk.say("  bin/onevalet pair CODE --role owner")


def where(file: str) -> Path:
    """Return the file to write; raise `ConfigError` if it cannot be written."""
    path = Path(file)
    if path.is_dir():
        raise ConfigError(f"The file {file} is a folder: name one in it, such as --file {file.rstrip('/')}/.env.")
    folder = path.resolve().parent
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"The file {file} cannot be written: {folder} is not your folder; name another by --file.")
    return path


NAMES = frozenset(
    {
        PLACE,
        PRESET,
        "PUBLIC_URL",
        "DATABASE_URL",
        "REDIS_URL",
        *(name for _, names, _ in (*_CHANNELS, *_FURTHER_MODELS) for name in names),
    }
)
"""Names that flags may set, besides a model's own settings."""
