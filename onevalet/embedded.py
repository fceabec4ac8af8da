"""OneValet inside a program: a single object with the whole assistant behind it.

Importing the class is cheap: it imports its parts only when it is entered.
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
    """The reply to a program: `text` is Markdown, with a paragraph for each message of the assistant.

    `state` is WAITING while a question to the person is open; `approvals` are the actions that wait for their consent.
    `reason` explains an empty reply.
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
    """The assistant inside a program: a complete worker, entered by `async with`.

    `settings` have the names of `.env`, and go before the environment and `.env`. Without a DATABASE_URL or REDIS_URL,
    embedded servers are started, with their data in ONEVALET_HOME. `plugins` are tools, agents, hooks and other
    contents of a plugin's module, besides those of ONEVALET_PLUGINS. `serve` also receives from the channels that are
    on, as `web` does.

    A person is named by `tenant`: the id of a known person, or a name of the program's own, under which a new person is
    admitted.
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
        """Start the necessary servers and the worker. Raises `ConfigError` naming the setting to change."""
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
        """Stop the worker, which hands back unfinished work, and the servers."""
        self._opened = None
        await self._stack.aclose()

    async def tenant_id(self, tenant: str, *, timezone: str | None = None) -> str:
        """Return a person's id, which `tasks`, `memory`, `credentials` and `events` take; let them in if new.

        `timezone` is theirs (IANA) if they are new; without it, the assistant asks when it needs it.
        """
        return await self._inside.talking.person(tenant, timezone)

    async def handle_message(self, text: str, *, tenant: str, conversation: str = "") -> Reply:
        """Receive a person's message, and return the reply.

        The message is committed first, so that it survives this process. `conversation` names a further conversation
        besides the person's main one.
        """
        return await self._inside.talking.say(text, tenant, conversation)

    def stream_message(self, text: str, *, tenant: str, conversation: str = "") -> AsyncGenerator[StreamEvent]:
        """Do as `handle_message`, and yield the turn's events; exactly one EXECUTION_END, the last.

        Read to the end or close it: closing stops the turn.
        """
        return self._inside.talking.stream(text, tenant, conversation)

    async def stop(self, tenant: str, message: str = "", *, conversation: str = "") -> bool:
        """Stop the turn that runs in a conversation, as `/stop` does; return whether there was any.

        It stops at its next step; its `Reply` has the state INTERRUPTED, and repeats `message`.
        """
        return await self._inside.talking.stop(tenant, message, conversation)

    async def unread(self, tenant: str, conversation: str = "") -> list[str]:
        """Return the unread messages to the person: reminders, results of tasks. Each message is returned once."""
        return await self._inside.talking.unread(tenant, conversation)

    async def notify(self, tenant: str, text: str, **about: str) -> bool:
        """Notify a person by their preferences; return whether the notification reaches them.

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
        """Return the access to pending approvals."""
        return Approvals(self._inside.talking)

    @property
    def orchestrator(self) -> "Orchestrator":
        """Return the orchestrator of turns."""
        return self._inside.parts.assistant.orchestrator

    @property
    def tasks(self) -> "TriggerEngine":
        """Return the engine of people's tasks."""
        from onevalet import TriggerEngine

        return self._opened_as(TriggerEngine)

    @property
    def memory(self) -> "Momex":
        """Return the long-term memory; raises `ConfigError` if ONEVALET_MEMORY is off."""
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
        """Return an object that an ability has opened."""
        return self._inside.parts.foundation.opened.get(kind)

    @property
    def _inside(self) -> _Open:
        if self._opened is None:
            raise ConfigError("Enter it first: async with OneValet(...) as valet.")
        return self._opened


class Approvals:
    """Pending approvals, and people's decisions, which a program passes on from the person themselves."""

    def __init__(self, talking: "Talking") -> None:
        self._talking = talking

    async def list(self, tenant: str) -> "list[PendingApproval]":
        """Return a person's pending approvals from all conversations, the oldest first."""
        return await self._talking.pending(tenant)

    async def approve(self, tenant: str, code: str) -> Reply:
        """Pass on that the person approves exactly the action shown; return the reply. Raises `ConfigError`."""
        from core.approvals.exact_replies import Verb

        return await self._talking.decide(tenant, code, Verb.APPROVE)

    async def cancel(self, tenant: str, code: str) -> Reply:
        """Pass on that the person refuses; return the reply. Raises `ConfigError` if none waits."""
        from core.approvals.exact_replies import Verb

        return await self._talking.decide(tenant, code, Verb.CANCEL)
