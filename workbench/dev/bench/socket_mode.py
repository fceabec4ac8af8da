"""Socket Mode, switched on the page: how Slack reaches the assistant, by its webhook or over sockets of ours."""

from dataclasses import dataclass

from aiohttp import web
from pydantic import SecretStr

from core.errors import RequestRefused
from core.json_types import JsonObject
from workbench.dev.bench.answers import answered, object_of
from workbench.dev.processes.assistant import Assistant
from workbench.simulator.app import Simulator
from workbench.simulator.slack import SlackSimulator
from workbench.simulator.slack.sockets import Sockets


@dataclass(slots=True)
class SocketMode:
    """The handler of /bench/socket-mode, which waits for its `offer`."""

    assistant: Assistant | None = None
    sockets: Sockets | None = None
    app_token: str = ""

    def offer(self, assistant: Assistant, simulator: Simulator) -> None:
        """Let the page switch socket mode, for an assistant whose Slack is the simulator's."""
        slack = simulator.providers["slack"]
        if isinstance(slack, SlackSimulator):
            self.assistant, self.sockets = assistant, slack.sockets
            self.app_token = simulator.wire.config.slack.app_token

    def routes(self) -> list[web.AbstractRouteDef]:
        """Return the routes."""
        return [web.post("/bench/socket-mode", answered(self.switch))]

    async def switch(self, request: web.Request) -> JsonObject:
        """Switch it: {"on"}; the assistant is started again, as an operator would."""
        wanted = (await object_of(request)).get("on")
        if not isinstance(wanted, bool):
            raise RequestRefused('Say "on", true or false.')
        if self.assistant is None or self.sockets is None:
            raise RequestRefused("Slack is not simulated here.")
        sockets, token = self.sockets, SecretStr(self.app_token) if wanted else None
        settings = self.assistant.wanted.settings.model_copy(update={"slack_app_token": token})

        def between() -> None:
            sockets.on = wanted

        if sockets.on is not wanted:
            await self.assistant.restart(settings, between)
        return {"on": sockets.on}
