"""`account`: the optional argument by which a call chooses among several accounts, and the account that it opens then.

Every tool that declares `accounts` has it, whether or not its function takes it: `context.accounts` opens the named
account anyway. The model sees it only if several of the person's accounts could serve.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field, create_model

from core.credentials.choice import find
from core.credentials.needs import read_need
from core.credentials.types import Account, OpenAccount
from core.errors import ConfigError
from core.json_types import JsonObject, object_of
from core.tools.person_access import PersonAccounts
from core.tools.schema import Signature

ACCOUNT = "account"
ACCOUNT_SAYS = "Which of the person's accounts, by its name or address; leave it out unless they named one."


def checked_needs(needs: Sequence[str], place: str) -> tuple[str, ...]:
    """Return the needs that a tool or an agent declares; raises `ConfigError` for a need without a meaning."""
    for need in needs:
        try:
            read_need(need)
        except ValueError as error:
            raise ConfigError(
                f"{place}: accounts={need!r} is no need; write an ability, such as mail.read, or one of a service, "
                "such as google:calendar.read."
            ) from error
    return tuple(needs)


def with_account(signature: Signature) -> Signature:
    """Return a signature with the argument; unchanged if the function has it already."""
    if ACCOUNT in signature.names:
        return signature
    model = create_model(
        signature.model.__name__, __base__=signature.model, account=(str, Field("", description=ACCOUNT_SAYS))
    )
    argument: JsonObject = {"type": "string", "default": "", "description": ACCOUNT_SAYS}
    schema = signature.schema | {"properties": {**object_of(signature.schema.get("properties")), ACCOUNT: argument}}
    return Signature(model, schema, signature.names, signature.fields | {ACCOUNT: ACCOUNT}, signature.context_name)


def without_account(schema: JsonObject) -> JsonObject:
    """Return parameters as the model sees them if there is no account to choose."""
    properties = object_of(schema.get("properties"))
    return schema | {"properties": {name: value for name, value in properties.items() if name != ACCOUNT}}


@dataclass(frozen=True, slots=True)
class NamedAccount:
    """A person's accounts for a call that names an account, which is opened if the tool names none."""

    access: PersonAccounts
    named: str

    async def list(self, need: str = "") -> Sequence[Account]:
        return await self.access.list(need)

    async def open(self, need: str, account_name: str = "") -> OpenAccount:
        if account_name or not find(await self.access.list(need), self.named):
            return await self.access.open(need, account_name)
        return await self.access.open(need, self.named)

    async def connect(self, service: str = "", account_name: str = "", abilities: Sequence[str] = ()) -> str:
        return await self.access.connect(service, account_name, abilities)

    async def overview(self) -> str:
        return await self.access.overview()

    async def find(self, account_name: str) -> Sequence[Account]:
        return await self.access.find(account_name)

    async def prefer(self, account_name: str, kinds: Sequence[str] = ()) -> str:
        return await self.access.prefer(account_name, kinds)

    async def disconnect(self, account_name: str) -> str:
        return await self.access.disconnect(account_name)
