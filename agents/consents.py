"""Standing consent: actions without asking, within bounds that a card shows in full."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from onevalet import (
    AgentResult,
    ApprovalRequest,
    InputField,
    StandardAgent,
    ToolExecutionContext,
    ToolGroup,
    gettext,
    gettext_noop,
    tool,
    valet,
)

_GROUP = ToolGroup("consents", gettext_noop("without asking"))
_NAMES = (
    gettext_noop("action"),
    gettext_noop("within"),
    gettext_noop("uses"),
    gettext_noop("days"),
    gettext_noop("report"),
    gettext_noop("allow without asking"),
)
"""Names of the fields and the agent on cards and in questions."""
_SETTLED = "Leave it out."


def _in_bounds(most: int) -> Any:
    return lambda value: 0 < value <= most


_SAYS = (
    "Ask the person to consent in advance to calls of one tool: only when they ask for it in their own words, as in "
    '"from now on do that without asking". Keep it as narrow as what they said, with one bound for each argument. What '
    "is left out stays as in the call that they approved last."
)


@valet(
    name="AllowWithoutAskingAgent",
    description=_SAYS,
    effect="idempotent",
    risk="high",
    group=_GROUP,
    hands_on=True,
)
class AllowWithoutAskingAgent(StandardAgent):
    """Ask for consent in advance; the card shows every bound, and high risk is never approved in plain words."""

    action = InputField(gettext_noop("What shall I do without asking?"), description="Name of the tool")
    same = InputField(
        "", description="Arguments that stay the same, by name", required=False, default={}, type=dict[str, Any]
    )
    choices = InputField(
        "",
        description="Arguments that may be one of several values: a list by name. Also for several recipients",
        required=False,
        default={},
        type=dict[str, list[Any]],
    )
    ranges = InputField(
        "",
        description="Numbers that may vary: [lowest, highest] by name",
        required=False,
        default={},
        type=dict[str, list[Any]],
    )
    texts = InputField(
        "",
        description="Texts that may vary: the most characters, by name",
        required=False,
        default={},
        type=dict[str, int],
    )
    uses = InputField(
        gettext_noop("How many times at most?"),
        description="How many times at most, up to 200",
        required=False,
        default=20,
        type=int,
        validator=_in_bounds(200),
        validator_description=gettext_noop("a whole number from 1 to 200"),
    )
    days = InputField(
        gettext_noop("For how many days?"),
        description="For how many days, up to 90",
        required=False,
        default=30,
        type=int,
        validator=_in_bounds(90),
        validator_description=gettext_noop("a whole number from 1 to 90"),
    )
    report = InputField(
        gettext_noop("Shall I tell you of each at once, or in the digest?"),
        description="Whether the person is told of each use at once, or in the daily digest",
        required=False,
        default="at once",
        type=Literal["at once", "digest"],
    )
    shape = InputField("", description=_SETTLED, required=False, default={}, type=dict[str, Any])

    def needs_approval(self) -> bool:
        return True

    async def ask_first(self) -> Mapping[str, str]:
        consents = self.context.consents
        self.shape = await consents.shape(self.action, self.same, self.choices, self.ranges, self.texts)
        # An omitted field is agreed to as well, so the card shows its default.
        self.uses, self.days, self.report = self.uses, self.days, self.report
        return {}

    def approval_request(self) -> ApprovalRequest:
        details = self.context.consents.in_words(self.shape)
        at_once = self.report == "at once"
        details["report"] = gettext("each time, at once") if at_once else gettext("each time, in the digest")
        request = replace(
            super().approval_request(),
            action_summary=gettext("From now on without asking: {action}", action=details["action"]),
            details=details,
        )
        return replace(request, in_words=("action", "same", "choices", "ranges", "texts", "shape", "report"))

    async def on_running(self, msg: str) -> AgentResult:
        granted = await self.context.consents.grant(
            self.valet.name, self.shape, self.uses, self.days, self.report, self.context.idempotency_key
        )
        self.context.undo.final(
            gettext("Consent in advance: {action}", action=self.context.consents.in_words(self.shape)["action"]),
            gettext("CONSENTS lists what I do without asking, and how to end it."),
        )
        return self.make_result(raw_message=granted)


@tool(name="list_consents", effect="read", group=_GROUP)
async def list_consents(context: ToolExecutionContext) -> str:
    """List the acts that the person lets you do without asking, with bounds, uses and end."""
    return await context.consents.overview()


@tool(name="withdraw_consent", effect="idempotent", group=_GROUP)
async def withdraw_consent(context: ToolExecutionContext, number: int | None = None) -> str:
    """End a consent in advance, so that the person is asked again.

    Args:
        number: The number of the consent in the list; leave it out to end all.
    """
    return await context.consents.withdraw(number)
