"""Calling tools that only read for a condition: as in a turn, but outside any turn."""

import asyncio

from core.errors import ToolError, ToolFailed
from core.http.types import AddressCheck, HttpResponse
from core.ids import IdMaker
from core.journal.types import Effect
from core.json_types import JsonObject
from core.people.tenant import TurnTenant
from core.tools.context import ToolExecutionContext
from core.tools.tool import AnyTool
from core.triggers.kinds.condition import ConditionTrigger
from core.triggers.kinds.schedule import TriggerError
from core.triggers.store import TaskStore
from core.turns.orchestrator import Orchestrator

SECONDS = 60.0


class OrchestratorTools:
    """The orchestrator's tools. Implements `core.triggers.runs.condition_checks.ReadTools`."""

    def __init__(self, orchestrator: Orchestrator, store: TaskStore, make_id: IdMaker) -> None:
        self._orchestrator = orchestrator
        self._store = store
        self._make_id = make_id

    async def read(self, tenant_id: str, tool: str, arguments: JsonObject) -> str:
        reader = self._reader(tool)
        context = await self._context(tenant_id, tool)
        try:
            async with asyncio.timeout(reader.timeout or SECONDS):
                return await reader.run(reader.parse(arguments), context)
        except TimeoutError as error:
            raise ToolFailed(f"{tool} gave no answer in time.") from error

    async def fetch(self, tenant_id: str, url: str) -> HttpResponse:
        context = await self._context(tenant_id, "fetch")
        return await context.http.request("GET", url)

    async def check(self, tenant_id: str, trigger: ConditionTrigger) -> None:
        """Refuse a condition on a tool or an address that a look would refuse. Raises `TriggerError`."""
        try:
            if trigger.tool:
                self._reader(trigger.tool)
                return
            http = self._orchestrator.services.http
            if http is None:
                raise TriggerError("This assistant has no access to the web.")
            if isinstance(http, AddressCheck):
                await http.check(trigger.url)
        except ToolError as error:
            raise TriggerError(str(error)) from error

    def _reader(self, tool: str) -> AnyTool:
        reader = self._orchestrator.tools.get(tool)
        if reader is None:
            raise ToolFailed(f"There is no tool {tool} to look with.")
        if reader.effect is not Effect.READ or reader.needs_approval or reader.agent:
            raise ToolFailed(f"{tool} does more than read, so a condition cannot look at it.")
        return reader

    async def _context(self, tenant_id: str, tool: str) -> ToolExecutionContext:
        timezone, language = await self._store.person(tenant_id)
        tenant = TurnTenant(tenant_id, language=language, timezone=timezone or "UTC")
        look = self._make_id("look")
        return self._orchestrator.services.context_for(tenant, look, "", tool, look)
