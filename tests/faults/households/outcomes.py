"""What there is in the end, in the words of `points`."""

from tests.faults.database import read_value
from tests.faults.extensions.asking import plain
from tests.faults.harness import Harness
from tests.faults.households.asking import home_of
from tests.faults.households.plans import HouseholdPlan, Pair
from tests.faults.households.points import JOINT, Kind
from tests.faults.journals import read
from tests.faults.sends import sends

_MEMBERS = "select count(*) from household_members m join tenants h on h.tenant_id = m.household_id where h.name = $1"
_CODES = "select count(*) from household_invitations i join tenants h on h.tenant_id = i.tenant_id where h.name = $1"
_CHILD = (
    "select m.role || case t.tier when '' then ' without a tier' else ' of tier ' || t.tier end"
    " from tenants t join household_members m on m.tenant_id = t.tenant_id where t.tenant_id = $1"
)
_CARDS = "select count(*) from approvals where tenant_id = $1"
_NEWS = {"is done, as you": "done", "may not have worked": "doubtful", "is over": "over"}


async def outcome(harness: Harness, plan: HouseholdPlan, pair: Pair) -> str:
    """Return what became of a plan."""
    said = texts(harness, pair.actor.phone)[pair.read :]
    of_other = texts(harness, pair.other.phone)[pair.other_read :]
    told = f"answers {len(said)}, told {len(of_other)}"
    if plan.kind in JOINT:
        cards = [await read_value(harness, _CARDS, who) for who in (pair.actor_id, pair.other_id)]
        acts = sum(effect["token"] == plain(plan.token) for effect in read(harness.folder / "effects.jsonl"))
        ends = [text.removeprefix(plan.token).strip() for text in said if text.startswith(plan.token)]
        news = [word for text in of_other for words, word in _NEWS.items() if words in text] or ["nothing"]
        return f"cards {cards[0]} and {cards[1]}, acts {acts}, {' '.join(ends)}, told {' '.join(news)}"
    if plan.kind is Kind.INVITE:
        return f"codes {await read_value(harness, _CODES, home_of(plan.token))}, answers {len(said)}"
    if plan.kind is Kind.FREE:
        return f"{await read_value(harness, _CHILD, pair.other_id)}, {told}"
    return f"members {await read_value(harness, _MEMBERS, home_of(plan.token))}, {told}"


def texts(harness: Harness, phone: str) -> list[str]:
    """Return what somebody was told by SMS, in order."""
    told = sends(harness.folder / "providers.jsonl")
    return [send.text for send in told if send.accepted and send.peer == phone]
