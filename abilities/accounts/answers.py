"""Answers to the words about accounts.

Written with a slash they are nothing else; the bare words may begin a sentence that the assistant should read.
"""

import json
import re
from dataclasses import replace

from core.credentials.choice import shown
from core.credentials.store import MAX_NAME
from core.credentials.types import Account
from core.errors import ToolFailed, ToolRetry
from core.language.catalogue import gettext, listed
from core.llm.types import ToolCall
from core.messaging.chat_words import CommandAnswer
from core.messaging.visible_text import literal
from core.tools.context import PersonAccounts
from core.turns.types import FirstCall, TurnRequest
from core.turns.words.asked import Asked

_NAMED = re.compile(r"(\S+)(?: as (.+))?", re.IGNORECASE)
DISCONNECT_TOOL = "disconnect_account"


async def connect(asked: Asked) -> CommandAnswer | None:
    """Answer with the way to a connection; return None if the word may begin a sentence."""
    if (accounts := _of_person(asked)) is None:
        return None
    named = _NAMED.fullmatch(asked.command.argument.strip())
    try:
        return CommandAnswer(await (accounts.connect(named[1], named[2] or "") if named else accounts.connect()))
    except ToolRetry as error:
        return CommandAnswer(str(error)) if asked.slash else None
    except ToolFailed as error:
        return CommandAnswer(str(error))


async def list_accounts(asked: Asked) -> CommandAnswer | None:
    """List the connected accounts."""
    accounts = _of_person(asked)
    return CommandAnswer(await accounts.overview()) if accounts else None


async def disconnect(asked: Asked) -> CommandAnswer | TurnRequest | None:
    """Return a turn that disconnects an account after asking, or the list of accounts; None if it is no command."""
    if (accounts := _of_person(asked)) is None:
        return None
    meant = await _meant(asked.command.argument, accounts, slash=asked.slash)
    if isinstance(meant, Account):
        arguments = json.dumps({"account": asked.command.argument}, ensure_ascii=False)
        call = ToolCall(f"disconnect_{asked.request.turn_id}", DISCONNECT_TOOL, arguments)
        return replace(asked.request, starts=FirstCall(call))
    return None if meant is None else CommandAnswer(meant)


def _of_person(asked: Asked) -> PersonAccounts | None:
    access = asked.rooms.orchestrator.services.accounts
    return access.for_tenant(asked.request.tenant.id, asked.turn.turn_id) if access else None


async def _meant(named: str, accounts: PersonAccounts, *, slash: bool) -> str | Account | None:
    """Return the account that `disconnect` names, or the reply instead; None if the word may begin a sentence."""
    if not named:
        return await accounts.overview()
    found = await accounts.find(named)
    if len(found) == 1:
        return found[0]
    if found:
        choices = listed([literal(f"{account.service} {account.name}") for account in found], "or")
        return gettext("Which account: {accounts}?", accounts=choices)
    if not slash:
        return None
    there = [literal(shown(account)) for account in await accounts.list()]
    if not there:
        return gettext("Nothing is connected.")
    name = literal(named[:MAX_NAME])
    return gettext("There is no account {account}, only {accounts}.", account=name, accounts=listed(there))
