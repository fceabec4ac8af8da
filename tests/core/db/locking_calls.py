"""How each function that locks lanes, messages or approvals is called, in one moment in which all of them have work.

In that moment a person's lane runs a turn and holds another that waits for an approval, whose card is being sent. A
call is SQL with `:names` of the moment's rows.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from core.people.tenant_tables import merge_rules, parting_rules, tenant_tables
from tests.core.harness import ACCOUNT, CHANNEL, Store, message

ANN, BEN, STRANGER = "+15550000001", "+15550000002", "+15550000003"
WORKER, SENDER = "w1", "s1"
_MOMENT = Path(__file__).with_name("locking_moment.sql")
_NAME = re.compile(r"(?<![:\w]):([a-z]\w*)")


def _rows(*rows: Mapping[str, object]) -> str:
    return json.dumps(rows)


_REPLY = _rows({"id": "out_new", "kind": "reply", "text": "Done."})
_NOTE = json.dumps({"id": "out_note", "kind": "receipt", "text": "The model is away."})
_BILL = json.dumps(
    {"segments": 1, "now": "2026-01-01T10:00:00Z", "limit_of_person": 100, "limit_of_all": 1000, "price": "0.01"}
)
_TOLD = json.dumps({"begun": "It had begun.", "failed": "It failed."})
_END = json.dumps(
    {
        "state": "done", "reason": "", "usage": {}, "history": [], "outbound": json.loads(_REPLY), "absorbed": [],
        "new_session": False, "pool": [], "waiting_step": None,
    }
)  # fmt: skip
_STEP = json.dumps(
    {
        "agent_path": "", "step": 0, "call_index": 0, "kind": "model", "name": "m", "args_hash": "", "effect": "read",
        "state": "done", "outcome": "ok", "idempotency_key": "", "result": {}, "usage": {}, "duration_ms": 1,
    }
)  # fmt: skip
_PART_END = json.dumps(
    {
        "part_state": "sent", "outcome": "accepted", "provider_id": "SM9", "error_code": "", "reason": "",
        "degraded": False, "identity_state": "",
    }
)  # fmt: skip
_BY = json.dumps({"channel": CHANNEL, "how": "code"})
_RULING = json.dumps({"approval": "apr", "outcome": "approve", "state": "approved", "how": "code", "starts": True})
_IN_GROUP = json.dumps(
    {"title": "Us", "inside": None, "says": True, "addressed": True, "word": "", "name": "Ann", "tells": True}
)
_WORD = json.dumps(
    {"outcome": "approve", "rulings": [json.loads(_RULING)], "code": None, "given": "", "fresh": "123456"}
)
_NEWS = json.dumps(
    {
        "id": "ntf_new", "category": "general", "urgency": "normal", "title": "", "text": "news",
        "actions": [], "media": [], "dedupe_key": "new", "task_id": "", "run_id": "", "conversation_id": "",
        "outbound": "out_news", "new_conversation": "cnv_news",
    }
)  # fmt: skip
_RUN_END = json.dumps(
    {
        "state": "PENDING_APPROVAL", "reason": "", "history": [], "key": "end", "kind": "news", "text": "",
        "max_failures": 5,
        "disabled": "", "media": [], "outside": False,
    }
)  # fmt: skip

_LANE = ":tenant, :lane, :fence"
_ROW = ":tenant, :card, :card_fence"
_NEWS_ROW = ":tenant, 'out told', 1"

CALLS: Mapping[str, str] = MappingProxyType(
    {
        # A worker at its turn.
        "claim_lane": "select claim_lane(:free_lane, 'w2', 'w2/a', '30 s', 4, null, '1 minute', true)",
        "renew_lane": f"select renew_lane({_LANE}, '30 s')",
        "leave_lane": f"select leave_lane({_LANE}, '1 s')",
        "end_leases": "select end_leases('w1', :lane)",
        "open_turn": f"select open_turn({_LANE}, 'turn_new', 40)",
        "record_step": f"select record_step({_LANE}, :turn, '{_STEP}')",
        "await_model": f"select await_model({_LANE}, :turn, '1 h', '1 s', 1.0, '{_NOTE}')",
        "tell_delay": f"select tell_delay({_LANE}, :turn, '{_NOTE}')",
        "begin_stream": f"select begin_stream({_LANE}, :turn, 'out_stream')",
        "keep_stream": f"select keep_stream({_LANE}, :grown, 'words')",
        "forget_stream": "select forget_stream(:tenant, :grown)",
        "fail_turn": f"select fail_turn({_LANE}, :turn, '{{}}', 'out_failed', '{_TOLD}', 3)",
        "finish_turn": f"select finish_turn({_LANE}, :turn, '{_END}')",
        # Its lane is held, by the `finish_turn` of the same statement.
        "note_run": (
            "select from lanes where tenant_id = :tenant and id = :run for no key update;"
            f" select note_run(:tenant, :run_turn, '{_RUN_END}')"
        ),
        "say_more": "select say_more(:tenant, :conversation, :old_waiting, 'out_more', '1 h')",
        "choose_answer": "select choose_answer(:tenant, :conversation, :old_waiting, 'send', null, null)",
        "lapse_answer": "select lapse_answer(:tenant, :apart, now() + interval '1 h', now(), 'link', null, null)",
        "wake_turn": "select wake_turn(:tenant, :waiting)",
        "change_pool_entry": "select change_pool_entry(:tenant, :agent, 'cancel')",
        "change_task": "select change_task(:tenant, :task, 'delete', now(), now(), null, '')",
        # A sender at its message.
        "claim_outbound": "select claim_outbound(:other, 's2/a', '30 s')",
        "keep_parts": f"select keep_parts({_ROW}, '[]', '[]', 'text')",
        "begin_delivery": f"select begin_delivery({_ROW}, 1, 1, :card_owner, '30 s', '{_BILL}')",
        "begin_rendered": f"select begin_rendered({_ROW}, 1, :card_owner, '30 s', :rendered, '{_BILL}')",
        "end_delivery": f"select end_delivery({_ROW}, 1, 1, '{_PART_END}', '1 s', '{{}}')",
        "hold_answer": f"select hold_answer({_ROW}, 14, 12, now(), now())",
        "settle_outbound": f"select settle_outbound({_ROW})",
        "put_off_outbound": f"select put_off_outbound({_ROW}, '1 s')",
        "give_back_outbound": f"select give_back_outbound({_ROW})",
        "fail_outbound": f"select fail_outbound({_ROW}, 'refused')",
        "set_aside_outbound": f"select set_aside_outbound({_ROW}, 'lost')",
        "end_stream": f"select end_stream({_ROW})",
        "apply_status": f"select apply_status('{CHANNEL}', '{ACCOUNT}', :card_ref, 'SM1', 'delivered', 5, '', false)",
        "end_delivery of news": f"select end_delivery({_NEWS_ROW}, 1, 1, '{_PART_END}', '1 s', '{{}}')",
        "settle_outbound of news": f"select settle_outbound({_NEWS_ROW})",
        "fail_outbound of news": f"select fail_outbound({_NEWS_ROW}, 'refused')",
        "set_aside_outbound of news": f"select set_aside_outbound({_NEWS_ROW}, 'lost')",
        "apply_status of news": (
            f"select apply_status('{CHANNEL}', '{ACCOUNT}', 'news part', '', 'undelivered', 9, '', false)"
        ),
        "resend_outbound of news": "select resend_outbound(:tenant, 'out told', 'out_told_again')",
        "enqueue_notification again": (
            "select enqueue_notification(:tenant, 'ntf told', 'queued', :places, 'out_else', 'cnv_note', now(), null)"
        ),
        "release_outbound": "select release_outbound(:tenant, :held)",
        "resend_outbound": "select resend_outbound(:tenant, :failed, 'out_again')",
        "drop_outbound": "select drop_outbound(:tenant, :failed)",
        # A person's messages and decisions.
        "receive_messages": "select receive_messages(jsonb_build_array(:arrival::jsonb), 100, 1000, true)",
        "take_in_group": f"select take_in_group(:arrival, '{_IN_GROUP}', 100, 1000)",
        "ask_in_own_chat": (
            """select ask_in_own_chat(:tenant, :turn, 'Ann', '{"inbound": "msg_own", "outbound": "out_own","""
            """ "conversation": "cnv_own"}', '{"en": "You asked."}')"""
        ),
        "receive_exact": (f"select receive_exact(:arrival, '7K', word_facts(:arrival, '7K'), '{_WORD}', now())"),
        "receive_press": (
            f"select receive_press(:arrival, 'card token', press_facts(:arrival, 'card token'), '{_RULING}', now())"
        ),
        "receive_reaction": (
            """select receive_reaction(:arrival, :card, '{"why": "several", "tokens": ["card token", "third token"],"""
            """ "added": [], "removed": [], "at": null}', now())"""
        ),
        "receive_choice": "select receive_choice(:arrival, 0, 'question token', now())",
        # The message of the turn that waits is changed: its card and its question are void.
        "receive_amendment": (
            "select receive_amendment(:change, :changed, amendment_facts(:change, :changed), "
            """'{"kind": "answers", "reason": "", "says": ""}', now())"""
        ),
        "decide_approval": (
            f"select decide_approval(:tenant, approval_facts(:tenant, :approval), '{_RULING}', '{_BY}', now())"
        ),
        "approval_ran": "select approval_ran(:tenant, :approved, 'ok', now())",
        "remind_approval": "select remind_approval(:tenant, :approval, 'out_remind', now() + interval '1 day')",
        "remind_approval_now": f"select remind_approval_now(:tenant, :approval, 'out_now', '{_BY}', '1 s', now())",
        "reissue_approvals": "select reissue_approvals(:tenant, now())",
        # Ben's consent is wanted, too; of a third person Ann's own is.
        "settle_joint": "select settle_joint(:tenant, :approval, 'left', now())",
        "end_second": "select end_second(:tenant, 'apr unsent', 'left', now())",
        "show_second": (
            "select show_second(:tenant, :conversation, 'turn_second', "
            """'{"id": "out_second", "kind": "card", "text": "card"}')"""
        ),
        "expire_approvals": "select expire_approvals(now() + interval '1 year', 100)",
        "sweep_cards": "select sweep_cards(now(), 100)",
        "expire_pool": "select expire_pool(now() + interval '1 year', 100)",
        # Notices.
        "keep_notification": (
            f"select keep_notification(:tenant, '{_NEWS}', 'queued', null, now(), :places, now(), null)"
        ),
        "enqueue_notification": (
            "select enqueue_notification(:tenant, :failed_note, 'failed', :places, 'out_note', 'cnv_note', now(), null)"
        ),
        "enqueue_digest": (
            f"select enqueue_digest(:tenant, array[:note], '{_NEWS}', :places, 'out_digest', 'cnv_note', now(), null)"
        ),
        "withdraw_notification": "select withdraw_notification(:tenant, :queued_note)",
        # Accounts, people, and what is deleted.
        "save_credentials": "select save_credentials(:tenant, 'mail', 'work', 1, 's')",
        "wake_for_account": "select wake_for_account(:tenant)",
        "finish_connect": f"select finish_connect(:tenant, sha256('connect'), :account, '{_REPLY}', now())",
        "admit_address": f"select admit_address('adm', '{CHANNEL}', '{ACCOUNT}', '{STRANGER}', 'member', '', now())",
        "redeem_pairing": "select redeem_pairing('pair', sha256('pair'), 'member', '', now(), 5, '1 h')",
        "meet_stranger": (
            "select meet_stranger(:strange_arrival, sha256('new'), 'Your code.', now() + interval '1 year',"
            " now() + interval '2 years', 5, 50)"
        ),
        "drop_strangers": "select drop_strangers(now() + interval '1 year')",
        "drop_link_codes": "select drop_link_codes(now() + interval '12 hours')",
        "begin_link": "select begin_link(:ben, :ben_turn, sha256('link'), true, '{tasks}', now(), 5, '1 h')",
        "begin_link_in_console": (
            "select begin_link_in_console(:ben, 'key', sha256('link there'), true, '{}', now(), 5, '1 h')"
        ),
        "unlink_identity": "select unlink_identity(:tenant, :turn, 'tn_new', 'idn_new', 'cnv_new', 'out_new', 'Hi.')",
        "begin_parting": (
            "select find_link(:tenant, :turn, now() - interval '1 day'); select begin_parting(:tenant, 'lnk')"
        ),
        "move_apart": (
            "select find_link(:tenant, :turn, now() - interval '1 day'); set constraints all deferred;"
            " select begin_parting(:tenant, 'lnk');"
            " select move_apart(:tenant, 'lnk', :turn, :rules, '[]')"
        ),
        "merge_people": (
            "select begin_link(:tenant, :turn, sha256('link ben'), true, '{tasks}', now(), 5, '1 h');"
            " select merge_people(:tenant, :ben, :turn, sha256('link ben'), :merge_rules, '[]')"
        ),
        "delete_tenant": "select delete_tenant(:tenant, :tables)",
        "redact": "select redact(:tenant, array['secret'])",
        "prune_messages": "select prune_messages(now() + interval '1 day', 100)",
        "prune_messages_apart": "select prune_messages_apart(now() + interval '1 day', 100)",
        "prune_runs": "select prune_runs('-1 day', 100)",
        "scrub_numbers": "select scrub_numbers(now(), 100)",
    }
)


type Names = Mapping[str, object]


async def make_moment(store: Store) -> Names:
    """Store the moment; return the names of its rows."""
    meet = (
        "select meet_stranger(:strange_arrival, sha256('pair'), 'Your code.', now(), now() + interval '1 hour', 5, 50)"
    )
    await store.admin.execute(filled(meet, {"strange_arrival": _arrival(STRANGER)}))
    await store.send(await store.claim_sending("Your code.", worker=SENDER))
    await store.say("hi", sender=BEN)
    bens, bens_turn = await store.claim_turn("w3")
    await store.say("hello")
    lease, old = await store.claim_turn(WORKER)
    tenant = lease.tenant_id
    await store.finish(lease, old, "sent", "failed", "apart")
    for number in range(3):
        await store.send(await store.claim_sending(f"text {number}", worker=SENDER))
    sent, failed, apart = await store.db.outbound.column("id", order="seq", tenant_id=tenant)
    asked = await store.say("do it")
    lease, waiting = await store.claim_turn(WORKER)
    shown = json.dumps([{"id": "out_card", "kind": "card", "text": "card"}])
    await store.admin.execute("select enqueue($1, $2, $3, $4)", tenant, lease.lane_id, waiting.turn_id, shown)
    claim = await store.claim_sending("card", worker=SENDER)
    await store.outbox.begin_delivery(claim, 1, 1)
    await store.db.turns.change({"state": "waiting"}, id=waiting.turn_id)
    await store.db.lanes.change({"owner": None, "lease_until": None, "pending": True}, id=lease.lane_id)
    await store.say("and that")
    lease, turn = await store.claim_turn(WORKER)
    await store.say("one more")
    await store.inbox.accept(message("elsewhere", ANN, "SM-other", thread="2"))
    other = await store.db.conversations.one("id", thread="2")
    reply = json.dumps([{"id": "out_other", "kind": "reply", "text": "there"}])
    await store.admin.execute("select enqueue($1, $2, null, $3)", tenant, other, reply)
    ann_id = await store.db.identities.one("id", user_key=ANN)
    names = {
        "tenant": tenant, "conversation": lease.lane_id, "lane": lease.lane_id, "fence": lease.fence,
        "turn": turn.turn_id, "waiting": waiting.turn_id, "old_turn": old.turn_id, "sent": sent, "failed": failed,
        "apart": apart, "card": claim.outbound_id, "card_fence": claim.fence, "card_owner": claim.owner,
        "other": other, "free_lane": other,
        "card_ref": await store.db.outbound_parts.one("ref", outbound_id=claim.outbound_id),
        "channel": CHANNEL, "account_of_all": ACCOUNT, "ann_id": ann_id, "failed_note": "ntf_failed",
        "old_waiting": waiting.turn_id,
        "held": "out_held", "grown": "out_grown", "approval": "apr", "approved": "apr_approved", "agent": "agt",
        "task": "tsk", "run": "run", "run_turn": "turn_run", "note": "ntf_held", "queued_note": "ntf_queued",
        "ben": bens.tenant_id, "ben_turn": bens_turn.turn_id, "ann_key": ANN, "ben_key": BEN,
        "change": _arrival(ANN), "changed": f"{{{await store.db.inbox_keys.one('key', inbound_id=asked.id)}}}",
        "arrival": _arrival(ANN), "strange_arrival": _arrival("+15550000009"),
        "places": json.dumps(
            [{"identity_id": ann_id, "channel": CHANNEL, "account": ACCOUNT, "peer": ANN, "thread": ""}]
        ),
        "account": json.dumps(
            {"service": "mail", "name": "work", "key_version": 1, "sealed": "00", "attend_in": "1 minute"}
        ),
        "rendered": json.dumps(
            {"parts": [{"part": 1, "ref": claim.outbound_id, "text": "card", "data": {}, "segments": 1}], "rest": [],
             "text": "card"}
        ),
        "tables": "{" + ",".join(reversed(tenant_tables())) + "}",
        "rules": json.dumps([[table, [list(one) for one in parents]] for table, parents in parting_rules().items()]),
        "merge_rules": json.dumps({table: rule.how.value for table, rule in merge_rules().items()}),
    }  # fmt: skip
    await store.admin.execute(filled(_MOMENT.read_text(), names))
    return names


def filled(statement: str, names: Names) -> str:
    """Return a statement with literals in place of its `:names`."""
    return _NAME.sub(lambda found: _literal(names[found[1]]), statement)


def _literal(value: object) -> str:
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def _arrival(sender: str) -> str:
    return json.dumps(
        {
            "channel": CHANNEL, "account": ACCOUNT, "peer": sender, "thread": "", "user_key": sender,
            "keys": [f"SM-new-{sender}"], "id": f"msg_new_{sender}", "new_tenant": f"tn_{sender}",
            "new_identity": f"idn_{sender}", "new_conversation": f"cv_{sender}", "outbound": f"out_{sender}",
            "text": "OK 7K", "media": [], "command": None,
            "provider_id": "", "sent_at": None, "reply_to": "", "origin": "own", "subject": "", "name": "",
            "timezone": "", "language": "", "admit": "open", "role": "owner", "listed_only": False,
        }
    )  # fmt: skip
