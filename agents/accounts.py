"""The person's accounts elsewhere: connected by a link, listed, chosen among, and ended."""

from typing import Literal

from onevalet import ToolExecutionContext, gettext, tool

_GROUP = "person"
type Kind = Literal["mail", "calendar", "contacts"]
_ABILITIES: dict[str, tuple[str, ...]] = {
    "mail": ("mail.read", "mail.change", "mail.send"),
    "calendar": ("calendar.read", "calendar.change"),
    "contacts": ("contacts.read", "contacts.change"),
}


@tool(name="connect_account", effect="idempotent", parallel=False)
async def connect_account(
    context: ToolExecutionContext, service: str = "", name: str = "", kinds: list[Kind] | None = None
) -> str:
    """Send the person a link to connect an account: mail, a calendar, contacts. Never ask for a password in the chat.

    Repeat the link exactly as it is.

    Args:
        service: google, microsoft, email, caldav, or another service by its name; leave it out if none was named.
        name: What the person calls the account, such as work; leave it out unless they said so.
        kinds: What it is to be used for, as far as they said so.
    """
    abilities = [ability for kind in kinds or () for ability in _ABILITIES[kind]]
    return await context.accounts.connect(service, name, abilities)


@tool(name="list_accounts", effect="read", group=_GROUP)
async def list_accounts(context: ToolExecutionContext) -> str:
    """List the services that the person has connected, with the accounts of each and which one is meant by itself."""
    connected = await context.credentials.list(context.tenant_id)
    if not connected:
        return gettext("Nothing is connected.")
    lines = {False: "{service}: {account}", True: gettext("{service}: {account} (meant when none is named)")}
    return "\n".join(
        lines[bool(account["preferred"])].format(service=account["service"], account=account["account_name"])
        for account in connected
    )


@tool(name="choose_account", effect="idempotent", parallel=False, group=_GROUP)
async def choose_account(service: str, account: str, context: ToolExecutionContext) -> str:
    """Remember which of several accounts of a service is meant from now on. Only after the person said which.

    Args:
        service: The service's name, as list_accounts gives it.
        account: The account's name, as list_accounts gives it.
    """
    await context.credentials.prefer(context.tenant_id, service, account)
    return gettext(
        "From now on {account} is meant where {service} is used and no account is named.",
        account=account,
        service=service,
    )


@tool(name="disconnect_account", effect="idempotent", needs_approval=True, parallel=False, group=_GROUP)
async def disconnect_account(account: str, context: ToolExecutionContext) -> str:
    """End an account: what opens it is forgotten, and its service is told that we may do nothing there any more.

    Args:
        account: Its name or address, as list_accounts gives it.
    """
    return await context.accounts.disconnect(account)
