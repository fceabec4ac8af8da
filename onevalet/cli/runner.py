"""How a command runs: with the settings read, the logs set up, and its errors printed as one sentence."""

import asyncio
import json
import signal
import sys
from collections.abc import Awaitable, Callable

from core.errors import ConfigError, OneValetError
from onevalet.settings import Settings, load_settings


def in_sentences(work: Callable[[], object]) -> None:
    """Run work; print an error as one sentence. Exit code 2: the operator must change something."""
    try:
        work()
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    except OneValetError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.exit(1)


def run_work[Result](work: Callable[[Settings], Awaitable[Result]]) -> Result:
    settings = read_settings()

    async def run() -> Result:
        return await work(settings)

    return asyncio.run(run())


def serve(work: Callable[[Settings, asyncio.Event], Awaitable[None]]) -> None:
    """Run work until SIGINT or SIGTERM, which set the event."""
    settings = read_settings()

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        await work(settings, stop)

    asyncio.run(run())


def read_settings() -> Settings:
    """Read the settings and set up the logs, which redact the secrets among them."""
    from onevalet.wiring.logs import set_up_logs

    settings = load_settings()
    set_up_logs(settings.onevalet_log, settings.secrets())
    return settings


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def say_json(value: object) -> None:
    """Print a value as JSON, for `--json`."""
    say(json.dumps(value, default=str, indent=2))
