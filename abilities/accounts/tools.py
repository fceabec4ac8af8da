"""The person's accounts elsewhere: connected by a link, listed, chosen among, and ended."""

from typing import Literal

from onevalet import ToolExecutionContext, ToolGroup, gettext_noop, tool

_GROUP = ToolGroup("accounts", gettext_noop("account, accounts, connect, disconnect"))
type Kind = Literal["mail", "calendar", "contacts"]
_ABILITIES: dict[str, tuple[str, ...]] = {
    "mail": ("mail.read", "mail.change", "mail.send"),
    "calendar": ("calendar.read", "calendar.change"),
    "contacts": ("contacts.read", "contacts.change"),
}


@tool(name="connect_account", effect="idempotent", parallel=False, group=_GROUP)
async def connect_account(
    context: ToolExecutionContext, service: str = "", name: str = "", kinds: list[Kind] | None = None
) -> str:
    """Send the person a link to connect an account: mail, a calendar, contacts. Never ask for a password in the chat.

    Repeat the link exactly as it is.

    Args:
        service: google, microsoft, email, caldav, or another service by its name; leave it out if none was named.
        name: What the person calls the account, such as work; leave it out unless they said so.
        kinds: Its intended uses, as far as they said so.
    """
    abilities = [ability for kind in kinds or () for ability in _ABILITIES[kind]]
    return await context.accounts.connect(service, name, abilities)


@tool(name="list_accounts", effect="read", group=_GROUP)
async def list_accounts(context: ToolExecutionContext) -> str:
    """List the person's connected accounts, with the rights of each and the uses for which it is the default."""
    return await context.accounts.overview()


@tool(name="choose_account", effect="idempotent", parallel=False, group=_GROUP)
async def choose_account(account: str, context: ToolExecutionContext, kinds: list[Kind] | None = None) -> str:
    """Remember which of several accounts is used from now on where none is named. Only after the person said which.

    Args:
        account: The account's name or address, as list_accounts gives it.
        kinds: Its intended uses, as far as they said so; leave it out for all that it has.
    """
    return await context.accounts.prefer(account, kinds or ())


@tool(name="disconnect_account", effect="idempotent", needs_approval=True, parallel=False, group=_GROUP)
async def disconnect_account(account: str, context: ToolExecutionContext) -> str:
    """End an account: delete its credentials, and have its service revoke all our rights there.

    Args:
        account: Its name or address, as list_accounts gives it.
    """
    return await context.accounts.disconnect(account)
