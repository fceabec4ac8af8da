"""`new`: a first tool, agent, channel or an ability's own kind, with a test that passes."""

import keyword
import re
from collections.abc import Mapping
from pathlib import Path
from string import Template

from core.errors import ConfigError
from onevalet.ability import Starter
from onevalet.ability_registry import all_abilities

_TOOL = '''"""$Words."""

from onevalet import ToolExecutionContext, tool


@tool(effect="read")
async def $name(subject: str, context: ToolExecutionContext) -> str:
    """$Words: say here when the model should call it.

    Args:
        subject: What it is about.
    """
    return f"{subject}, on {context.clock.now():%A}."
'''
_TOOL_TEST = '''"""The tool $name."""

from $package.$name import $name
from onevalet.testing import make_context


async def test_${name}_answers() -> None:
    assert await $name("Lunch", make_context()) == "Lunch, on Friday."
'''
_AGENT = '''"""$Words."""

from onevalet import AgentResult, InputField, StandardAgent, valet


@valet(name="${Class}Agent", effect="idempotent")
class ${Class}Agent(StandardAgent):
    """$Words: say here when the model should call it."""

    subject = InputField("What is it about?", description="What it is about")

    def needs_approval(self) -> bool:
        return True

    async def on_running(self, msg: str) -> AgentResult:
        await self.context.storage.put("$name", self.context.idempotency_key, self.subject)
        return self.make_result(raw_message=f"Done: {self.subject}.")
'''
_AGENT_TEST = '''"""The agent ${Class}Agent."""

from $package.$name import ${Class}Agent
from onevalet import AgentStatus
from onevalet.testing import make_context, rehearse


def test_${name}_asks_for_what_is_missing() -> None:
    assert rehearse(${Class}Agent).question == "What is it about?"


async def test_${name}_acts_once_it_is_approved() -> None:
    context = make_context()
    planned = rehearse(${Class}Agent, context, subject="Lunch")
    assert planned.approval is not None
    assert planned.approval.details == {"subject": "Lunch"}
    result = await planned.go_on()
    assert (result.status, result.raw_message) == (AgentStatus.COMPLETED, "Done: Lunch.")
    assert len(await context.storage.list("$name")) == 1
'''
_CHANNEL = '''"""$Words: a channel of our own. ONEVALET_CHANNELS=$package.$name switches it on."""

from aiohttp import web

from onevalet import Address, InboundChannel, InboundMessage, OutboundChannel, Part, Receipt, Target, Unavailable


class ${Class}In(InboundChannel):
    """The way in: a POST with `sender`, `id` and `text`. Prove who sends it before you take it in."""

    name = "$name"

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/webhooks/$name", self.receive)]

    async def receive(self, request: web.Request) -> web.Response:
        said = await request.json()
        await self.sink.accept(self.parse(said))  # committed: only now may the sender be told that we have it
        return web.json_response({"ok": True})

    def parse(self, said: dict[str, str]) -> InboundMessage:
        address = Address(self.name, self.account, peer=said["sender"])
        return InboundMessage(address, said["sender"], (said["id"],), said["text"], provider_id=said["id"])


class ${Class}Out(OutboundChannel):
    """The way out."""

    name = "$name"

    async def send(self, part: Part, to: Target) -> Receipt:
        if not to.address.peer:
            raise Unavailable("nobody is there")
        return Receipt(provider_id=to.ref)  # call the provider here, and return its own id
'''
_CHANNEL_TEST = '''"""The channel $name."""

from $package.$name import ${Class}In, ${Class}Out
from onevalet import Address, Part, Target
from onevalet.testing import MemorySink, make_setup


def test_${name}_parses_what_is_said() -> None:
    message = ${Class}In(make_setup(), MemorySink()).parse({"sender": "ann", "id": "1", "text": "Hello"})
    assert (message.address.channel, message.sender, message.keys, message.text) == ("$name", "ann", ("1",), "Hello")


async def test_${name}_sends() -> None:
    sent = await ${Class}Out(make_setup()).send(Part("Hello"), Target(Address("$name", "own", "ann"), "ref1"))
    assert sent.provider_id == "ref1"
'''
_NAME_IT = "Name $package in {setting}, and run: bin/test -p onevalet.testing.plugin tests/test_${{package}}_$name.py"
_PLUGIN = _NAME_IT.format(setting="ONEVALET_PLUGINS")
STARTERS: Mapping[str, Starter] = {
    "tool": Starter("$name.py", _TOOL, _TOOL_TEST, _PLUGIN),
    "agent": Starter("$name.py", _AGENT, _AGENT_TEST, _PLUGIN),
    "channel": Starter("$name.py", _CHANNEL, _CHANNEL_TEST, _NAME_IT.format(setting="ONEVALET_CHANNELS")),
}
"""The templates of the core, besides those of abilities."""


def kinds() -> list[str]:
    """Return the kinds that `new` offers."""
    return [*STARTERS, *(kind for ability in all_abilities() for kind in ability.starters)]


def write_new(kind: str, name: str, package: str, root: Path) -> tuple[list[Path], str]:
    """Write the first files of `name` and their test into a package below `root`; return the files and the next step.

    Raises `ConfigError` if the name is invalid or a file exists already.
    """
    name = name.replace("-", "_").lower()
    for word in (name, package):
        if not re.fullmatch(r"[a-z][a-z0-9_]*", word) or keyword.iskeyword(word):
            raise ConfigError(f"{word!r} is not a usable name: use lower-case letters, digits and underscores.")
    dashed = name.replace("_", "-")
    words = name.replace("_", " ").capitalize()
    values = {
        "name": name,
        "package": package,
        "dashed": dashed,
        "Words": words,
        "Class": "".join(part.capitalize() for part in name.split("_")),
    }
    starter = _starter(kind)
    place, text, test, hint = (
        Template(part).substitute(values) for part in (starter.path, starter.text, starter.test, starter.hint)
    )
    home = root / package
    path = home / place
    files = {path: text, root / "tests" / f"test_{package}_{name}.py": test}
    if there := [file for file in files if file.exists()]:
        raise ConfigError(f"{there[0].relative_to(root)} is there already.")
    for file, content in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    if path.suffix == ".py":
        (home / "__init__.py").touch()
    return list(files), hint


def _starter(kind: str) -> Starter:
    if kind in STARTERS:
        return STARTERS[kind]
    return next(ability.starters[kind]() for ability in all_abilities() if kind in ability.starters)
