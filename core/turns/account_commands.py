"""The commands about accounts, `connect`, `accounts` and `disconnect`, and about all data, without a model.

Written with a slash they are nothing else; the bare words may begin a sentence that the assistant should read.
"""

import json
import re
from dataclasses import replace

from core.accounts.choice import shown
from core.credentials.store import MAX_NAME
from core.credentials.types import Account
from core.errors import ToolFailed, ToolRetry
from core.language.catalogue import gettext, listed
from core.llm.types import ToolCall
from core.messaging.commands import EXPORT, FORGET
from core.messaging.messages import Command
from core.messaging.visible_text import literal
from core.tools.context import PersonAccounts
from core.turns.types import TurnRequest

_NAMED = re.compile(r"(\S+)(?: as (.+))?", re.IGNORECASE)
DISCONNECT_TOOL = "disconnect_account"
DATA_TOOLS = {EXPORT: "export_my_data", FORGET: "forget_me"}


async def answer_accounts(command: Command, accounts: PersonAccounts, *, slash: bool = False) -> str | None:
    """Return the answer to `connect` or `accounts`; None where "connect" may begin a sentence. `slash`: it cannot."""
    if command.name == "accounts":
        return await accounts.overview()
    named = _NAMED.fullmatch(command.argument.strip())
    try:
        return await accounts.connect(named[1], named[2] or "") if named else await accounts.connect()
    except ToolRetry as error:
        return str(error) if slash else None
    except ToolFailed as error:
        return str(error)


async def whom_to_disconnect(named: str, accounts: PersonAccounts, *, slash: bool = False) -> str | Account | None:
    """Return the account that `disconnect` names, or what is said instead; None where it may begin a sentence."""
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


def with_slash(request: TurnRequest) -> bool:
    """Return whether a turn's command was written with a slash."""
    return bool(request.inbound) and request.inbound[-1].text.lstrip().startswith("/")


def disconnecting(request: TurnRequest, account_name: str) -> TurnRequest:
    """Return the turn that begins with the call that ends an account, which asks first."""
    arguments = json.dumps({"account": account_name}, ensure_ascii=False)
    return replace(request, starts=ToolCall(f"disconnect_{request.turn_id}", DISCONNECT_TOOL, arguments))


def about_data(request: TurnRequest, name: str) -> TurnRequest:
    """Return the turn that begins with the call that exports or deletes a person, which asks first."""
    return replace(request, starts=ToolCall(f"{name}_{request.turn_id}", DATA_TOOLS[name], "{}"))
