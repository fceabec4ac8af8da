"""The account that an agent needs: connected, missing, or still to be chosen by the person."""

from dataclasses import dataclass

from core.agents.fields import InputField
from core.agents.pool_entry import PoolEntry
from core.agents.standard_agent import AgentStatus, Valet
from core.errors import ToolRetry
from core.json_types import JsonObject
from core.loop.account_check import Found, TurnAccounts, WhichOne, nobody_connects
from core.loop.outcomes import told_of
from core.loop.passage import Refused
from core.tools.account_access import Prompt
from core.tools.account_argument import ACCOUNT


class AccountField(InputField):
    """The field for the account's name, which `@valet(accounts=…)` adds."""


@dataclass(frozen=True, slots=True)
class AccountAsked:
    """The request for an account: an agent's unmet needs, and the prompt to its person."""

    needs: tuple[str, ...]
    prompt: Prompt


async def find_account(
    accounts: TurnAccounts, valet: Valet, fields: JsonObject, entry: PoolEntry | None
) -> tuple[JsonObject, str] | AccountAsked | Refused:
    """Return an agent's fields with its account, and the question if several accounts match."""
    earlier = entry.needs if entry is not None else ()
    needs = tuple(dict.fromkeys((*valet.accounts, *earlier)))
    if not needs:
        return fields, ""
    named = str(fields.get(ACCOUNT) or "")
    try:
        found = await accounts.find(needs, named)
    except ToolRetry as error:
        if entry is None:
            return Refused(told_of(error))
        fields = {name: value for name, value in fields.items() if name != ACCOUNT}
        found = await accounts.find(needs)
    if isinstance(found, WhichOne):
        return fields, found.question
    if isinstance(found, Found):
        ours = isinstance(valet.inputs.get(ACCOUNT), AccountField)
        chosen = {ACCOUNT: found.chosen} if ours and found.chosen and not fields.get(ACCOUNT) else {}
        return fields | chosen, ""
    if entry is not None and entry.question and (entry.status, entry.needs) == (_WAITS, found.needs):
        return AccountAsked(found.needs, Prompt(entry.question, silent=True))
    prompt = await accounts.prompt(found)
    return Refused(nobody_connects(found)) if prompt is None else AccountAsked(found.needs, prompt)


_WAITS = AgentStatus.WAITING_FOR_ACCOUNT
