"""Tools and an agent that need a person's mailbox, for tests: they tell what they opened, and touch no server."""

from onevalet import (
    AgentResult,
    InputField,
    StandardAgent,
    ToolExecutionContext,
    tool,
    valet,
)

OPENED: list[str] = []
"""What was opened, in order: the tool and the account's address."""


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
    account = (await context.accounts.open("mail.read")).account
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
