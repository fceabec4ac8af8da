"""A process of ours with hooks put into its parts: it dies, or loses an answer, at one named point.

The product knows nothing of it: `main` puts subclasses in the place of the database and wraps the channels'
`send` before it runs the command line. What to do is in the environment of the process:

    FAULTS_FOLDER   where the journals are
    FAULTS_POINT    where: "STATEMENT WHEN" (before, after, unknown: it committed, and its answer was lost),
                    "acknowledged", "send before", "send within, accepted" (or "not accepted": what the provider
                    does is its own affair), "send after", "once.entered", "once.acted", "again.acted", those of
                    a file that goes out ("upload before", "halfway", "after"), those of `file_points`, with
                    FAULTS_ACCOUNTS those of `accounts.hooks`, and with FAULTS_EXTENSIONS of `extensions.hooks`
    FAULTS_NAME     the name of this plan: it happens once over all processes that have it
    FAULTS_DROP     a write that does not happen: the mutation that must make the test fail
    FAULTS_SWEEP    seconds between two catch-up sweeps, and of their lease, instead of minutes
    FAULTS_LEASE    seconds of a lane's lease, instead of ten
    FAULTS_HUNG     seconds after which a supervisor kills a worker that hangs, instead of 30
    FAULTS_PEERS    less patience with servers of others, and a loop that ticks: `peers.hooks`

What cannot be looked up is sent again after a twentieth of the product's pauses, so that a run is over in minutes.
"""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import asyncpg

from core.db.database import Database
from core.ids import make_id
from core.json_types import JsonObject
from core.messaging.channels import NotificationChannel, Part, Receipt, Target
from tests.faults import file_points
from tests.faults.accounts import hooks as accounts
from tests.faults.extensions import hooks as extensions
from tests.faults.hooking import die_within
from tests.faults.journals import append
from tests.faults.peers import hooks as peers

_NAME = re.compile(r"(\w+)\(\$1\b")
DROPPED: dict[str, list[dict[str, object]]] = {
    "model": [],
    "started": [],
    "result": [],
    "begin_rendered": [{"begun": "go"}],
    "end_delivery": [{"state": "sent", "outbound_id": None}],
    "end_file": [],
    "keep_transcript": [],
    "use_consent": [{"used": 1, "use_id": "use_lost"}],
    "put_value": [{"result": 1}],
    "end_refresh": [],
    "receive_amendment": [
        {"inbound_id": "msg_lost", "duplicate": False, "tenant_id": None, "lane_id": None, "conversation_id": None}
        | {"interrupts": False, "lanes_to_wake": []},
    ],
    "receive_deletion": [{"inbound_id": "msg_lost", "duplicate": False}],
    "receive_press": [
        {"inbound_id": "msg_lost", "duplicate": False, "lane_id": None, "conversation_id": None, "outcome": "approve"}
        | {"about": {}, "form": None, "language": None, "timezone": None, "lanes_to_wake": []},
    ],
    "receive_reaction": [{"inbound_id": "msg_lost", "duplicate": False, "conversation_id": None}],
    "note_brought": [{"known": True}],
    "take_linked_place": [{"taken": True, "conversation_id": None}],
    "end_speech": [{"conversation_id": None}],
    "hold_answer": [{"way": "", "other": None}],
    "choose_answer": [{"outbound_id": "out_lost", "conversation_id": "conv_lost", "channel": "sms"}],
    "decide_followup": [{"answer": "kept"}],
    "switch_followups": [{"answer": ""}],
    "ask_in_own_chat": [{"done": {"outcome": "asked", "name": "Somebody"}}],
    "take_in_group": [
        {"outcome": "received", "inbound_id": "msg_lost", "duplicate": False, "lane_id": None}
        | {"conversation_id": None, "refused": None, "interrupts": False},
    ],
    "receive_choice": [
        {
            "inbound_id": "msg_lost",
            "duplicate": False,
            "outcome": "chosen",
            "answer": "",
            "language": None,
            "lanes_to_wake": [],
        },
    ],
    "receive_messages": [
        {"inbound_id": "msg_lost", "duplicate": False, "refused": None, "tenant_id": "", "lane_id": "", "busy": False},
    ],
}


def main() -> None:
    """Be `onevalet`, with the hooks in place; asked by SIGUSR1, it writes down what it waits for."""
    signal.signal(signal.SIGUSR1, lambda *_: sys.stderr.write(waiting()))
    from aiohttp.web_protocol import RequestHandler

    import jobs.delivery.backoff
    import jobs.upkeep.catchup
    import onevalet.supervision.heartbeat
    import onevalet.wiring.connections
    import onevalet.wiring.outbound
    import onevalet.wiring.worker_parts
    from onevalet.cli.main import main as run
    from onevalet.wiring.channels import build_notification_channels

    connections: Any = onevalet.wiring.connections
    outbound: Any = onevalet.wiring.outbound
    handler: Any = RequestHandler
    handler.finish_response = _crashing_answer(RequestHandler.finish_response)
    connections.Database = CrashingDatabase
    outbound.build_notification_channels = lambda settings: _hooked(build_notification_channels(settings))
    file_points.put_in_place(reach, _is_due)
    _put_between_the_steps()
    if os.environ.get("FAULTS_ACCOUNTS"):
        accounts.put_in_place(reach, _is_due, os.environ.get("FAULTS_DROP", ""))
    if os.environ.get("FAULTS_EXTENSIONS"):
        extensions.put_in_place(reach)
    if os.environ.get("FAULTS_PEERS") and (where := folder()):
        peers.put_in_place(where)
    jobs.delivery.backoff.RESEND_AFTER = tuple(delay / 20 for delay in jobs.delivery.backoff.RESEND_AFTER)
    if lease := os.environ.get("FAULTS_LEASE"):
        onevalet.wiring.worker_parts.LANE_LEASE = timedelta(seconds=float(lease))
    if hung := os.environ.get("FAULTS_HUNG"):
        onevalet.supervision.heartbeat.HUNG_AFTER = int(hung)
    if sweep := os.environ.get("FAULTS_SWEEP"):
        jobs.upkeep.catchup.EVERY = jobs.upkeep.catchup.LEASE = timedelta(seconds=float(sweep))
    run()


def waiting() -> str:
    """Return for each task of this process's loop where it stands, from the outermost call to the innermost."""
    lines: list[str] = []
    for task in asyncio.all_tasks():
        lines.append(f"waits: {task.get_name()}")
        inner: Any = task.get_coro()
        while inner is not None:
            frame = getattr(inner, "cr_frame", None) or getattr(inner, "ag_frame", None)
            if frame is not None:
                lines.append(f"    {frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}")
            inner = getattr(inner, "cr_await", None) or getattr(inner, "ag_await", None)
    return "\n".join([*lines, ""])


def folder() -> Path | None:
    """Return where the journals are; None outside of a run."""
    name = os.environ.get("FAULTS_FOLDER")
    return Path(name) if name else None


async def reach(point: str) -> None:
    """Die if this is the point, once over all processes."""
    if _is_due(point):
        # What runs beside it gets as far as it can.
        await asyncio.sleep(0.3 if point == "again.acted" else 0)
        os.kill(os.getpid(), signal.SIGKILL)


class CrashingDatabase(Database):
    """The product's database, with points before, after and in the answer of each named statement."""

    async def _fetch(self, statement: str, *args: object) -> list[asyncpg.Record]:
        name = statement_name(statement, args)
        await reach(f"{name} before")
        dropped = os.environ.get("FAULTS_DROP", "")
        if dropped and dropped == name:
            rows = cast(list[asyncpg.Record], DROPPED[name])
        else:
            rows = await super()._fetch(statement, *_mutated(dropped, name, args))
        if rows or not name.startswith("claim"):
            await reach(f"{name} after")
            if _is_due(f"{name} unknown"):
                raise asyncpg.ConnectionDoesNotExistError("the answer was lost")
        return rows


def statement_name(statement: str, args: tuple[object, ...]) -> str:
    """Name what a statement does; the journal's rows are told apart by what they hold."""
    match = _NAME.search(statement)
    name = match[1] if match else ""
    if name != "record_step":
        return name
    records = cast(list[JsonObject], args[4])
    if any(record["effect"] == "once" and record["state"] == "started" for record in records):
        return "started"  # perhaps beside other calls of the answer
    kind, effect = records[-1]["kind"], records[-1]["effect"]  # those before it only waited for this one
    if kind in ("model", "steer", "judge"):
        return str(kind)
    return "result" if effect == "once" else "other step"


def _mutated(dropped: str, name: str, args: tuple[object, ...]) -> tuple[object, ...]:
    if dropped == "outbound" and name == "finish_turn":
        return (*args[:4], cast(JsonObject, args[4]) | {"outbound": []}, *args[5:])
    if dropped == "inbox keys" and name == "receive_messages":
        return ([each | {"keys": [make_id("key")]} for each in cast(list[JsonObject], args[0])], *args[1:])
    if dropped == "news keys" and name == "keep_notification":
        return (args[0], cast(JsonObject, args[1]) | {"dedupe_key": make_id("key")}, *args[2:])
    if dropped == "mail events" and name == "take_mail":
        return (*args[:7], [])
    return args


def _hooked(channels: Mapping[str, NotificationChannel]) -> Mapping[str, NotificationChannel]:
    for channel in channels.values():
        cast(Any, channel).send = _crashing_send(channel.send)
    return channels


def _crashing_send(send: Callable[[Part, Target], Awaitable[Receipt]]) -> Callable[[Part, Target], Awaitable[Receipt]]:
    async def crashing(part: Part, target: Target) -> Receipt:
        if part.file is not None or "media" in part.data:
            await reach("upload before")
            if target.address.channel != "slack":
                await reach("upload halfway")
            receipt = await send(part, target)
            await reach("upload after")
            return receipt
        await reach("send before")
        if _is_due("send within, accepted") or _is_due("send within, not accepted"):
            await die_within(send(part, target))
        receipt = await send(part, target)
        await reach("send after")
        return receipt

    return crashing


def _put_between_the_steps() -> None:
    """Put a point between the upload of a file to Slack and its share."""
    from providers.slack.client import SlackApi

    slack: Any = SlackApi
    upload = slack.upload

    async def crashing(api: Any, url: str, data: bytes) -> None:
        await upload(api, url, data)
        await reach("upload halfway")

    slack.upload = crashing


def _crashing_answer(finish: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def crashing(handler: Any, request: Any, response: Any, *rest: Any) -> Any:
        finished = await finish(handler, request, response, *rest)
        if request.method == "POST" and response.status == 200 and not request.path.endswith("/status"):
            await reach("acknowledged")
        return finished

    return crashing


def _is_due(point: str) -> bool:
    where = folder()
    if where is None or os.environ.get("FAULTS_POINT") != point:
        return False
    try:
        os.close(os.open(where / f"met-{os.environ['FAULTS_NAME']}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    append(where / "strikes.jsonl", what=point, target=os.environ["FAULTS_NAME"])
    return True


if __name__ == "__main__":
    main()
