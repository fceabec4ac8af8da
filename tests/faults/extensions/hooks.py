"""Points at which a process dies with what plugins bring and what is asked.

"passed before", "after"        a message is passed on to an app that is connected by a plugin's channel
"taken before", "after"         the app has said that it has it
"skill before", "after"         a skill is read
"field before", "after"         an agent runs with its fields (`tests.plugins.extensions`)
"asking before", "after"        a program's request is taken in; after: its answer is about to leave
"service before", "after", "event before", "after", "stopping", "stopped", "asked answered": `tests.plugins.extensions`

All others are statements: receive_press, receive_choice, publish_event, client_answer, and so on.
"""

from typing import Any

from tests.faults.hooking import Reach, put_around


def put_in_place(reach: Reach) -> None:
    """Wrap what a process passes messages, skills and requests on with."""
    from abilities.skills.use import SkillTools
    from operations.programs.asking import ProgramRequests

    _sockets(reach)
    put_around(SkillTools, "read", "skill", reach)
    put_around(ProgramRequests, "ask", "asking", reach)


def _sockets(reach: Reach) -> None:
    from aiohttp import web

    from onevalet.relay import Relay

    socket: Any = web.WebSocketResponse
    relay: Any = Relay
    send, tell = socket.send_json, relay.tell

    async def sending(self: Any, data: Any, **named: Any) -> None:
        if not (isinstance(data, dict) and "message" in data):
            await send(self, data, **named)
            return
        await reach("passed before")
        await send(self, data, **named)
        await reach("passed after")

    async def telling(self: Any, topic: str, message: Any) -> Any:
        if ":taken:" not in topic:
            return await tell(self, topic, message)
        await reach("taken before")
        heard = await tell(self, topic, message)
        await reach("taken after")
        return heard

    socket.send_json, relay.tell = sending, telling
