"""Tools and an agent that need a person's mailbox, for tests: they tell what they opened, and touch no server."""

from core.errors import RefusedLogin
from onevalet import AgentResult, InputField, StandardAgent, ToolExecutionContext, ToolFailed, tool, valet

OPENED: list[str] = []
"""What was opened, in order: the tool and the account's address."""
REFUSING: set[str] = set()
"""The addresses of mailboxes whose server refuses the login."""


@tool(effect="read", accounts=("mail.read",))
async def read_inbox(context: ToolExecutionContext) -> str:
    """Read the newest mail."""
    account = (await context.accounts.open("mail.read")).account
    OPENED.append(f"read_inbox {account.address}")
    return f"One mail in {account.address}: lunch on Friday?"


@tool(effect="read", accounts=("mail.read",))
async def count_mail(context: ToolExecutionContext) -> str:
    """Count the mail."""
    account = (await context.accounts.open("mail.read")).account
    OPENED.append(f"count_mail {account.address}")
    return f"7 in {account.address}"


@tool(accounts=("mail.send",), needs_approval=True)
async def post_mail(to: str, context: ToolExecutionContext) -> str:
    """Send a mail."""
    account = (await context.accounts.open("mail.send")).account
    OPENED.append(f"post_mail {account.address}")
    return f"Sent to {to} from {account.address}."


@tool()
async def look_for_mail(context: ToolExecutionContext) -> str:
    """Look for mail, which needs an account that the tool does not declare."""
    opened = await context.accounts.open("mail.read")
    account = opened.account
    if account.address in REFUSING:
        login = RefusedLogin("mail.read", account.service, account.name, opened.secret)
        raise ToolFailed("The mail server does not accept the stored login.", refused=login)
    OPENED.append(f"look_for_mail {account.address}")
    return f"Nothing new in {account.address}."


@valet(name="AnswerMailAgent", accounts=("mail.send",))
class AnswerMailAgent(StandardAgent):
    """Answer a mail."""

    words = InputField("What should it say?")

    def needs_approval(self) -> bool:
        return True

    async def on_running(self, msg: str) -> AgentResult:
        account = (await self.context.accounts.open("mail.send")).account
        OPENED.append(f"AnswerMailAgent {account.address}")
        return self.make_result(raw_message=f"Answered from {account.address}.")


@valet(name="SumUpMailAgent")
class SumUpMailAgent(StandardAgent):
    """Sum up the inbox, with a loop of its own."""

    async def on_running(self, msg: str) -> AgentResult:
        return self.make_result(raw_message=await self.think("Sum up the inbox.", tools=[read_inbox]))
