"""Every command of docs/commands.md with wrong input: one sentence on standard error, and the right exit code."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from onevalet.cli.main import app
from tests.onevalet.cli.harness import Operator, add_people
from tests.shipping.harness import read

pytestmark = pytest.mark.xdist_group("processes")

DOCUMENTED = re.findall(r"^- `bin/onevalet ([a-z-]+(?: [a-z-]+)*)[^`]*`: ", read("docs/commands.md"), re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Wrong:
    """Wrong input: the words after the command, standard input, settings; and a part of the sentence that answers."""

    words: str
    says: str
    stdin: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    code: int = 2


NOWHERE = (("DATABASE_URL", ""), ("REDIS_URL", ""))
BAD_PORT = (("PORT", "http"),)
BAD_TOKEN = (("SLACK_BOT_TOKEN", "xoxp-wrong"), ("SLACK_APP_TOKEN", "xapp-1"))
BAD_MODEL = (("ONEVALET_MODEL", "nosuchmodel"),)
PUBLIC = (("PUBLIC_URL", "https://valet.example.org"),)
NO_SKILLS = (("ONEVALET_SKILLS", "/nowhere/skills"),)
NO_FILE = (("ONEVALET_MCP", "/nowhere/mcp.toml"),)
CLOSED = (("DATABASE_URL", "postgresql://127.0.0.1:1/none"),)

WRONG: dict[str, Sequence[Wrong]] = {
    "dev": [
        Wrong("", "PORT cannot be used", settings=BAD_PORT),
        Wrong("", "SLACK_BOT_TOKEN cannot be used", settings=BAD_TOKEN),
    ],
    "init": [
        Wrong("", "Nobody can be asked here"),
        Wrong("--set A", "write --set NAME=VALUE"),
        Wrong("--file nowhere/.env --run compose", "nowhere/.env cannot be written: "),
    ],
    "web": [Wrong("", "DATABASE_URL is not set", settings=NOWHERE), Wrong("now", "unexpected")],
    "worker": [
        Wrong("", "DATABASE_URL is not set", settings=NOWHERE),
        Wrong("", "ONEVALET_MODEL is not set"),
        Wrong("", "litellm knows no provider of nosuchmodel", settings=BAD_MODEL),
        Wrong("--no-spare", "litellm knows no provider of nosuchmodel", settings=BAD_MODEL),
        Wrong("", "SLACK_BOT_TOKEN cannot be used", settings=BAD_TOKEN),
        Wrong("--check now", "unexpected"),
    ],
    "cost": [
        Wrong("--days 0", "greater than or equal to 1"),
        Wrong("now", "unexpected"),
        Wrong("", "DATABASE_URL", settings=NOWHERE),
    ],
    "migrate": [
        Wrong("", "DATABASE_URL is not set", settings=NOWHERE),
        Wrong("--check now", "unexpected"),
    ],
    "backup": [
        Wrong("/dev/null", "/dev/null is there already"),
        Wrong("/dev/null/none.zip", "No backup was written to /dev/null/none.zip"),
        Wrong("", "The database does not answer (ConnectionRefusedError)", settings=CLOSED, code=1),
    ],
    "restore": [
        Wrong("", "Missing argument"),
        Wrong("nowhere.zip", "There is no file nowhere.zip"),
        Wrong("/dev/null", "This file is not a whole archive"),
    ],
    "chat": [Wrong("", "cannot be written", settings=(("ONEVALET_HOME", "/dev/null/home"),))],
    "trace": [Wrong("", "Missing argument"), Wrong("nope", "Nothing is known of nope")],
    "pair": [
        Wrong("", "Give a code"),
        Wrong("AAAA-AAAA --role king", "king"),
        Wrong("AAAA-AAAA", "Nobody was given this code", code=1),
        Wrong("AAAA-AAAA --tier gold", "There is no tier"),
        Wrong("--address ann", "names nobody"),
    ],
    "accounts": [Wrong("--tenant nope", "There is no person nope")],
    "console link": [
        Wrong("", "PUBLIC_URL is not set"),
        Wrong("", "There is no owner yet", settings=PUBLIC),
        Wrong("--tenant nope", "There is no person nope", settings=PUBLIC),
    ],
    "deliveries list": [Wrong("now", "unexpected")],
    "deliveries resend": [Wrong("out_none", "is not there"), Wrong("", "Missing argument")],
    "deliveries drop": [Wrong("out_none", "is not there")],
    "simulate": [
        Wrong("", "Missing argument"),
        Wrong("nowhere.scenario.toml", "nowhere.scenario.toml cannot be read"),
        Wrong("/dev/null", "A scenario needs steps"),
    ],
    "new": [
        Wrong("", "Missing argument"),
        Wrong("table x", "table"),
        Wrong("tool 9lives", "'9lives' is not a usable name"),
        Wrong("tool class", "'class' is not a usable name"),
    ],
    "connect": [Wrong("", "Missing argument"), Wrong("nosuchservice --tenant nope", "There is no person nope")],
    "replay": [Wrong("nope", "No turn is known by nope"), Wrong("", "Missing argument")],
    "doctor": [Wrong("", "PORT cannot be used", settings=BAD_PORT)],
    "channels setup": [Wrong("sms", "unexpected")],
    "tenants export": [
        Wrong("", "Missing argument"),
        Wrong("nope nowhere.zip", "There is no person nope"),
        Wrong("nope /dev/null", "/dev/null is there already"),
    ],
    "tenants delete": [
        Wrong("", "Missing argument"),
        Wrong("nope", "There is no person nope"),
        Wrong("nope --yes", "There is no person nope"),
    ],
    "tenants import": [
        Wrong("", "Missing argument"),
        Wrong("nowhere.zip", "There is no file nowhere.zip"),
        Wrong("/dev/null", "This file is not a whole archive"),
        Wrong("nowhere.zip --role king", "king"),
    ],
    "people list": [
        Wrong("ann", "unexpected"),
        Wrong("", "not running here", settings=NOWHERE),
        Wrong("", "The database does not answer (ConnectionRefusedError)", settings=CLOSED, code=1),
        *(
            Wrong("", "DATABASE_URL cannot be used: must be an address", settings=(("DATABASE_URL", url),))
            for url in ("nonsense", "mysql://host/name", "postgresql://[host", "postgresql://host:port/name")
        ),
        *(
            Wrong("", "DATABASE_URL cannot be used: must be an address", settings=(("DATABASE_URL", url),))
            for url in ("postgresql://one,,two/name", "postgresql://one,two/name?target_session_attrs=standby")
        ),
        Wrong("", "REDIS_URL cannot be used: must be an address", settings=(("REDIS_URL", "localhost:6379"),)),
    ],
    "people show": [Wrong("nope", "There is no person nope")],
    "memory list": [Wrong("--tenant nope", "There is no person nope")],
    "credentials set": [
        Wrong("email", "`host` is missing", stdin="{}"),
        Wrong("google", "is not JSON", stdin="token"),
        Wrong("", "Missing argument"),
    ],
    "credentials list": [Wrong("--tenant nope", "There is no person nope"), Wrong("x" + "y" * 300, "200 characters")],
    "credentials delete": [Wrong("google", "has no account primary")],
    "events source add": [Wrong("door --style magic", "magic"), Wrong("door --a-minute 0", "--a-minute")],
    "events source list": [Wrong("--tenant nope", "There is no person nope")],
    "events source delete": [Wrong("door", "has no source door")],
    "events list": [Wrong("--tenant nope", "There is no person nope")],
    "events retry": [Wrong("door 7", "No event 7 of door")],
    "tasks list": [Wrong("--tenant nope", "There is no person nope")],
    "tasks pause": [Wrong("7", "has no task 7"), Wrong("", "Missing argument")],
    "tasks resume": [Wrong("7", "has no task 7")],
    "tasks retry": [Wrong("7", "has no task 7"), Wrong("--tenant nope", "There is no person nope")],
    "tasks run": [Wrong("7", "has no task 7")],
    "tasks why": [Wrong("7", "has no task 7")],
    "tasks dry-run": [Wrong("7", "has no task 7")],
    "approvals list": [Wrong("--tenant nope", "There is no person nope")],
    "approvals decide": [Wrong("7K maybe", "approve or cancel"), Wrong("7K approve", "No 7K waits")],
    "receipts verify": [
        Wrong("", "Missing argument"),
        Wrong("nowhere", "The file nowhere cannot be read"),
        Wrong("/dev/null", "This is not a file of receipts", code=1),
    ],
    "receipts export": [
        Wrong("", "Missing argument"),
        Wrong("/dev/null", "The file /dev/null cannot be written"),
        Wrong("file --period whenever", "Write the period as a month"),
        Wrong("file --tenant nope", "There is no person nope"),
        Wrong("file", "ONEVALET_SECRET_KEYS", settings=(("ONEVALET_SECRET_KEYS", ""),)),
    ],
    "receipts key": [Wrong("", "ONEVALET_SECRET_KEYS", settings=(("ONEVALET_SECRET_KEYS", ""),))],
    "halt": [Wrong("now", "unexpected"), Wrong("", "OneValet is not running here", settings=NOWHERE)],
    "lift": [Wrong("now", "unexpected"), Wrong("", "OneValet is not running here", settings=NOWHERE)],
    "webhooks add": [
        Wrong("", "Missing argument"),
        Wrong("x", "The address x cannot be called"),
        Wrong("https://e.example --kind nope", "There is no kind 'nope'"),
    ],
    "webhooks list": [Wrong("now", "unexpected")],
    "webhooks secret": [Wrong("", "Missing argument"), Wrong("nope", "There is no endpoint nope")],
    "webhooks rotate": [Wrong("", "Missing argument"), Wrong("nope", "There is no endpoint nope")],
    "webhooks enable": [Wrong("", "Missing argument"), Wrong("nope", "There is no endpoint nope")],
    "webhooks disable": [Wrong("", "Missing argument"), Wrong("nope", "There is no endpoint nope")],
    "webhooks delete": [Wrong("", "Missing argument"), Wrong("nope", "There is no endpoint nope")],
    "consents list": [Wrong("--tenant nope", "There is no person nope")],
    "consents withdraw": [
        Wrong("x", "valid integer"),
        Wrong("", "Missing argument"),
        Wrong("1 --tenant nope", "There is no person nope"),
    ],
    "agents list": [Wrong("--tenant nope", "There is no person nope")],
    "agents pause": [Wrong("agent_x", "No waiting agent has"), Wrong("", "Missing argument")],
    "agents resume": [Wrong("agent_x", "No waiting agent has")],
    "agents cancel": [Wrong("agent_x", "No waiting agent has")],
    "notify add": [Wrong("email nobody", "not an email address"), Wrong("fax 1", "push and email")],
    "notify list": [Wrong("--tenant nope", "There is no person nope")],
    "notify delete": [Wrong("email ann@example.org", "no such address")],
    "notify send": [Wrong("hello --urgency now", "now"), Wrong("hello --tenant nope", "There is no person nope")],
    "keys backup": [
        Wrong("", "Missing argument"),
        Wrong("keys.copy", "12 letters or more", stdin="short\n"),
        Wrong("/dev/null", "/dev/null is there already", stdin="four quiet words here\n"),
    ],
    "keys restore": [
        Wrong("/nowhere", "/nowhere cannot be read"),
        Wrong("/dev/null", "is no copy of secret keys", stdin="four quiet words here\n"),
    ],
    "mcp": [Wrong("", "ONEVALET_MCP_TOKEN is not set")],
    "mcp token": [Wrong("", "Missing argument"), Wrong("laptop --tenant nope", "There is no person nope")],
    "mcp tokens": [Wrong("--tenant nope", "There is no person nope")],
    "mcp revoke": [Wrong("one", "valid integer"), Wrong("7", "has no token 7")],
    "mcp list": [Wrong("", "No MCP servers are configured"), Wrong("", "which cannot be read", settings=NO_FILE)],
    "mcp accept": [Wrong("", "Missing argument"), Wrong("time", "No MCP servers are configured")],
    "mcp withdraw": [Wrong("time", "No MCP servers are configured")],
    "skills list": [Wrong("", "which cannot be read", settings=NO_SKILLS), Wrong("now", "unexpected")],
    "skills accept": [Wrong("", "Missing argument"), Wrong("report", "There is no skill report")],
    "skills withdraw": [Wrong("report", "Nothing of that name is accepted")],
    "keys discard": [
        Wrong("now", "unexpected"),
        Wrong("", "The database does not answer (ConnectionRefusedError)", settings=CLOSED, code=1),
    ],
    "keys rotate": [Wrong("", "ONEVALET_SECRET_KEYS", settings=(("ONEVALET_SECRET_KEYS", ""),))],
}


def commands(group: TyperGroup, before: str = "") -> Iterator[str]:
    """Yield each command that the program has, with its groups before it."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            if command.invoke_without_command and not command.no_args_is_help:
                yield f"{before}{name}"
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}"


def test_every_command_has_its_line_in_the_page_and_its_wrong_input() -> None:
    """A new command fails here until it has both."""
    program = get_command(app)
    assert isinstance(program, TyperGroup)
    assert sorted(DOCUMENTED) == sorted(commands(program))
    assert {command for command, wrong in WRONG.items() if wrong} == set(DOCUMENTED)


def is_one_sentence(text: str) -> bool:
    """Return whether a text is one line that ends as a sentence, with no traceback and no frame around it."""
    return bool(re.fullmatch(r"(tn_|[A-Z`'0-9/]).*[.]\n", text)) and "Traceback" not in text


@pytest.mark.parametrize("command", DOCUMENTED)
async def test_wrong_input_is_one_sentence_and_the_right_code(
    operator: Operator, database_url: str, redis_url: str, command: str
) -> None:
    await add_people(database_url, "tn_ann")
    operator.environment["REDIS_URL"] = redis_url
    unknown = Wrong("--nope", "No such option: --nope")
    for wrong in (*WRONG[command], unknown):
        words = (*command.split(), *wrong.words.split())
        code, out, errors = await operator.run(*words, stdin=wrong.stdin, **dict(wrong.settings))
        assert (code, out) == (wrong.code, ""), (words, errors)
        assert is_one_sentence(errors), (words, errors)
        assert wrong.says in errors, (words, errors)


@pytest.mark.parametrize("group", ["", " tasks", " events source"])
async def test_a_command_that_does_not_exist_is_one_sentence(operator: Operator, group: str) -> None:
    code, out, errors = await operator.run(*group.split(), "bogus")
    assert (code, out, errors) == (2, "", f"No such command 'bogus': see `onevalet{group} --help`.\n")
