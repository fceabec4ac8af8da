"""The services of plugins that run beside the assistant: started with a worker, stopped with it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from abilities.events.bus import EventBus
from core.clock import Clock
from core.http.types import HttpClient


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """The parts of a worker that a service may use.

    `notify` sends a person news at the time and place of their choice, and returns whether it reaches them; its mapping
    may hold `title`, `category`, `urgency` and `dedupe_key`. `settings` are those that tools read.
    """

    bus: EventBus
    notify: Callable[[str, str, Mapping[str, str] | None], Awaitable[bool]]
    clock: Clock
    http: HttpClient
    settings: Mapping[str, str]


class Service:
    """Something of a plugin's own that runs beside the assistant: subscriptions to events, or a source of events.

    The loader makes an instance of each subclass in every worker. Several workers run at once: subscribe under a
    `name`, so that they share the events, and give each event that you publish an id, so that it counts once.
    """

    async def start(self, context: ServiceContext) -> None:
        """Begin; return soon. An error that it raises stops the worker from starting."""

    async def stop(self) -> None:
        """End the work that `start` began."""
