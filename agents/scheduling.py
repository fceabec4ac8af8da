"""Plan something that comes again, waits for an event or watches something; it is read back before it is kept."""

from typing import Any, cast

from agents.moments import zone_named
from onevalet import AgentResult, AgentStatus, InputField, StandardAgent, ToolRetry, valet

_YES = {"yes", "y", "yep", "yeah", "ok", "okay", "sure", "fine", "right", "correct", "ja", "si", "sí", "oui", "sim"}
_YES_BEGINS = ("yes", "do it", "go ahead", "please do", "sounds good", "that's right", "save it", "ok ", "sure")
_NO = ("no", "nope", "stop", "cancel", "don't", "do not", "never mind", "forget it", "nein", "non", "não")
_WHERE = "Which city are you in? I need your timezone for that."


@valet(name="ScheduleTask", effect="idempotent")
class ScheduleTask(StandardAgent):
    """Plan a task that comes again, waits for an event, or watches a value and tells when it changes.

    Give one of cron, every_minutes, event_type or expression. The person is asked to confirm what it comes to.
    """

    what = InputField(
        "What shall I do then?",
        description="What to do each time, as an instruction to yourself; with remind_only the words to be told",
    )
    cron = InputField(
        "", required=False, default="", description="Five fields, in the person's time: 0 8 * * 1-5 is weekdays at 8"
    )
    every_minutes = InputField("", required=False, default=None, type=float, description="An interval instead")
    until = InputField("", required=False, default="", description="No more after this: 2027-01-31T15:00")
    count = InputField("", required=False, default=None, type=int, description="How often at most")
    missed = InputField(
        "",
        required=False,
        default="",
        description="What becomes of times missed while away: skip, once (usual) or all",
    )
    event_source = InputField("", required=False, default="", description="For an event: its source, * for any")
    event_type = InputField("", required=False, default="", description="For an event: its type, * for any")
    event_filter = InputField(
        "",
        required=False,
        default=None,
        type=dict[str, Any],
        description='Fields of the event that must hold: {"from": {"contains": "amazon"}, "$.total": {"gt": 100}}',
    )
    expression = InputField(
        "",
        required=False,
        default="",
        description="For a watch: true when to tell, over value, previous, result: value < 300",
    )
    url = InputField("", required=False, default="", description="For a watch: the address to look at")
    tool = InputField("", required=False, default="", description="For a watch: the reading tool to look with")
    tool_arguments = InputField("", required=False, default=None, type=dict[str, Any], description="For that tool")
    path = InputField("", required=False, default="", description="JSONPath of the value in what comes back: $.price")
    reset = InputField("", required=False, default="", description="True when it may be told again: value > 320")
    remind_only = InputField(
        "", required=False, default=False, type=bool, description="Only tell the words, without doing anything"
    )
    only_if_worth_it = InputField(
        "", required=False, default=False, type=bool, description="Nothing is sent when there is nothing to tell"
    )
    channel = InputField("", required=False, default="", description="sms, slack or telegram, if they named one")

    async def on_running(self, msg: str) -> AgentResult:
        """Read it back and ask; ask for the timezone first where none is known."""
        if not self.event_type and not self.expression and not await self.context.tasks.timezone():
            self.state["asked"] = "zone"
            return self.make_result(AgentStatus.WAITING_FOR_INPUT, _WHERE)
        return await self._ask()

    async def on_waiting_for_input(self, msg: str) -> AgentResult:
        """Take the answer to what was asked."""
        said = msg.strip().strip(".!").casefold()
        if self.state.get("asked") == "zone":
            zone = zone_named(msg)
            if not zone:
                return self.make_result(AgentStatus.WAITING_FOR_INPUT, f"I do not know that place. {_WHERE}")
            await self.context.tasks.set_timezone(zone)
            return await self._ask()
        if said in _YES or said.startswith(_YES_BEGINS):
            if await self._words() != self.state.get("said"):
                return await self._ask()
            return await self._keep()
        if said.startswith(_NO):
            return self.make_result(AgentStatus.CANCELLED, "Not set up: the person does not want it so.")
        return self.make_result(AgentStatus.CANCELLED, f"Not set up. The person said: {msg}. Begin again with that.")

    async def _ask(self) -> AgentResult:
        words = await self._words()
        self.state["asked"], self.state["said"] = "confirm", words
        return self.make_result(AgentStatus.WAITING_FOR_INPUT, f"{words} Shall I set this up?")

    async def _words(self) -> str:
        when = await self.context.tasks.describe(self._trigger())
        end = "" if self.what.endswith((".", "?", "!")) else "."
        return f"{when[:1].upper()}{when[1:]}: {self.what}{end}"

    async def _keep(self) -> AgentResult:
        kept = await self.context.tasks.create(
            self._trigger(),
            {"text": self.what} if self.remind_only else {"instruction": self.what},
            executor="tell" if self.remind_only else "orchestrator",
            output={"channel": self.channel, "silent": self.only_if_worth_it},
            title=self.what,
            key=self.context.idempotency_key,
        )
        coming = f" Next: {kept.next_at}." if kept.next_at and not self.expression else ""
        return self.make_result(raw_message=f"It is set up as task {kept.number}: {kept.when}.{coming}")

    def _trigger(self) -> dict[str, Any]:
        given = [name for name in ("cron", "every_minutes", "event_type", "expression") if getattr(self, name)]
        if len(given) != 1:
            raise ToolRetry("Give exactly one of cron, every_minutes, event_type and expression.")
        trigger: dict[str, Any]
        match given[0]:
            case "cron":
                trigger = {"kind": "schedule", "cron": self.cron, "missed": self.missed, "until": self.until}
            case "every_minutes":
                trigger = {
                    "kind": "schedule",
                    "interval_minutes": self.every_minutes,
                    "missed": self.missed,
                    "until": self.until,
                }
            case "event_type":
                trigger = {
                    "kind": "event",
                    "source": self.event_source or "*",
                    "type": self.event_type,
                    "filter": self.event_filter,
                }
            case _:
                trigger = {
                    "kind": "condition",
                    "expression": self.expression,
                    "url": self.url,
                    "tool": self.tool,
                    "arguments": self.tool_arguments,
                    "path": self.path,
                    "reset": self.reset,
                }
        trigger["count"] = self.count
        return cast("dict[str, Any]", {name: value for name, value in trigger.items() if value not in (None, "", {})})
