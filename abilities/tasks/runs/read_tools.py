"""Calling tools that only read for a condition: as in a turn, but outside any turn."""

import asyncio
from functools import partial
from typing import Protocol, runtime_checkable

from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.store import TaskStore
from core.agents.field_collection import collect, questions
from core.agents.handler_result import call_handler, result_text
from core.agents.standard_agent import AgentStatus, Valet
from core.errors import ToolError, ToolFailed, ToolRetry
from core.http.pages import Page, PageReader
from core.http.types import HttpResponse
from core.ids import IdMaker
from core.journal.types import Effect
from core.json_types import JsonObject
from core.language.catalogue import gettext
from core.people.tenant import TurnTenant
from core.tools.context import ToolExecutionContext
from core.tools.results import TextWithData
from core.tools.tool import AnyTool, Tool
from core.turns.orchestrator import Orchestrator

SECONDS = 60.0


@runtime_checkable
class AddressCheck(Protocol):
    """A client that can check an address without a request."""

    async def check(self, url: str) -> None:
        """Refuse a barred address. Raises `core.errors.ToolFailed`."""
        ...


class OrchestratorTools:
    """The orchestrator's tools. Implements `abilities.tasks.runs.looks.ReadTools`."""

    def __init__(
        self, orchestrator: Orchestrator, store: TaskStore, make_id: IdMaker, pages: PageReader | None = None
    ) -> None:
        self._orchestrator = orchestrator
        self._pages = pages
        self._store = store
        self._make_id = make_id

    async def read(self, tenant_id: str, tool: str, arguments: JsonObject) -> str:
        reader = self._reader(tool)
        context = await self._context(tenant_id, tool)
        try:
            async with asyncio.timeout(reader.timeout or SECONDS):
                if isinstance(reader, Valet):
                    return await self._ask(reader, arguments, context)
                return await reader.run(reader.parse(arguments), context)
        except TimeoutError as error:
            raise ToolFailed(gettext("{tool} gave no answer in time.", tool=tool)) from error

    async def fetch(self, tenant_id: str, url: str) -> HttpResponse:
        context = await self._context(tenant_id, "fetch")
        return await context.http.request("GET", url)

    async def read_page(self, answer: HttpResponse) -> Page:
        if self._pages is None:
            raise ToolFailed(gettext("I cannot read pages of the web here."))
        return await self._pages(answer)

    async def check(self, tenant_id: str, trigger: ConditionTrigger) -> None:
        """Refuse a condition on a tool or an address that a look would refuse. Raises `TriggerError`."""
        try:
            if trigger.tool is not None:
                self._reader(trigger.tool)
                return
            http = self._orchestrator.services.http
            if http is None:
                raise TriggerError(gettext("This assistant has no access to the web."))
            if trigger.url is not None and isinstance(http, AddressCheck):
                await http.check(trigger.url)
        except ToolError as error:
            raise TriggerError(str(error), note=error.note) from error

    def _reader(self, tool: str) -> AnyTool | Valet:
        reader = self._orchestrator.tools.get(tool) or self._orchestrator.agents.get(tool)
        if reader is None:
            raise ToolFailed(gettext("There is no tool {tool} to check with.", tool=tool))
        if reader.effect is not Effect.READ or (isinstance(reader, Tool) and reader.needs_approval):
            raise ToolFailed(gettext("A condition cannot use {tool}, because it does more than read.", tool=tool))
        return reader

    async def _ask(self, valet: Valet, arguments: JsonObject, context: ToolExecutionContext) -> str:
        """Return the answer of an agent that only reads; nobody answers its questions."""
        if unknown := [name for name in arguments if name not in valet.inputs]:
            raise ToolRetry(
                gettext(
                    "{tool} has no {field}; it has {fields}.",
                    tool=valet.name,
                    field=repr(unknown[0]),
                    fields=", ".join(valet.inputs),
                )
            )
        collected = collect(valet.inputs, {}, arguments)
        if not collected.whole:
            asked = "; ".join(
                f"{name}: {collected.wrong.get(name, 'missing')}" for name in questions(valet.inputs, collected)
            )
            raise ToolRetry(gettext("{tool} needs all of its fields to look: {asked}.", tool=valet.name, asked=asked))
        values = {name: valet.inputs[name].from_json(value) for name, value in collected.fields.items()}
        agent = await self._orchestrator.create_agent(valet, context, _no_loop, values, "")
        if agent.needs_approval():
            raise ToolFailed(gettext("A condition cannot use {tool}, because it asks for approval.", tool=valet.name))
        result = await self._orchestrator.execute_agent(agent, partial(call_handler, agent, None, ""))
        if result.status is not AgentStatus.COMPLETED:
            why = result.raw_message or result.status.value
            raise ToolFailed(gettext("{tool} did not finish: {reason}", tool=valet.name, reason=why))
        return result.raw_message if isinstance(result.raw_message, TextWithData) else result_text(result)

    async def _context(self, tenant_id: str, tool: str) -> ToolExecutionContext:
        timezone, language = await self._store.person(tenant_id)
        tenant = TurnTenant(tenant_id, language=language, timezone=timezone or "UTC")
        look = self._make_id("look")
        return self._orchestrator.services.context_for(tenant, look, None, tool, look)


async def _no_loop(instruction: str, tools: object, system_prompt: str) -> str:
    """Stand for an agent's own loop: a look costs no model."""
    raise ToolFailed(gettext("A condition cannot use this agent, because it asks a model."))
