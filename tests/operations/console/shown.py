"""What all pages and all commands show of two lives, without what differs from run to run."""

import asyncio
import re
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path

import pytest
from pydantic import SecretStr
from typer.core import TyperGroup
from typer.main import get_command

from core.errors import ConfigError
from onevalet.cli import runner
from onevalet.cli.main import app
from onevalet.settings import Settings
from operations.console.sign_in import PATH
from tests.core.credentials.harness import KEYS_TEXT
from tests.onevalet.cli.harness import add_people
from tests.operations.console.harness import ANN, Console
from tests.operations.console.lives import HERS
from tests.operations.console.walks import NOT_WALKED, filled

SHOWN = Path(__file__).with_name("shown.txt")
READING = ("accounts", "cost", "list", "show", "tokens", "trace", "why")
"""Last words of the commands that change nothing and look at nothing but the database."""
NOBODY = "tn_nobody"
NOT_SHOWN = (f"{PATH}/health", f"{PATH}/cost")
"""Pages of what the machine is like, and of the last thirty days."""
_IDS = """
select 'approval', id from approvals where tenant_id = $1 union all
select 'conversation', id from conversations where tenant_id = $1 and channel = 'sms' union all
select 'id', turn_id from steps where tenant_id = $1 and name = 'ring_bell' union all
select 'task', id from tasks where tenant_id = $1
"""
"""What stands in the addresses of pages, by its name there."""
_DIFFERENT = [
    (re.compile(r"[0-9a-f]{64}|[0-9a-f]{4}(-[0-9a-f]{4})+"), "…"),
    (re.compile(r"\b(agent|apr|cns|con|conv|mcp|msg|out|run|task|tn|turn)_\w+"), r"\1_…"),
    (re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.]\d+)?)?([+]00:00)?)?"), "…"),
    (
        re.compile(r"\b([A-Z][a-z]{2} )?\d{1,2} [A-Z][a-z]{2}( \d{4})?\b,?|\b[A-Z][a-z]+ 20\d\d\b|\d\d:\d\d(:\d\d)?"),
        "…",
    ),
    (re.compile(r"[+]?\b\d+([.]\d+)? ?m?s\b|\d+ (s|min|seconds?|minutes?) (ago|left)|just now"), "…"),
    (re.compile(r"waited for a worker"), ""),  # where the machine was busy
    (re.compile(r"(… ?)+"), "… "),
    (re.compile(r" +"), " "),
    (re.compile(r" $", re.MULTILINE), ""),
]
_MENU = re.compile(r".*? Sign out ")


async def of_commands(
    console: Console, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """Return the output of each reading command about Ann and about an empty person, as text and as JSON."""
    settings = Settings(
        _env_file=None,
        database_url=SecretStr(console.store.url),
        onevalet_home=home,
        onevalet_secret_keys=(SecretStr(KEYS_TEXT),),
    )
    loop = asyncio.get_running_loop()

    def run[Result](work: Coroutine[object, object, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    async def told(*words: str) -> str:
        capsys.readouterr()
        try:
            await asyncio.to_thread(app, words, standalone_mode=False)
        except ConfigError as error:
            return _told(" ".join(words), str(error))
        return _told(" ".join(words), capsys.readouterr().out)

    monkeypatch.setattr(runner, "read_settings", lambda *_: settings)
    monkeypatch.setattr(asyncio, "run", run)
    ann, [first, *_] = await console.tenant(ANN), await console.store.db.inbound.column("id", order="received_at")
    shown = list[str]()
    for name, parameters in _commands():
        words = [word for parameter in parameters for word in _values(parameter, ann, str(first))]
        shown += [await told(*name.split(), *words), await told(*name.split(), *words, "--json")]
    await add_people(console.store.url, NOBODY)
    for name, parameters in _commands():
        if {"tenant", "person"} & {*parameters}:
            words = [word for parameter in parameters for word in _values(parameter, NOBODY, "")]
            shown.append(await told(*name.split(), *words))
    return shown


async def of_pages(console: Console) -> list[str]:
    """Return the text of each page that Ann sees, who is the owner."""
    tenant = await console.tenant(ANN)
    ids = {row[0]: row[1] for row in await console.store.admin.fetch(_IDS, tenant)}
    shown = list[str]()
    async with console.browser(ANN) as browser:
        for route in console.routes:
            if route.method == "GET" and not route.path.endswith((*NOT_WALKED, *NOT_SHOWN)):
                [address] = filled(route.path, {"tenant": [tenant]} | {name: [id] for name, id in ids.items()})
                status = await browser.get(f"{address}?q={HERS}")
                shown.append(_told(f"{route.path} {status}", _MENU.sub("", browser.text, count=1)))
    return shown


def _values(parameter: str, tenant: str, id: str) -> Sequence[str]:
    """Return the words of a command line that give a parameter its value."""
    return {"tenant": ["--tenant", tenant], "person": [tenant], "id": [id], "which": ["1"]}.get(parameter, [])


def _commands() -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each command that reads, with the names of its parameters."""
    program = get_command(app)
    assert isinstance(program, TyperGroup)
    waiting = [*program.commands.items()]
    for name, command in waiting:
        if isinstance(command, TyperGroup):
            waiting += [(f"{name} {word}", inner) for word, inner in command.commands.items()]
        parameters = [str(parameter.name) for parameter in command.params]
        if name.split()[-1] in READING and "json" in parameters:
            yield name, parameters


def _told(what: str, text: str) -> str:
    told = f"## {what}\n{text}"
    for pattern, instead in _DIFFERENT:
        told = pattern.sub(instead, told)
    return f"{told.rstrip()}\n"
