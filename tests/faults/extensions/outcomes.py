"""What there is in the end, in the words of `points`."""

from collections.abc import Sequence

from tests.faults.database import read_value
from tests.faults.extensions.asking import plain
from tests.faults.extensions.plans import ExtensionPlan
from tests.faults.extensions.points import Kind
from tests.faults.extensions.stage import SENSORS, SOCKETS, Stage
from tests.faults.journals import read
from tests.faults.sends import sends
from tests.plugins.extensions import PIZZA

_ROWS = "select count(*) from inbound where text = $1"
_EVENTS = "select count(*) from events where source = 'sensor' and id = $1"
_APPROVALS = "select count(*) from approvals where tenant_id = $1"


async def outcome(stage: Stage, plan: ExtensionPlan) -> str:
    """Return what became of a plan."""
    said, token = _read(stage, plan), plan.token
    match plan.kind:
        case Kind.SOCKET:
            answers = stage.apps[plan.person.key].texts("reply")
            rows = await read_value(stage.harness, _ROWS, plan.body)
            return f"rows {rows}, answers {len(answers)}, {_told(answers, token)}"
        case Kind.PRESSED:
            app = stage.apps[plan.person.key]
            cards, answers = app.texts("card"), app.texts("reply")
            words = f"cards {len(cards)}, acts {_acts(stage, token)}, answers {len(answers)}"
            return f"{words}, {_told(answers, token)}"
        case _ if plan.kind in SENSORS:
            told = sum(f"Measured {plain(token)}." in text for text in said)
            return f"events {await read_value(stage.harness, _EVENTS, plain(token))}, told {told}"
        case Kind.SKILL | Kind.OWN_SKILL:
            return f"acts {_acts(stage, token)}, {_told(said, token)}"
        case Kind.PROGRAM | Kind.PIPES:
            program = stage.programs[plan.name]
            rows = await read_value(stage.harness, _ROWS, plan.body)
            ids = "" if len(program.ids) == 1 else f", ids {len(program.ids)}"
            answers = sorted(program.answers)
            return f"rows {rows}, answers {len(answers)}{ids}, {_told(answers, token)}"
        case Kind.CONSENT:
            program, name = stage.programs[plan.name], plain(token)
            asked_of = await read_value(stage.harness, _APPROVALS, await stage.tenant(plan))
            both = [*program.answers, *(text for text in said if f"{name} acted" in text or f"{name} unsure" in text)]
            end = "acted" if all("acted" in text for text in both) else "unsure"
            return f"cards {asked_of}, acts {_acts(stage, name)}, told {len(both)}, {end}"
    asked = sum(PIZZA in text for text in said)
    return f"asked {asked}, acts {_acts(stage, token)}, {_told(said, token)}"


def _read(stage: Stage, plan: ExtensionPlan) -> list[str]:
    """Return what the person was told by SMS, or on Telegram, in order."""
    if plan.kind in SOCKETS:
        return []
    peers = (plan.person.phone, str(plan.person.telegram_user))
    told = sends(stage.harness.folder / "providers.jsonl")
    return [send.text for send in told if send.accepted and send.peer in peers]


def _told(texts: Sequence[str], token: str) -> str:
    """Return what the one answer says; how many there are where that is not one."""
    answers = [text.removeprefix(token).strip() for text in texts if text.startswith(token)]
    answers = [answer for answer in answers if answer]  # a greeting's answer is the bare token
    return answers[0] if len(answers) == 1 else f"{len(answers)} answers {answers[:2]}"


def _acts(stage: Stage, token: str) -> int:
    """Return how often it was done; an idempotent effect counts once for each of its keys."""
    effects = [effect for effect in read(stage.harness.folder / "effects.jsonl") if effect["token"] == token]
    once = sum(effect["kind"] == "once" for effect in effects)
    return once + len({effect["key"] for effect in effects if effect["kind"] == "again"})
