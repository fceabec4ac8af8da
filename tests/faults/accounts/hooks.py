"""Points at which a process dies with a person's account: while it sends, writes, refreshes, and takes in mail.

"address after"                       the recipients are accepted
"data before", "within", "after"      the mail; within: the server has it, and its answer is kept back
"copy before", "after"                among the sent mail
"write 1 before", "after"             of a calendar; "write 2 …" is the second one of the same process
"token within", "after"               the server has changed a refresh token
"granted before", "after"             a code is exchanged
"letter opened", "before", "after"    a mail in the assistant's own mailbox, and "position after"
"watch opened", "found", "read", "told"   a person's mailbox

"mcp before", "checked", "after"      a tool of an MCP server: its definition is the accepted one, and it was called

All others are statements: put_value, begin_refresh, end_refresh, receive_messages, take_mail, and so on.
"""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.faults.hooking import IsDue, Reach, put_around, within

FILES_SENT = "localhost"
"""The name under which a mail server stores what it sends, as Gmail does; under its number it does not."""


def put_in_place(reach: Reach, is_due: IsDue, dropped: str) -> None:
    """Wrap what a process reaches people's accounts with. `dropped`: the write that does not happen."""
    _sending(reach, is_due)
    _calendars(reach, dropped)
    _messages(dropped)
    _tokens(reach, is_due)
    _letters(reach)
    _watches(reach)
    _mcp(reach)


def _sending(reach: Reach, is_due: IsDue) -> None:
    import abilities.mail.delivery
    from providers.email.mailbox import Mailbox
    from providers.email.smtp import Submission

    delivery: Any = abilities.mail.delivery
    submission: Any = Submission
    delivery.FILES_SENT = (*delivery.FILES_SENT, FILES_SENT)
    delivery._LOOKS = (0.0,)
    send = submission.send

    async def sending(self: Any, raw: bytes) -> None:
        await reach("data before")
        await within(send(self, raw), "data within", is_due)
        await reach("data after")

    submission.send = sending
    put_around(Submission, "address", "address", reach)
    put_around(Mailbox, "append", "copy", reach)


def _calendars(reach: Reach, dropped: str) -> None:
    from abilities.calendar import calendars
    from abilities.dav.client import DavClient

    client: Any = DavClient
    send = client._send
    writes = 0

    async def writing(self: Any, method: str, *given: Any) -> Any:
        nonlocal writes
        if method not in ("PUT", "DELETE"):
            return await send(self, method, *given)
        writes += 1
        number = writes
        await reach(f"write {number} before")
        answer = await send(self, method, *given)
        await reach(f"write {number} after")
        return answer

    client._send = writing
    if dropped == "event keys":
        named: Any = calendars
        named.uid_of = lambda key: uuid.uuid4().hex


def _messages(dropped: str) -> None:
    from abilities.outreach.outreach import TenantMessages

    messages: Any = TenantMessages
    send = messages.send

    async def sending(self: Any, to: Any, name: str, text: str, key: str) -> None:
        await send(self, to, name, text, uuid.uuid4().hex)

    if dropped == "message keys":
        messages.send = sending


def _tokens(reach: Reach, is_due: IsDue) -> None:
    from abilities.accounts.oauth import OAuthServers

    servers: Any = OAuthServers
    refresh = servers.refresh

    async def refreshing(self: Any, *given: Any) -> Any:
        tokens = await within(refresh(self, *given), "token within", is_due)
        await reach("token after")
        return tokens

    servers.refresh = refreshing
    put_around(OAuthServers, "exchange", "granted", reach)


def _letters(reach: Reach) -> None:
    """The assistant's own mailbox, which a web process reads."""
    from channels.email.poll import MailPoller
    from providers.email.client import MailboxClient

    client: Any = MailboxClient
    poller: Any = MailPoller
    opened, keep = client.open, poller._keep_reached

    @asynccontextmanager
    async def opening(self: Any) -> AsyncIterator[Any]:
        async with opened(self) as mailbox:
            await reach("letter opened")
            yield mailbox

    async def keeping(self: Any, *given: Any) -> Any:
        has_moved = await keep(self, *given)
        if has_moved:
            await reach("position after")
        return has_moved

    client.open = opening
    poller._keep_reached = keeping
    put_around(MailPoller, "_take_one", "letter", reach)


def _watches(reach: Reach) -> None:
    """People's mailboxes, which a worker watches."""
    import abilities.mail.watcher
    from abilities.events.bus import EventBus

    mail: Any = abilities.mail.watcher
    bus: Any = EventBus
    opened, find, read, hurry = mail.open_mailbox, mail.find_new, mail.read_events, bus.hurry

    @asynccontextmanager
    async def opening(*given: Any) -> AsyncIterator[Any]:
        async with opened(*given) as mailbox:
            await reach("watch opened")
            yield mailbox

    async def finding(*given: Any) -> Any:
        found = await find(*given)
        if found[0]:
            await reach("watch found")
        return found

    async def reading(*given: Any) -> Any:
        events = await read(*given)
        if events:
            await reach("watch read")
        return events

    async def hurrying(*given: Any) -> None:
        await hurry(*given)
        await reach("watch told")

    mail.open_mailbox, mail.find_new, mail.read_events, bus.hurry = opening, finding, reading, hurrying


def _mcp(reach: Reach) -> None:
    import abilities.mcp.connections

    connections: Any = abilities.mcp.connections
    check = connections._check

    async def checking(*given: Any) -> None:
        await check(*given)
        await reach("mcp checked")

    connections._check = checking
    put_around(connections.Connections, "call", "mcp", reach)
