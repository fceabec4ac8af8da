"""Every tool and agent that ships and acts has one receipt for each effect in the journal, however it ended."""

import io
from collections import Counter

from abilities.receipts.receipts_file import verify
from core.agents.valet import valet_of
from core.journal.types import Effect, StepKind
from onevalet.wiring.plugins import load_plugins
from tests.abilities.receipts.acting import file_bytes, open_acting, receipts_of, tenant_of

STATES = (("done", "ok"), ("done", "unknown"), ("started", "ok"))
"""A step as it is in the journal after an effect, or after one that may have been."""
NO_EFFECT = (("done", "error"), ("done", "refused"), ("done", "waiting"))


def acting() -> list[tuple[str, str, str]]:
    """Return all that ship and act, by kind, name and effect."""
    plugins = load_plugins(["agents"])
    found = [(StepKind.TOOL.value, tool.name, tool.effect.value) for tool in plugins.tools]
    found += [
        (StepKind.AGENT.value, valet.name, valet.effect.value) for valet in map(valet_of, plugins.agents) if valet
    ]
    return sorted(one for one in found if one[2] != Effect.READ)


async def test_each_effect_of_all_that_ship_has_exactly_one_receipt(database_url: str) -> None:
    async with open_acting("sms", database_url) as system:
        await system.say("hello")
        admin, tenant = system.delivery.store.admin, await tenant_of(system)
        turn = await admin.fetchval("select id from turns order by id limit 1")
        whole = acting()
        for place, (kind, name, effect) in enumerate(whole):
            for state, outcome in (*STATES, *NO_EFFECT):
                await admin.execute(
                    "insert into steps (tenant_id, turn_id, agent_path, step, call_index, kind, name, effect, state,"
                    " outcome) values ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9)",
                    tenant,
                    turn,
                    f"{place + 1}.1/{name}" if kind == StepKind.AGENT else "",
                    10 + 10 * place + (*STATES, *NO_EFFECT).index((state, outcome)),
                    kind,
                    name,
                    effect,
                    state,
                    outcome,
                )
        receipts = await receipts_of(system)
        assert len(whole) > 60
        assert {effect for _, _, effect in whole} == {Effect.ONCE, Effect.IDEMPOTENT}
        assert Counter((str(one.told["kind"]), one.tool) for one in receipts) == {
            (kind, name): len(STATES) for kind, name, _ in whole
        }
        assert len({one.number for one in receipts}) == len(receipts)
        assert verify(io.BytesIO(await file_bytes(system))).receipts == len(receipts)
