"""The running of a command: settings are read, logs set up, and errors printed as a sentence."""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import typer
from typer.exceptions import TyperException

from core.errors import ConfigError, OneValetError, StoreUnavailable

if TYPE_CHECKING:  # the settings take longer to load than the help to read
    from onevalet.settings import Settings


def run_commands(app: typer.Typer) -> None:
    """Run the command line. Wrong usage prints a sentence with exit code 2, in place of typer's frame."""
    try:
        code = app(prog_name="onevalet", standalone_mode=False)
    except TyperException as error:
        sys.stderr.write(_told(error))
        sys.exit(error.exit_code)
    sys.exit(code if isinstance(code, int) else 0)


def _told(error: TyperException) -> str:
    # For a choice, typer repeats pydantic's message.
    problem = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".")
    if not problem:
        return ""  # a group without a command: its help is printed already
    context = getattr(error, "ctx", None)
    return f"{problem}: see `{context.command_path} --help`.\n" if context else f"{problem}.\n"


def in_sentences(work: Callable[[], object]) -> None:
    """Run work; print an error as a sentence. Exit code 2: the operator must change something."""
    try:
        work()
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    except StoreUnavailable as error:
        sys.stderr.write(f"The database does not answer ({error}): start Postgres, or correct DATABASE_URL.\n")
        sys.exit(1)
    except OneValetError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.exit(1)


def run_work[Result](work: Callable[["Settings"], Awaitable[Result]]) -> Result:
    """Run a command that ends by itself. Its output reports problems, so its log has errors only."""
    settings = read_settings(logging.ERROR)

    async def run() -> Result:
        return await work(settings)

    return asyncio.run(run())


def serve(work: Callable[["Settings", asyncio.Event], Awaitable[None]]) -> None:
    """Run work until SIGINT or SIGTERM, which set the event."""
    settings = read_settings()

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        await work(settings, stop)

    asyncio.run(run())


def read_settings(level: int = logging.INFO) -> "Settings":
    """Read the settings, apply the abilities' declarations, and set up logs that redact the settings' secrets."""
    from onevalet.settings import load_settings
    from onevalet.wiring.abilities import use_abilities
    from onevalet.wiring.logs import set_up_logs

    settings = load_settings()
    use_abilities()
    _export_others()
    set_up_logs(settings.onevalet_log, settings.secrets(), level=level)
    _tell_of_names()
    return settings


def _tell_of_names() -> None:
    import structlog

    from onevalet.unknown_settings import retired_settings, unknown_settings, variables

    names, log = variables(), structlog.get_logger()
    for event, told in (("setting_retired", retired_settings(names)), ("setting_unknown", unknown_settings(names))):
        for name, sentence in told.items():
            log.warning(event, setting=name, told=sentence)


def _export_others() -> None:
    """Export the foreign variables of `.env`, such as OPENAI_API_BASE; the environment goes before them.

    litellm reads its variables there. It looks for a `.env` itself, but above the folder that it is installed in.
    """
    from pydantic_settings import DotEnvSettingsSource

    from onevalet.settings import Settings, is_setting

    for name, value in DotEnvSettingsSource(Settings, case_sensitive=True).env_vars.items():
        if value and not is_setting(name) and not os.environ.get(name):
            os.environ[name] = value


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def say_json(value: object) -> None:
    """Print a value as JSON, for `--json`."""
    say(json.dumps(value, default=str, indent=2))
