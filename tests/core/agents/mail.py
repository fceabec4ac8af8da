"""An agent that sends mail, as a user would write one, and what it sent."""

from onevalet import AgentResult, AgentStatus, InputField, StandardAgent, valet

SENT: list[tuple[str, str, str]] = []


def an_address(value: str) -> str | None:
    """Want one address and nothing else."""
    return None if "@" in value and " " not in value else "that is no address"


@valet(name="SendEmailAgent")
class SendEmailAgent(StandardAgent):
    """Send an email."""

    recipient = InputField(
        "Who should receive it?",
        description="Recipient address",
        validator=an_address,
        validator_description="must contain @",
    )
    subject = InputField("What is the subject?", required=False, default="(none)")

    async def on_running(self, msg: str) -> AgentResult:
        """Send it."""
        SENT.append((self.tenant_id, self.recipient, self.subject))
        return self.make_result(status=AgentStatus.COMPLETED, raw_message=f"Sent to {self.recipient}")
