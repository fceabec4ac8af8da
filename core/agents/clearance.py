"""Clear a handler run to start: the rules allow it, and the person has consented if consent is needed."""

from dataclasses import dataclass, replace
from functools import partial

from core.agents.agent_call import AgentCall, fields_in
from core.agents.consent import agent_consent, target_of_valet
from core.agents.handler_run import HandlerRun
from core.agents.standard_agent import StandardAgent
from core.approvals.consent import ConsentTo
from core.hooks.hooks import PlannedCall
from core.json_types import JsonObject
from core.loop.call_consent import must_ask
from core.loop.gate import ConsentGate
from core.loop.passage import GatedCall, Granted, Refused, Waiting
from core.tools.tool import Risk


@dataclass(frozen=True, slots=True)
class Cleared:
    """A handler run that may start, with the approved fields."""

    agent: StandardAgent
    run: HandlerRun
    fields: JsonObject
    granted: Granted


async def clear_run(
    call: AgentCall, gate: ConsentGate, run: HandlerRun, fields: JsonObject
) -> Cleared | Waiting | Refused:
    """Pass the gate with a run, or return the reason why it may not start now."""
    agent = await call.make_agent(fields, run.state, run.number)
    resumes = run.last is not None and not run.asks_itself
    # An approval from before the agent's question holds after it, too.
    call_id = f"{call.path}#{1 if resumes else run.number}"
    planned = call.planned(fields)
    joint = must_ask(call.turn.scope, call.path, call.valet.name)
    asks = run.asks_itself or agent.needs_approval() or joint
    # An agent with `asks_itself` gives the reason in its own request; nobody is asked before that.
    tells = run.asks_itself if call.valet.asks_itself else not asks
    why = call.why_asked if tells else ""
    gated = GatedCall(
        call.turn.scope.where,
        planned,
        call.valet.effect,
        run.record.arguments_hash,
        partial(_consent_to, call, run, call_id),
        needs_approval=asks or bool(why),
        why=why,
        target=target_of_valet(call.valet),
        tainted=call.is_tainted(fields),
    )
    if not resumes:
        passage = await gate.pass_(gated)
    elif gate.approved_at(call_id) is not None:
        passage = await gate.ask(gated)
    else:
        passage = Granted(planned)
    if not isinstance(passage, Granted):
        return passage
    if passage.changed:
        fields = fields_in(passage.planned.arguments)
        agent = await call.make_agent(fields, run.state, run.number)
        run = replace(run, record=replace(run.record, arguments_hash=call.digest(fields)))
    return Cleared(agent, run, fields, passage)


def _consent_to(
    call: AgentCall, run: HandlerRun, call_id: str, planned: PlannedCall, risk: Risk, note: str
) -> ConsentTo:
    async def make(given: JsonObject) -> StandardAgent:
        return await call.make_agent(fields_in(given), run.state, run.number)

    request = agent_consent(call_id, call.valet, planned.arguments, make)
    request = replace(request, risk=risk or request.risk, note=note, already_started=run.already_started)
    if run.last is not None and run.asks_itself:
        return replace(request, question=run.last.raw_message, state=run.state)
    return request
