"""OneValet inside a program: one object with the whole assistant behind it.

The class imports what it wires only when it is entered, so that naming it costs nothing.
"""

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from core.errors import ConfigError
from core.turns.event_stream import StreamEvent
from core.turns.types import TurnState

if TYPE_CHECKING:
    from core.approvals.types import PendingApproval
    from core.credentials.store import CredentialStore
    from core.turns.orchestrator import Orchestrator
    from onevalet import EventBus, Momex, TriggerEngine
    from onevalet.wiring.talking import Talking
    from onevalet.wiring.worker_parts import WorkerParts


@dataclass(frozen=True, slots=True)
class Reply:
    """What a program is answered: `text` is Markdown, in paragraphs where the assistant sent several messages.

    `state` is WAITING while the person is asked something; `approvals` are the actions that wait for their consent.
    Where nothing is said, `reason` says why.
    """

    text: str
    state: TurnState
    turn_id: str | None = None
    reason: str = ""
    approvals: "tuple[PendingApproval, ...]" = ()


@dataclass(frozen=True, slots=True)
class _Open:
    parts: "WorkerParts"
    talking: "Talking"


class OneValet:
    """The assistant inside a program: a worker with everything that one has, entered by `async with`.

    `settings` are those of `.env`, by the same names, and go before the environment and `.env`. Where they name no
    DATABASE_URL or REDIS_URL, embedded servers are started, with their data in ONEVALET_HOME. `plugins` are tools,
    agents, hooks and whatever else a plugin's module may hold, besides those of ONEVALET_PLUGINS. `serve` also receives
    from the channels that are on, as `web` does.

    A person is named by `tenant`: the id of somebody who is known, or a name of the program's own, under which they are
    let in.
    """

    def __init__(
        self, settings: Mapping[str, str] | None = None, *, plugins: Iterable[object] = (), serve: bool = False
    ) -> None:
        self._settings = dict(settings or {})
        self._plugins = tuple(plugins)
        self._serve = serve
        self._stack = AsyncExitStack()
        self._opened: _Open | None = None

    async def __aenter__(self) -> Self:
        """Start the servers that are needed and the worker. Raises `ConfigError` with what to change."""
        from onevalet.wiring.embedding import open_inside
        from onevalet.wiring.outbound import Brought
        from onevalet.wiring.program import ProgramNotification
        from onevalet.wiring.talking import Talking

        channel = ProgramNotification()
        brought = Brought(self._plugins, (channel,))
        parts = await self._stack.enter_async_context(open_inside(self._settings, brought, serve=self._serve))
        self._opened = _Open(parts, Talking(parts, channel))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the worker, which hands back what it has begun, and the servers."""
        self._opened = None
        await self._stack.aclose()

    async def tenant_id(self, tenant: str, *, timezone: str | None = None) -> str:
        """Return a person's id, which `tasks`, `memory`, `credentials` and `events` take; let them in if new.

        `timezone` is theirs (IANA) if they are new; without one, the assistant asks when it needs it.
        """
        return await self._inside.talking.person(tenant, timezone)

    async def handle_message(self, text: str, *, tenant: str, conversation: str = "") -> Reply:
        """Take in what a person says, and return what they are answered.

        The message is committed first, so that it survives this process. `conversation` names one beside the person's
        main one.
        """
        return await self._inside.talking.say(text, tenant, conversation)

    def stream_message(self, text: str, *, tenant: str, conversation: str = "") -> AsyncGenerator[StreamEvent]:
        """Do as `handle_message`, and yield the turn's events; exactly one EXECUTION_END, which is the last.

        Read to the end or close it: closing stops the turn.
        """
        return self._inside.talking.stream(text, tenant, conversation)

    async def stop(self, tenant: str, message: str = "", *, conversation: str = "") -> bool:
        """Stop the turn that runs in a conversation, as `/stop` does; return whether there was one.

        It stops at its next step; its `Reply` has the state INTERRUPTED, and repeats `message`.
        """
        return await self._inside.talking.stop(tenant, message, conversation)

    async def unread(self, tenant: str, conversation: str = "") -> list[str]:
        """Return what the person was written since: reminders, results of tasks. Each message comes once."""
        return await self._inside.talking.unread(tenant, conversation)

    async def notify(self, tenant: str, text: str, **about: str) -> bool:
        """Notify a person where and when they want it; return whether it reaches them.

        `about` may hold `title`, `category`, `urgency` (urgent, normal, low) and `dedupe_key`.
        """
        service = self._inside.parts.outbound.service
        return await service.send(await self.tenant_id(tenant), text, about)

    async def add_address(self, tenant: str, channel: str, address: str) -> None:
        """Add an address for a person's notifications: on `push`, `email`, or a channel of your own that only sends.

        Raises `ConfigError` for an address that cannot be used, and for that of another person.
        """
        await self._inside.talking.add_address(tenant, channel, address)

    @property
    def approvals(self) -> "Approvals":
        """Return what waits for people's consent."""
        return Approvals(self._inside.talking)

    @property
    def orchestrator(self) -> "Orchestrator":
        """Return what answers turns."""
        return self._inside.parts.assistant.orchestrator

    @property
    def tasks(self) -> "TriggerEngine":
        """Return people's tasks, and what makes them run."""
        from onevalet import TriggerEngine

        return self._opened_as(TriggerEngine)

    @property
    def memory(self) -> "Momex":
        """Return what is remembered; raises `ConfigError` where ONEVALET_MEMORY is off."""
        from onevalet import Momex

        memory = self.orchestrator.momex
        if not isinstance(memory, Momex):
            raise ConfigError("ONEVALET_MEMORY is off: nothing is remembered.")
        return memory

    @property
    def credentials(self) -> "CredentialStore":
        """Return people's credentials for other services."""
        return self._inside.parts.assistant.credentials

    @property
    def events(self) -> "EventBus":
        """Return the bus on which events are published and subscribed to."""
        from onevalet import EventBus

        return self._opened_as(EventBus)

    def _opened_as[Kind](self, kind: type[Kind]) -> Kind:
        """Return what an ability has opened."""
        return self._inside.parts.foundation.opened.get(kind)

    @property
    def _inside(self) -> _Open:
        if self._opened is None:
            raise ConfigError("Enter it first: async with OneValet(...) as valet.")
        return self._opened


class Approvals:
    """What waits for people's consent, and their decisions, which a program passes on from the person themselves."""

    def __init__(self, talking: "Talking") -> None:
        self._talking = talking

    async def list(self, tenant: str) -> "list[PendingApproval]":
        """Return what waits for a person's decision, wherever it was asked, the oldest first."""
        return await self._talking.pending(tenant)

    async def approve(self, tenant: str, code: str) -> Reply:
        """Pass on that the person approves exactly what was shown; return what follows. Raises `ConfigError`."""
        from core.approvals.exact_replies import Verb

        return await self._talking.decide(tenant, code, Verb.APPROVE)

    async def cancel(self, tenant: str, code: str) -> Reply:
        """Pass on that the person refuses; return what follows. Raises `ConfigError` where nothing of it waits."""
        from core.approvals.exact_replies import Verb

        return await self._talking.decide(tenant, code, Verb.CANCEL)
