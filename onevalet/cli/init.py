"""`init`: from nothing to a `.env` that works, in a terminal or by flags."""

import logging
import sys
from pathlib import Path

import typer

from core.errors import ConfigError
from onevalet.init.dialogue import Dialogue
from onevalet.init.draft import Draft
from onevalet.init.run import run_init, where


def set_up(file: str, given: list[str], preset: str, run: str, *, further: list[str], must_reach: bool) -> None:
    """Set OneValet up. Without a terminal, or with flags for every answer, nothing is asked."""
    from onevalet.wiring.logs import set_up_logs

    answers = dict(map(_answer, given)) | {
        name: value for name, value in {"preset": preset, "run": run}.items() if value
    }
    set_up_logs("text", list(answers.values()), level=logging.CRITICAL)
    talk = Dialogue(answers, interactive=sys.stdin.isatty() and sys.stdout.isatty())
    draft = Draft(where(file), each=talk.interactive)
    if not talk.interactive and not answers:
        raise ConfigError("Nobody can be asked here: run it in a terminal, or answer by flags (`init --help`).")
    try:
        run_init(talk, draft, further, must_reach=must_reach)
    except (typer.Abort, KeyboardInterrupt) as error:
        kept = f"saved so far: {', '.join(sorted(draft.saved))}" if draft.saved else "nothing was saved"
        talk.say(f"\nStopped; {kept}. {draft.path} is whole: run `bin/onevalet init` again to go on.")
        raise typer.Exit(130) from error


def _answer(words: str) -> tuple[str, str]:
    """Return the name and the value of a `--set`; `@` reads the value from a file, `@-` from standard input."""
    name, is_there, value = words.partition("=")
    if not is_there or not name:
        raise ConfigError("An answer has no name: write --set NAME=VALUE, or --set NAME=@FILE.")
    if not value.startswith("@"):
        return name, value
    try:
        text = sys.stdin.read() if value == "@-" else Path(value[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The file {value[1:]}, which --set {name} names, cannot be read.") from error
    return name, text.strip()
