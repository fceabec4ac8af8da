"""A lease that outlives its worker holds up what it guards: each is short and kept alive, or says here why not."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from onevalet.migrating import all_functions
from tests.core.db.leases import Sources, ahead_of_the_clock, computed_ahead, handing_on, inside_json, length_of
from tests.shipping.harness import PRODUCT, python_files

ROOT = Path(__file__).parents[3]
SHORT = timedelta(seconds=30)
_NAME = re.compile(r"(?:^|_)(?:lease|ttl|held)(?:$|_)", re.IGNORECASE)
_LITERAL = re.compile(r"\b\w+_until\s*=[^,;]*?interval '([^']+)'")

REASONS = {
    "abilities/accounts/idle_grants.py LEASE": "the pause before a server that does not answer is asked again; tokens"
    " are refreshed five minutes ahead, and whoever needs one refreshes it at once",
    "abilities/accounts/token_refresh.py LEASE": "two requests of an OAuth server, whose answer cannot be asked for"
    " twice, have to fit: another process that began meanwhile could lose the grant",
    "core/agents/turn_agents.py ttl": "no lease: how long an agent waits for what its person still has to say",
    "operations/backups/schedule.py _LEASE": "renewed each 30 seconds; nobody waits for a backup, and two at once cost"
    " more than a late one",
    "core/budgets/store.py HELD": "no lease: the reserved money of a call that a provider may still charge for",
    "abilities/events/bus.py _lease": "the time that a handler is given, and five seconds; a handler has no end",
    "core/messaging/files.py FILE_LEASE": "one upload of a file has to fit: begun twice, the person would get it twice",
    "operations/tenants/deletion.py _LEASE": "one statement deletes all rows of a person and may take as long; what"
    " they were told is that it is under way",
    "abilities/speech/store.py LEASE": "two calls for a recording have to fit: begun twice, it is paid for twice; its"
    " person has the text",
    "abilities/tasks/runs/firing.py LOOK_LEASE": "a condition whose check ended its worker is checked later each time",
}
"""Leases over 30 seconds, by file and name, and why they are so long."""
WAITS = {
    "claim_memory_job not_before": "when a job is tried again whose worker died or failed: later with each try",
    "claim_wishes next_attempt_at": "when a reminder for another is tried again whose worker died or failed: later with"
    " each try",
    "claim_household_news next_attempt_at": "when news are told again that could not be: later with each try",
    "claim_asked_groups next_attempt_at": "when a channel is asked about a group again: later with each try",
    "claim_lapsed_answers next_attempt_at": "when a wait is ended again that could not be: later with each try",
    "claim_followups next_attempt_at": "when follow-ups are looked at again that could not be: later with each try",
    "claim_limits_to_lift next_attempt_at": "when limits are lifted again that could not be: later with each try",
    "claim_new_places next_attempt_at": "when a place is looked at again that could not be: later with each try",
    "claim_joint next_attempt_at": "when a joint consent is taken further that could not be: later with each try",
    "count_followup_noes paused_until": "how long nothing is proposed after three noes",
    "end_delivery next_attempt_at": "when a message is sent again",
    "end_event next_attempt_at": "when an event is handled again",
    "end_refresh attend_at": "when an account is next looked after",
    "end_webhook next_attempt_at": "when a message is posted again",
    "end_webhook retry_at": "when an endpoint that failed is tried again",
    "fail_mail_watch next_attempt_at": "when a mailbox that failed is looked at again",
    "finish_connect attend_at": "when an account is next looked after",
    "leave_lane not_before": "when a turn is tried again",
    "leave_talk not_before": "when a talk is read again",
    "put_off_notice next_attempt_at": "when a notice is handed over again",
    "put_off_outbound next_attempt_at": "when a message is sent again",
    "remind_approval_now remind_at": "when a person is reminded of a card",
    "revoke_account attend_at": "when a person is told that an account is lost",
    "start_approval expires_at": "how long a card is open",
    "start_approval remind_at": "when a person is reminded of a card",
    "take_message not_before": "how long a turn waits for the messages that follow",
}
"""What functions of SQL write ahead of the clock without holding anything for a worker, and what it is instead."""

_GOOD_FOR = "how long a link or a code is good for"
_SAID = "a moment that a person or an operator chose"
MOMENTS = {
    "abilities/tasks/runs/firing.py LOOK_LEASE": "a lease: see above",
    "abilities/accounts/links.py VALID": _GOOD_FOR,
    "abilities/cost/held.py WAIT": "how long a person has to choose how an answer comes",
    "abilities/cost/held.py _LATER": "when a held answer is looked at again",
    "abilities/cost/links.py VALID": _GOOD_FOR,
    "abilities/household/households.py VALID": _GOOD_FOR,
    "abilities/places/links.py VALID": _GOOD_FOR,
    "abilities/tasks/costs.py MONTH": "the month for which a cost is estimated",
    "core/approvals/confirmation.py VALID_FOR": _GOOD_FOR,
    "core/files/links.py good_for": _GOOD_FOR,
    "core/people/link_codes.py VALID": _GOOD_FOR,
    "core/people/pairing.py VALID": _GOOD_FOR,
    "operations/console/sign_in.py LASTS": "how long somebody is signed in",
    "operations/console/sign_in.py VALID": _GOOD_FOR,
    "operations/programs/tokens.py LIFE": _GOOD_FOR,
    "operations/tenants/links.py VALID": _GOOD_FOR,
    "abilities/calendar/following.py SOON": "the earliest moment of a reminder that moves with its event",
    "abilities/memory/config.py session_life": "how long a session of memory lasts",
    "abilities/memory/sessions.py life": "how long a session of memory lasts",
    "abilities/memory/forgetting.py ASKED_FOR": "how long the question what to forget is open",
    "abilities/memory/runner.py EMBEDDED_EVERY": "the pause between two looks at what is not embedded",
    "abilities/tasks/kinds/condition.py span": _SAID,
    "core/approvals/decisions.py ": "how long a card is put off",
    "core/approvals/exact_replies.py SNOOZE": "how long a card is put off",
    "core/consents/access.py ": _SAID,
    "core/messaging/due_messages.py timeout": _SAID,
    "onevalet/wiring/shared_pauses.py ": "the pause of a peer that exceeded its allowance",
    "core/tools/undo.py ": "how long something can be undone",
    "onevalet/settings.py fall_back_after": _SAID,
    "operations/console/rendering.py apart": "the difference of two clocks, which is only shown",
    "operations/tenants/deletion.py GRACE": "how long a person can take the deletion back",
}
"""By how much over 30 seconds Python adds to the clock, and what the moment is."""
IN_JSON = {
    "end_delivery ttl": "the lease of the next message, by the constant that `claim_outbound` has it from",
    "finish_connect attend_in": "when an account is next looked after",
    "join_household within": "how far back wrong codes are counted",
}
"""Intervals inside a `jsonb`, whose lengths are not followed to their callers, and what they are."""
HANDED = {"begin_delivery"}
"""Functions that take a lease, which only other functions of SQL call."""


def leases() -> Iterator[tuple[str, timedelta | None]]:
    """Yield each lease of the product by file and name; None for how long where that is computed."""
    for folder in PRODUCT:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for name, length in leases_in(path.read_text()):
                yield f"{path.relative_to(ROOT)} {name}", length


def leases_in(source: str) -> Iterator[tuple[str, timedelta | None]]:
    """Yield each assignment of a `timedelta` to what is called a lease."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [target.id if isinstance(target, ast.Name) else target.attr
                 for target in targets if isinstance(target, ast.Name | ast.Attribute)]  # fmt: skip
        calls = [call for call in ast.walk(node.value) if isinstance(call, ast.Call) and _called(call) == "timedelta"]
        for name in names:
            if _NAME.search(name) and calls:
                yield name, length_of(node.value)


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def sql() -> dict[str, str]:
    """Return the text of each file of functions."""
    return {f"{file.name}.sql": file.sql for file in all_functions()}


def taken(texts: Sequence[str], sources: Mapping[str, str]) -> dict[str, dict[str, timedelta | None]]:
    """Return each function that takes a lease, with its column, and the lengths that its callers give."""
    found = [one for one in ahead_of_the_clock(texts) if f"{one.function} {one.column}" not in WAITS]
    found += [further for one in found for further in handing_on(one, texts)]
    read = Sources(sources)
    lengths = dict[str, dict[str, timedelta | None]]()
    for one in found:
        known = lengths.setdefault(f"{one.function} {one.column}", {})
        for place in one.by:
            known |= read.lengths(one.function, place)
    return lengths


@pytest.mark.whole("it reads every file of the product")
def test_every_lease_over_30_seconds_says_why() -> None:
    texts, sources = [*sql().values()], python_files(*PRODUCT)
    found = taken(texts, {path: source for path, source in sources.items() if "timedelta" in source})
    lengths = {name: length for known in found.values() for name, length in known.items()} | dict(leases())
    long = {name for name, length in lengths.items() if length is None or length > SHORT}
    assert sorted(long) == sorted(REASONS)
    callers = {name.partition(" ")[0] for name, known in found.items() if known}
    unread = [name for name, known in found.items() if not known and name.partition(" ")[0] not in HANDED]
    assert not unread, "nobody gives a length that can be followed"
    assert {"claim_lane", "claim_outbound", "claim_memory_job", "begin_refresh", "claim_deletion"} <= callers
    written = {f"{one.function} {one.column}" for one in ahead_of_the_clock(texts)}
    assert set(WAITS) <= written, "what waits no more needs no reason"


@pytest.mark.whole("it reads every file of the product")
def test_every_moment_that_python_computes_ahead_is_known() -> None:
    sources = python_files(*PRODUCT)
    found = computed_ahead({path: text for path, text in sources.items() if "timedelta" in text or "now" in text})
    long = {name for name, length in found.items() if length is None or length > SHORT}
    assert sorted(name for name in long if not name.startswith("workbench/")) == sorted(MOMENTS)


def test_every_interval_inside_json_is_known() -> None:
    assert inside_json([*sql().values()]) == set(IN_JSON)


def test_a_planted_moment_and_a_planted_interval_are_found() -> None:
    source = (
        "GRIP = timedelta(minutes=5)\nclass Grabs:\n    def __init__(self, patience: timedelta) -> None:\n"
        "        self.patience = patience\n    async def take(self, db, now):\n"
        "        await db.call('select grab($1)', now + self.patience)\n"
        "        await db.call('select grab($1)', self.clock.now() + timedelta(seconds=40))\nGrabs(GRIP)"
    )
    found = {"grabs.py GRIP": timedelta(minutes=5), "grabs.py ": timedelta(seconds=40)}
    assert computed_ahead({"grabs.py": source}) == found
    sql = "create function grab(p_how jsonb)\nlanguage sql as $$\n    select seize((p_how ->> 'x')::interval)\n$$;"
    assert inside_json([sql]) == {"grab x"}


def test_no_function_of_sql_has_a_long_lease_of_its_own() -> None:
    found = {
        f"{file}: {literal}"
        for file, text in sql().items()
        for literal in _LITERAL.findall(text)
        if not re.fullmatch(r"(?:[12]?\d|30) seconds?", literal)
    }
    assert not found


def test_a_planted_lease_of_any_name_is_found() -> None:
    sql = (
        "create function grab(p_who text, p_patience interval)\nreturns void\nlanguage sql as $$\n"
        "    update jobs j set busy_till = clock_timestamp() + p_patience\n"
        "    where coalesce(j.busy_till, '-infinity') < now()\n$$;\n"
        "create function seize(p_long interval)\nreturns void\nlanguage sql as $$\n"
        "    select grab('me', p_long)\n$$;"
    )
    source = (
        "GRIP = timedelta(minutes=5)\nTAKE = 'select seize($1)'\nclass Grabs:\n"
        "    def __init__(self, patience: timedelta) -> None:\n        self.patience = patience\n"
        "    async def take(self, db):\n        await self._call(TAKE)\n"
        "    async def _call(self, statement: str):\n        await db.call(statement, self.patience)\nGrabs(GRIP)"
    )
    assert taken([sql], {"grabs.py": source}) == {
        "grab busy_till": {},
        "seize busy_till": {"grabs.py GRIP": timedelta(minutes=5)},
    }


@pytest.mark.parametrize(
    ("source", "length"),
    [
        ("LEASE = timedelta(minutes=5)", timedelta(minutes=5)),
        ("CARD_LEASE: timedelta = datetime.timedelta(seconds=90)", timedelta(seconds=90)),
        ("self._lease = patience + timedelta(seconds=5)", None),
    ],
)
def test_a_planted_lease_is_found(source: str, length: timedelta | None) -> None:
    assert [found for _, found in leases_in(source)] == [length]
