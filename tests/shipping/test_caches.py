"""Whatever a process keeps by some key is listed here: what is kept by person has to follow when two become one."""

import re
from collections.abc import Iterator

from tests.shipping.harness import ROOT

FOLDERS = ("core", "channels", "notify", "providers", "jobs", "abilities", "agents", "onevalet", "operations")
_MAP = r"(?:dict|OrderedDict|defaultdict|TTLCache|LRUCache)"
KEPT = re.compile(
    rf"^ +self\.(?P<own>_\w+)(?:: {_MAP}\[.*?)? = (?:{{}}|{_MAP}\(.*)$"
    rf"|^ +(?P<field>\w+): {_MAP}\[.*? = field\(default_factory={_MAP}\b",
    re.MULTILINE,
)
_TURN, _LOADED, _TEXT = "a turn's", "once, at the start", "text, nobody's"
BY_PERSON = {
    "abilities/memory/index/cache.py _entries": "test_indexes_that_are_warm_with_both_follow",
    "abilities/memory/index/cache.py _catching": "test_indexes_that_are_warm_with_both_follow",
    "abilities/memory/index/cache.py _soon": "test_indexes_that_are_warm_with_both_follow",
    "core/people/rate_limit.py people": "test_one_limit_counts_on_both_channels",
    "core/people/rate_limit.py told": "test_one_limit_counts_on_both_channels",
    "abilities/web/page_cache.py _pages": "test_pages_and_all_that_is_read_in_a_turn_follow",
    "abilities/events/receive.py _known": "test_every_event_during_a_link_is_taken_and_fires_its_task_once",
}
"""The test of what happens to each when two people become one."""
OTHERWISE = {
    "abilities/contacts/copies.py books": "one call's",
    "abilities/contacts/copies.py cards": "one call's",
    "abilities/accounts/oauth.py _known": "issuer",
    "core/agents/field_collection.py wrong": _TURN,
    "core/agents/pending_answers.py changed": _TURN,
    "core/agents/pending_answers.py ended": _TURN,
    "core/agents/registry.py _inner": _LOADED,
    "core/agents/registry.py _valets": _LOADED,
    "core/agents/turn_agents.py waiting": _TURN,
    "core/approvals/consent.py labels": _TURN,
    "core/approvals/requests.py joint": _TURN,
    "core/approvals/requests.py new": _TURN,
    "core/journal/postgres.py _unflushed": _TURN,
    "core/journal/postgres.py _waiting": _TURN,
    "core/db/groups.py _waiting": "sender, until the write of a moment is done",
    "core/children/child_server.py _jobs": "process, while it runs",
    "abilities/events/bus.py _groups": _LOADED,
    "abilities/events/bus.py handlers": _LOADED,
    "abilities/events/source_index.py _by_bearer": "secret of a source, whoever's it is",
    "providers/models/direct/anthropic.py _blocks": "one answer's",
    "providers/models/direct/anthropic.py _inputs": "one answer's",
    "providers/models/direct/plans.py _kept": "model",
    "providers/models/direct/streamed_calls.py _by_id": "one answer's",
    "providers/models/direct/streamed_calls.py _by_number": "one answer's",
    "providers/models/direct/whole.py model_call_details": "one answer's",
    "providers/models/lean_litellm.py names": _LOADED,
    "abilities/memory/index/embedder.py _known": _TEXT,
    "abilities/memory/index/typeagent_index.py _knowledge": "one index's",
    "abilities/memory/index/typeagent_index.py _vectors": "one index's",
    "abilities/memory/index/typeagent_storage.py _entities": "one index's",
    "abilities/memory/index/typeagent_storage.py _known": "one index's",
    "abilities/memory/index/typeagent_storage.py _ranges": "one index's",
    "abilities/memory/index/typeagent_storage.py _rows": "one index's",
    "core/loop/account_check.py _asked": _TURN,
    "core/loop/account_check.py held": _TURN,
    "core/loop/scope.py _calls": _TURN,
    "operations/console/reading/usage.py tasks": "one page's",
    "core/http/peer.py _known": "peer and its person, to be left alone for minutes: who is gone asks no peer",
    "core/http/peer.py _people": "person, while a conversation of theirs runs: each ends by itself",
    "core/people/rate_limit.py accounts": "account of ours",
    "core/people/rate_limit.py verdicts": "turn",
    "core/people/tiers.py _tiers": _LOADED,
    "core/queue/due.py _calls": "kind of work",
    "onevalet/foundations.py _by_kind": "kind of what abilities open",
    "onevalet/doing_now.py _newest": _TURN,
    "onevalet/embedded.py _settings": _LOADED,
    "onevalet/init/dialogue.py _given": "setting, of the operator's answers",
    "onevalet/supervision/supervisor.py _processes": "process",
    "onevalet/testing/rehearsal.py sent": "a rehearsal's",
    "onevalet/testing/rehearsal.py values": "a rehearsal's",
    "onevalet/wiring/logs.py _seen": "sentence of a library's",
    "onevalet/wiring/program.py _is_ours": _TURN,
    "onevalet/wiring/program.py _watchers": "address of a program's talk, while it listens",
    "onevalet/wiring/talking.py _one_by_one": "address of a program's talk",
    "notify/setbacks.py _known": "person, to be left alone for a while: who is gone has no work",
    "core/tools/docstrings.py parameters": _LOADED,
    "core/tools/toolbox.py _tools": _LOADED,
    "abilities/events/receive.py _counts": "limit, and in it the source",
    "channels/email/lanes.py _lanes": "sender, while mails of theirs are taken: each ends by itself",
    "channels/email/lanes.py _tasks": "sender, while mails of theirs are taken: each ends by itself",
    "channels/http/connections.py _proven": "address of a network",
    "channels/http/connections.py _sources": "connection",
    "channels/http/connections.py _waiting": "address of a network",
    "channels/http/penalties.py _windows": "address of a network",
    "channels/slack/identity.py _direct": "Slack's user, for whom Slack has one conversation with us",
    "channels/slack/sender_profiles.py _asked": "Slack's user, whose profile Slack has",
    "notify/slack/marks.py _setting": "message on Slack",
    "abilities/tasks/runner.py _claimed": "look at a task: one of somebody who was linked meanwhile finds no such task",
    "abilities/mail/watcher.py running": "mailbox with its person: the watch of who became another is begun anew",
    "jobs/turns/slow_model.py _timers": "turn",
    "jobs/turns/interrupts.py _running": "lane of a turn that runs: nobody is linked meanwhile",
    "jobs/later/cron.py _rung": "chore",
    "jobs/supervision.py _histories": "kind of work",
}
"""What each is kept by instead."""


def kept() -> Iterator[str]:
    """Yield what our processes keep by some key, by file and name."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for match in KEPT.finditer(path.read_text()):
                yield f"{path.relative_to(ROOT)} {match['own'] or match['field']}"


def test_each_cache_is_told_apart_by_what_it_is_kept_by() -> None:
    assert set(kept()) == {*BY_PERSON, *OTHERWISE}, "list it above; one that is kept by person needs a test of a link"


def test_what_is_kept_by_person_has_its_test_of_a_link() -> None:
    tests = [(ROOT / "tests" / path).read_text() for path in
             ("core/people/test_warm_caches.py", "abilities/events/test_during_merge.py")]  # fmt: skip
    assert [name for name in BY_PERSON.values() if not any(f"def {name}(" in text for text in tests)] == []
