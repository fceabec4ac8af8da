"""What there is in the end, in the words of `points`."""

from collections.abc import Sequence

from tests.faults.abilities.points import OF_COST, OF_FOLLOWUPS, Kind
from tests.faults.database import read_value
from tests.faults.extensions.asking import plain
from tests.faults.harness import Harness
from tests.faults.journals import read
from tests.faults.sends import sends
from tests.faults.worded_plans import WordedPlan
from workbench.simulator.config import Person
from workbench.simulator.slack.state import dm_id

type AbilityPlan = WordedPlan[Kind]

_SHARED = "slack.files.completeUploadExternal"
_FOLLOWUP = """
select concat_ws(', ', f.state, 'notices ' || (
           select count(*) from notifications n where n.tenant_id = f.tenant_id and n.category = 'followup'),
       'tasks ' || (select count(*) from tasks k where k.tenant_id = f.tenant_id and k.deleted_at is null))
from followups f where f.memory_id = $1
"""
_CARDS = """
select count(*) from approvals a join identities n on n.tenant_id = a.tenant_id where n.user_key = $1
"""


def memory_of(plan: AbilityPlan) -> str:
    """Return the id of the memory that a plan's follow-up is about."""
    return f"mem_{plain(plan.token)}"


async def outcome(harness: Harness, plan: AbilityPlan, read_before: int) -> str:
    """Return what became of a plan outside of groups. `read_before`: the texts that the person had by SMS."""
    told = texts(harness, plan.person.phone)
    if plan.kind in OF_COST:
        questions = sum(text.startswith("My answer is") for text in told)
        answers, links = sum(plan.token in text for text in told), sum("for seven days" in text for text in told)
        return f"questions {questions}, answers {answers}, links {links}"
    if plan.kind in OF_FOLLOWUPS:
        return f"{await read_value(harness, _FOLLOWUP, memory_of(plan))}, told {len(told[read_before:])}"
    answers = sum(plan.token in text for text in texts(harness, dm_id(plan.person.slack_user)))
    made = sum(plan.token in text for text in harness.model.spoken)
    return f"answers {answers}, recordings {_recordings(harness, plan.person)}, made {made}"


async def outcome_in_group(harness: Harness, plan: AbilityPlan, group: int, own: int, news: Sequence[str]) -> str:
    """Return what became of a plan in the group. `group`, `own`: the texts before; `news`: its owner's."""
    state = await read_value(harness, "select state from group_chats")
    words = [f"{state}", f"said {len(group_texts(harness)[group:])}"]
    told = texts(harness, str(plan.person.telegram_user))[own:]
    if plan.kind is Kind.WANTED:
        words.append(f"owner told {sum('wants me to take part' in text for text in news)}")
    if plan.kind is Kind.HANDED:
        words += [f"cards {await read_value(harness, _CARDS, str(plan.person.telegram_user))}", f"told {len(told)}"]
    return ", ".join(words)


def texts(harness: Harness, peer: str) -> list[str]:
    """Return what somebody was told in a chat, in order."""
    return [send.text for send in sends(harness.folder / "providers.jsonl") if send.accepted and send.peer == peer]


def group_texts(harness: Harness) -> list[str]:
    """Return what was said in the group on Telegram, in order."""
    told = sends(harness.folder / "providers.jsonl")
    return [send.text for send in told if send.accepted and send.channel == "telegram" and send.peer.startswith("-")]


def _recordings(harness: Harness, person: Person) -> int:
    """Return how many files the person was shown in Slack."""
    calls = [call for call in read(harness.folder / "providers.jsonl") if call["endpoint"] == _SHARED]
    return sum(dm_id(person.slack_user) in str(call["request"]) and call["status"] == 200 for call in calls)
