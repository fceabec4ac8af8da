"""What became of what a person did besides writing, in words."""

from tests.faults.database import read_rows, read_value
from tests.faults.harness import Harness
from tests.faults.journals import read
from tests.faults.messages.asking import CHANGED
from tests.faults.messages.points import THUMBS, Kind
from tests.faults.sends import Send, sends
from workbench.simulator.config import Person

_REASON = """
select max(i.reason) from inbound i join identities n on n.tenant_id = i.tenant_id
where n.user_key = any ($1) and i.state = 'ignored'
"""
_DECIDED = """
select concat_ws(' ', a.state, a.decided_how) as decided
from approvals a join identities n on n.tenant_id = a.tenant_id where n.user_key = any ($1)
"""
_REACTIONS = """
select concat_ws(' ', i.reason, count(*)) from inbound i join identities n on n.tenant_id = i.tenant_id
where n.user_key = any ($1) and i.reason like 'reaction%' group by i.reason
"""
_FEEDBACK = """
select concat_ws(' ', min(f.emoji), count(*)) from feedback f join identities n on n.tenant_id = f.tenant_id
where n.user_key = any ($1) and f.given
"""
_PLACES = """
select count(*) from seen_places s join identities n on n.tenant_id = s.tenant_id
where n.user_key = any ($1) and s.how = 'link'
"""
_AGAIN = """
select count(*) from steps s join identities n on n.tenant_id = s.tenant_id
where n.user_key = any ($1) and s.kind = 'judge' and s.name = 'claim without a call'
"""
"""Each of a person, by `keys_of`."""


def keys_of(person: Person) -> list[str]:
    """Return all ids of a person at their providers."""
    return [person.phone, person.slack_user, str(person.telegram_user)]


async def outcome(harness: Harness, kind: Kind, token: str, person: Person) -> str:
    """Return what is there in the end, and what the person was told."""
    told = [send for send in sends(harness.folder / "providers.jsonl") if send.accepted]
    keys = keys_of(person)
    if kind is Kind.LINKED:
        texts = sum(send.peer == person.phone and send.text.startswith("I know where you are now") for send in told)
        return f"places {await read_value(harness, _PLACES, keys)}, told {texts}"
    if kind is Kind.ARRIVED:
        return f"reminded {sum(send.text.startswith(f'{token} keys') for send in told)}"
    if kind is Kind.LIKED:
        return f"feedback {await read_value(harness, _FEEDBACK, keys)}"
    acted = sum(effect["token"] == token for effect in read(harness.folder / "effects.jsonl"))
    decided = ", ".join(row["decided"] for row in await read_rows(harness, _DECIDED, keys))
    if kind in THUMBS:
        return f"{decided}, acted {acted}, {await read_value(harness, _REACTIONS, keys)}"
    answers = _answers(told, token)
    match kind:
        case Kind.GONE:
            return f"{answers}, {await read_value(harness, _REASON, keys)}"
        case Kind.MEANWHILE:
            return f"{answers}, acted {acted}"
        case Kind.VOIDED:
            return f"{answers}, {decided}, acted {acted}"
        case Kind.CLAIMED:
            return f"{answers}, asked again {await read_value(harness, _AGAIN, keys)}"
    return answers


def _answers(told: list[Send], token: str) -> str:
    """Return how many answers there are, without cards, and what the last one says."""
    answers = [send.text for send in told if token in send.tokens and "Reply OK" not in send.text]
    last = answers[-1] if answers else ""
    words = [f"answers {len(answers)}"]
    words += [CHANGED] if last.endswith(f"{token} {CHANGED}") else []
    words += ["marked"] if "I have not done this yet." in last else []
    return " ".join(words) + (", told" if "You changed" in last else "")
