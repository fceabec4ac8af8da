"""The commands about accounts: `connect`, `accounts` and `disconnect`, answered without a model."""

import json
import re
from dataclasses import replace

from core.errors import ToolFailed, ToolRetry
from core.llm.types import ToolCall
from core.messaging.messages import Command
from core.tools.context import PersonAccounts
from core.turns.types import TurnRequest

_NAMED = re.compile(r"(\S+)(?: as (.+))?", re.IGNORECASE)
DISCONNECT_TOOL = "disconnect_account"


async def answer_accounts(command: Command, accounts: PersonAccounts) -> str | None:
    """Return the answer to `connect` or `accounts`; None where "connect" is followed by no service of ours."""
    if command.name == "accounts":
        return await accounts.overview()
    named = _NAMED.fullmatch(command.argument.strip())
    try:
        return await accounts.connect(named[1], named[2] or "") if named else await accounts.connect()
    except ToolRetry:
        return None
    except ToolFailed as error:
        return str(error)


def disconnecting(request: TurnRequest, account_name: str) -> TurnRequest:
    """Return the turn that begins with the call that ends an account, which asks first."""
    arguments = json.dumps({"account": account_name}, ensure_ascii=False)
    return replace(request, starts=ToolCall(f"disconnect_{request.turn_id}", DISCONNECT_TOOL, arguments))
