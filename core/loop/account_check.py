"""The access of a turn's calls to the person's accounts: whether a call may run now, or the reason why it waits.

A call that waits is put into the pool when the turn stops, as agents are that wait for an answer, and is entered again
when the turn resumes.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from core.credentials.choice import account_name, find
from core.credentials.types import Account
from core.errors import AccountMissing, ToolError, ToolRetry
from core.hooks.hooks import PlannedCall
from core.json_types import Json, JsonObject
from core.language.catalogue import gettext, listed
from core.loop.passage import Refused, Waiting
from core.questions.asking import QuestionAsker
from core.questions.types import Asked, PersonAsked
from core.replies import note
from core.tools.account_access import AccountPrompts, MissingAccess, Prompt
from core.tools.account_argument import ACCOUNT, NamedAccount
from core.tools.context import ToolExecutionContext
from core.tools.person_access import AccountAccess, RefusedLogins
from core.tools.tool import AnyTool

NOBODY_CONNECTS = "Not run: {reason}" + note("Say so. No account can be connected to this assistant by a link.")


@dataclass(frozen=True, slots=True)
class WhichOne:
    """Several accounts match, and nothing chooses among them."""

    choices: tuple[str, ...]

    @property
    def question(self) -> str:
        return gettext("Which account: {accounts}?", accounts=listed(self.choices, "or"))


@dataclass(frozen=True, slots=True)
class Found:
    """At least one account matches. `chosen`: its name, set only if several match."""

    chosen: str = ""


@dataclass(frozen=True, slots=True)
class HeldCall:
    """A tool's call that waits for an account (`needs`), for the choice of an account, or for answers (`asks`)."""

    path: str
    name: str
    tool_call_id: str
    question: str
    needs: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    asks: tuple[Asked, ...] = ()


@dataclass(frozen=True, slots=True)
class EarlierHold:
    """The state of a call that waited when its turn stopped. `answers` are its person's answers, by name.

    `over`: the text for the model about a call that no longer waits.
    """

    question: str = ""
    needs: tuple[str, ...] = ()
    answers: JsonObject = field(default_factory=dict)
    over: str = ""


@dataclass(eq=False, slots=True)
class TurnAccounts:
    """The accounts that the calls of a turn need. `access` and `prompts` are None if nobody can connect accounts.

    `earlier` holds the calls of this turn that waited before, by path, and `held` those that wait now.
    """

    access: AccountAccess | None = None
    prompts: AccountPrompts | None = None
    earlier: Mapping[str, EarlierHold] = field(default_factory=dict)
    patience: timedelta | None = None
    """The time for which a call waits for an account; None: as long as an agent waits for an answer."""
    held: dict[str, HeldCall] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    """The paths of calls whose question was put to the person before."""
    _asked: dict[MissingAccess, Prompt | None] = field(default_factory=dict)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def clear(self, path: str, tool: AnyTool, call: PlannedCall) -> PlannedCall | Waiting | Refused:
        """Return a tool's call, with the account's name if there are several, or the reason why it may not run now."""
        earlier = self.earlier.get(path, EarlierHold())
        if earlier.over:
            return Refused(earlier.over)
        needs = tuple(dict.fromkeys((*tool.accounts, *earlier.needs)))
        if not needs or self.access is None:
            return call
        named = str(call.arguments.get(ACCOUNT) or earlier.answers.get(ACCOUNT) or "")
        try:
            found = await self.find(needs, named)
        except ToolRetry as error:
            return Refused(f"Not run: {error}" + note(error.note))
        if isinstance(found, WhichOne):
            self.held[path] = HeldCall(path, tool.name, call.id, found.question, choices=found.choices)
            return Waiting(found.question)
        if isinstance(found, MissingAccess):
            return await self._hold(path, tool.name, call.id, found, earlier)
        named = named or (found.chosen if tool.needs_approval else "")
        given: Json = call.arguments.get(ACCOUNT, "")
        return call if named == given else replace(call, arguments=call.arguments | {ACCOUNT: named})

    def named(self, context: ToolExecutionContext, tool: AnyTool, call: PlannedCall) -> ToolExecutionContext:
        """Return the context of a tool's call, which opens the account that the call names."""
        return with_account_in(context, call.arguments) if tool.accounts else context

    def asking(self, path: str) -> QuestionAsker:
        """Return the asker for a tool's call, which asks the person or returns their earlier answers."""
        return QuestionAsker(self.earlier.get(path, EarlierHold()).answers)

    async def missed(self, path: str, name: str, tool_call_id: str, error: ToolError) -> Waiting | None:
        """Hold a call that asks its person, or found no account to open or was refused there; None for any other."""
        if isinstance(error, PersonAsked):
            text = "\n".join(asked.text for asked in error.asks)
            self.held[path] = HeldCall(path, name, tool_call_id, text, asks=error.asks)
            return Waiting(text)
        wanted = await self.wanted_by(error)
        held = await self._hold(path, name, tool_call_id, wanted, EarlierHold()) if wanted else None
        return held if isinstance(held, Waiting) else None

    async def wanted_by(self, error: ToolError) -> MissingAccess | None:
        """Return the missing access of a call that found no account or whose login was refused, else None."""
        if (refused := error.refused) is not None and isinstance(self.access, RefusedLogins):
            if not await self.access.refused(refused):
                return None
            accounts = await self.access.list(refused.need)
            account = next((account for account in accounts if account.name == refused.account), None)
            return MissingAccess((refused.need,), account)
        if not isinstance(error, AccountMissing):
            return None
        accounts = await self.access.list() if self.access and error.account else ()
        named = find(accounts, error.account or "") if error.account else ()
        return MissingAccess((error.need,), named[0] if named else None)

    async def find(self, needs: Sequence[str], named: str = "") -> Found | MissingAccess | WhichOne:
        """Find accounts for all needs. Raises `ToolRetry` if no account has the name."""
        if self.access is None:
            return Found()
        if named and not find(await self.access.list(), named):
            there = listed([account_name(account) for account in await self.access.list()])
            raise ToolRetry(gettext("There is no account {account}, only {accounts}.", account=named, accounts=there))
        chosen, missing, revoked = "", list[str](), list[Account]()
        for need in needs:
            able = await self.access.list(need)
            good = [account for account in able if not account.revoked]
            meant = find(able, named) if named else ()
            if not good or (meant and all(account.revoked for account in meant)):
                missing.append(need)
                revoked += meant or able
                continue
            preferred = [account for account in good if account.preferred]
            one = [*meant, *preferred, *good][:1] if meant or len(preferred) == 1 or len(good) == 1 else []
            if not one:
                return WhichOne(tuple(account_name(account) for account in good))
            chosen = chosen or (account_name(one[0]) if len(good) > 1 else "")
        if missing:
            return MissingAccess(tuple(missing), revoked[0] if revoked else None)
        return Found(chosen)

    async def prompt(self, wanted: MissingAccess) -> Prompt | None:
        """Return the prompt for the person, shared by calls that need the same access; None if they cannot be asked."""
        async with self._asking:
            if wanted not in self._asked:
                self._asked[wanted] = await self.prompts.prompt(wanted) if self.prompts else None
            return self._asked[wanted]

    async def _hold(
        self, path: str, name: str, tool_call_id: str, wanted: MissingAccess, earlier: EarlierHold
    ) -> Waiting | Refused:
        if earlier.question and earlier.needs == wanted.needs:
            prompt: Prompt | None = Prompt(earlier.question, silent=True)
        else:
            prompt = await self.prompt(wanted)
        if prompt is None:
            return Refused(nobody_connects(wanted))
        self.held[path] = HeldCall(path, name, tool_call_id, prompt.text, wanted.needs)
        if prompt.silent:
            self.silent.add(path)
        return Waiting(prompt.text)


def with_account_in(context: ToolExecutionContext, arguments: JsonObject) -> ToolExecutionContext:
    """Return a context that opens the account that these arguments name."""
    name = str(arguments.get(ACCOUNT) or "")
    return replace(context, accounts=NamedAccount(context.accounts, name)) if name else context


def nobody_connects(wanted: MissingAccess) -> str:
    """Return the text for the model if an account is missing and cannot be connected."""
    return NOBODY_CONNECTS.format(reason=wanted.reason)
