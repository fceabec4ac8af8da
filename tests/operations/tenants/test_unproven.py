"""An archive that was changed, or that another installation made, is believed about nobody's address."""

from datetime import timedelta

import pytest

from core.credentials.secret_keys import SecretKey
from core.json_types import JsonObject
from core.people.access_policy import PersonRole
from core.people.table_rules import Archived
from operations.archives.zips import MANIFEST, SIGNATURE, ArchiveRefused
from operations.console.unsettled import Settlement, UnsettledMessages
from operations.tenants.archive import Archive, Unconfirmed, open_archive
from operations.tenants.copies import CopyEraser, Erased
from operations.tenants.tables import archive_rules
from operations.tenants.unproven import SIGNED_ALONE, STAND_IN, UNPROVEN
from tests.core.db.test_row_security import ANN
from tests.core.harness import ACCOUNT, CHANNEL, Store, message
from tests.operations.tenants.harness import NOW, Installation
from tests.operations.tenants.rewriting import Change, Contents, keep, rewritten, rows_of, without_signature

ANNS, OTHERS = f"sms:{ANN}", "+15557770001"

WORDS = """
approval_audit: approval_id channel detail hash how identity_id
approvals: arguments code conversation_id decided_by decided_channel decided_how decided_in form hash name place
approvals: proposed reason risk sealed_head sealed_tail shown source summary token
consent_uses: arguments_hash call_id outcome turn_id
console_actions: subject viewer what
console_looks: subject viewer what
conversations: thread
deliveries: error_code outcome owner
events: data source traceparent type
feedback: emoji
files: caption content_type key kind name pages sha256
followups: decided_in memory_id task_id turn_id
history: message
identities: name state_reason timezone told_language
inbound: command heard media outcome points reason reply_to subject text traceparent
inbound_files: failure file_id
lanes: owner process
memories: collection extractor knowledge slot source_key speaker superseded_by text turn_id
memory_jobs: collection messages owner
memory_messages: message session
memory_recalls: report
message_words: message_id
notifications: actions category dedupe_key digest_id media notice_channel outbound_id reason run_id task_id text title
notifications: traceparent tried wanted
outbound: actions closing media owner reason resends rest sentences stream text told_missing_by traceparent
outbound_parts: data error_code status text
person_audit: account channel identity_id other turn_id
pool_entries: agent_id agent_path agent_type collected_fields context reason schema_version tool_call_id
profile_facts: key replaced_by turn_id value
questions: agent_id answer answered_by answered_channel choices name token
run_notices: fate key media notification_id place text traceparent
saved_places: key name
spared_calls: work
spending: task_id
standing_consents: approval_id hash name reason sealed turn_id
steps: agent_path args_hash effect idempotency_key kind name outcome result usage
stored_collections: name
stored_values: collection key value
task_runs: cause history occurrence reason turn_id
tasks: action executor output reason set_aside title trigger watch zone
tenants: language language_from muted name preferred_channel quiet_from quiet_until tier timezone
turns: reason stop_message traceparent usage
undo_records: taken_by title tool
usage_days: kind name task_id
"""
"""The columns of an archive to which nothing is sent and by which nobody is known: what was said and done, names of
channels and of our own parts, and the person's own settings."""
_TEXTS = """
select c.relname || '.' || a.attname as name
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    and a.attgenerated = '' and format_type(a.atttypid, null) in ('text', 'text[]', 'jsonb')
where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> all ($1)
  and exists (select from pg_attribute t where t.attrelid = c.oid and t.attname = 'tenant_id')
  -- Ids of the person's own rows, and states.
  and not exists (
      select from pg_constraint k where k.conrelid = c.oid and (
          k.contype = 'f' and a.attnum = any (k.conkey)
          or k.contype = 'c' and k.conkey = array[a.attnum] and pg_get_constraintdef(k.oid) like '%= ANY (ARRAY[%'))
"""


async def texts(store: Store) -> set[str]:
    """Return the columns that hold texts, of every table whose archived rows are imported."""
    others = [
        table for table, rule in archive_rules().items() if rule.how is not Archived.MOVED or table in SIGNED_ALONE
    ]
    names = map(str, await store.column(_TEXTS, others))
    return {name for name in names if not name.endswith((".id", ".tenant_id"))}


def told() -> set[str]:
    """Return the columns of which it is said whether an archive is believed about them."""
    lines = [line.partition(": ") for line in WORDS.split("\n") if line]
    words = {f"{table}.{column}" for table, _, columns in lines for column in columns.split()}
    return words | {f"{table}.{column}" for table, columns in UNPROVEN.items() for column in columns}


async def test_of_every_text_it_is_said_whether_it_is_believed(store: Store) -> None:
    found = await texts(store)
    assert len(found) > 180
    assert sorted(found - told()) == []
    known = await store.column("select table_name || '.' || column_name from information_schema.columns")
    assert sorted(told() - set(map(str, known))) == []


async def test_a_new_table_with_addresses_is_not_forgotten(store: Store) -> None:
    await store.admin.execute("create table neighbours (tenant_id text, id text, channel text, reached_at text)")
    await store.admin.execute("alter table outbound add column copy_to text")
    assert await texts(store) - told() == {"neighbours.channel", "neighbours.reached_at", "outbound.copy_to"}


def claiming(contents: Contents) -> None:
    """Have Ann claim Bob's number wherever an archive has addresses."""
    own, *_ = identities = rows_of(contents, "identities")
    keep(contents, "identities", [*identities, own | {"id": "idn_more", "user_key": OTHERS}])
    talks = rows_of(contents, "conversations")
    talk = next(talk for talk in talks if talk["identity_id"] == own["id"])
    newest = talk | {"peer": OTHERS, "last_inbound_at": "2190-01-01T00:00:00+00:00"}
    more = [newest | {"id": "cnv_more", "identity_id": "idn_more"}, newest | {"id": "cnv_own", "peer": "+15557770002"}]
    keep(contents, "conversations", [*talks, *more])
    [recipient] = rows_of(contents, "recipients")
    place = {"channel": CHANNEL, "account": ACCOUNT, "user_key": OTHERS}
    keep(contents, "recipients", [recipient | place | {"open": True, "written_at": NOW.isoformat()}])
    keys = rows_of(contents, "inbox_keys")
    keep(contents, "inbox_keys", [*keys, keys[0] | {"key": "SM-pin"}])
    [message_out] = rows_of(contents, "outbound")
    sent_there = [
        message_out | {"id": id, "conversation_id": id.replace("out", "cnv")} for id in ("out_more", "out_own")
    ]
    keep(contents, "outbound", [message_out, *(row | {"state": "failed", "regardless": True} for row in sent_there)])
    [undo] = rows_of(contents, "undo_records")
    keep(contents, "undo_records", [undo | {"arguments": {"to": OTHERS}, "open_until": "2190-01-01T00:00:00+00:00"}])


async def changed_archive(installation: Installation, change: Change) -> Archive:
    """Export Ann, delete her, and return her archive with a change and a manifest that fits."""
    path = await installation.export()
    await installation.delete()
    return open_archive(rewritten(path, change), installation.keys)


async def said_by(store: Store, person: str) -> list[str]:
    """Return what a person is stored to have said."""
    return [str(text) for text in await store.db.inbound.column("text", tenant_id=person)]


async def test_a_changed_archive_claims_nobody_elses_number(installation: Installation) -> None:
    archive = await changed_archive(installation, claiming)
    assert not archive.signed
    imported = await installation.importer.take_in(archive, admit=[ANNS])
    assert imported.left == (f"sms:{OTHERS}",)
    store, ann = installation.store, imported.tenant_id
    await store.inbox.accept(message("My PIN is 1234", OTHERS, "SM-pin"))
    whose = await store.db.inbound.column("tenant_id", text="My PIN is 1234")
    assert len(whose) == 1
    assert whose != [ann]
    # Nor was it an answer to a message of hers.
    assert await store.one("select count(*) from notifications where text like '%PIN%'") == 0
    assert await store.db.ignored_messages.count(reason="answer") == 0
    # She is herself still.
    await store.inbox.accept(message("And I am Ann.", ANN, "SM-ann"))
    assert await said_by(store, ann) == ["hello", "And I am Ann."]


async def test_nothing_is_sent_to_an_address_that_nobody_confirmed(installation: Installation) -> None:
    store = installation.store
    archive = await changed_archive(installation, claiming)
    ann = (await installation.importer.take_in(archive, admit=[ANNS])).tenant_id
    unsettled = UnsettledMessages(store.database, store.make_id)
    # What was said there is kept, by a channel of no provider.
    for conversation in ("cnv_more", "cnv_own"):
        place = await store.admin.fetchrow(
            "select c.channel, c.account, c.peer, i.state from conversations c"
            " join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id where c.id = $1",
            conversation,
        )
        assert place is not None
        assert tuple(place)[:2] == (STAND_IN, "")
        assert place["peer"].startswith(f"{CHANNEL}:{ACCOUNT}:+1555777000")
        assert place["state"] == "stopped"
        # A message there that the operator sends again stays here, whatever the archive says of it.
        assert await unsettled.resend(ann, conversation.replace("cnv", "out")) == (Settlement.RESENT, conversation)
    home = await store.one("select c.peer from conversations c where c.id = home_conversation($1, '')", ann)
    assert home == ANN
    assert await store.db.identities.column("user_key", tenant_id=ann, state="active") == [ANN]
    assert await store.db.recipients.column("channel", tenant_id=ann) == [STAND_IN]
    assert await store.db.recipients.column("open", tenant_id=ann) == [False]
    assert await store.column("select arguments::text from undo_records where tenant_id = $1", ann) == ["{}"]
    assert await store.db.undo_records.column("undone", tenant_id=ann) == [True]


def naming_anothers_messages(contents: Contents) -> None:
    """Have Ann name somebody else's messages at the provider as hers."""
    for table in ("inbound", "outbound_parts", "deliveries"):
        keep(contents, table, [row | {"provider_id": "SM-bobs"} for row in rows_of(contents, table)])
    keep(contents, "outbound_parts", [row | {"ref": "bobs.1"} for row in rows_of(contents, "outbound_parts")])


async def test_an_unsigned_archive_deletes_no_messages_at_a_provider(installation: Installation) -> None:
    eraser, store = CopyEraser(installation.store.database, {}), installation.store
    archive = await changed_archive(installation, naming_anothers_messages)
    await installation.importer.take_in(archive, admit=[ANNS])
    assert await eraser.erase(installation.ann, NOW) == Erased(gone=0, left=0)
    # Nor is a report of how Bob's message fared hers.
    found = (
        "select tenant_id from find_part($1, $2, 'bobs.1', '') union select tenant_id from find_part($1, $2, '', $3)"
    )
    assert await store.column(found, CHANNEL, ACCOUNT, "SM-bobs") == []


async def test_an_unsigned_archive_makes_nobodys_message_one_that_came_before(installation: Installation) -> None:
    archive = await changed_archive(installation, claiming)
    store = installation.store
    await installation.importer.take_in(archive, admit=[ANNS])
    # The messages of somebody who is deleted count as received, so that they do not come back by them.
    installation.clock.move(timedelta(hours=1))
    assert await installation.delete() is not None
    await store.inbox.accept(message("My PIN is 1234", OTHERS, "SM-pin"))
    assert await store.db.inbound.count(text="My PIN is 1234") == 1


async def test_what_this_installation_signed_keeps_its_messages_at_the_provider(installation: Installation) -> None:
    eraser = CopyEraser(installation.store.database, {})
    before = await eraser.erase(installation.ann, NOW)
    assert before.left > 0
    archive = await installation.archive()
    await installation.delete()
    assert (await installation.importer.take_in(archive)).left == ()
    assert await eraser.erase(installation.ann, NOW) == before


async def test_nobody_becomes_the_owner_by_an_unsigned_archive(installation: Installation) -> None:
    def owning(contents: Contents) -> None:
        [person] = rows_of(contents, "tenants")
        keep(contents, "tenants", [person | {"role": "owner", "tier": "gold"}])

    archive = await changed_archive(installation, owning)
    assert (await installation.importer.take_in(archive, admit=[ANNS])).role is PersonRole.MEMBER
    assert await installation.store.column(
        "select role || tier from tenants where tenant_id = $1", installation.ann
    ) == ["member"]


@pytest.mark.parametrize("change", [claiming, without_signature])
async def test_an_unsigned_archive_is_taken_in_only_with_a_confirmed_address(
    installation: Installation, change: Change
) -> None:
    archive = await changed_archive(installation, change)
    assert not archive.signed
    before = await installation.store.everything()
    with pytest.raises(Unconfirmed) as refused:
        await installation.importer.take_in(archive)
    assert ANNS in refused.value.addresses
    with pytest.raises(ArchiveRefused, match=r"has no address sms:\+1999"):
        await installation.importer.take_in(archive, admit=[ANNS, "sms:+1999"])
    assert await installation.store.everything() == before
    assert (await installation.importer.take_in(archive, admit=[ANNS])).tenant_id == installation.ann
    # A stranger, whom nobody let in, would be deleted, or let in by a code.
    admitted = await installation.store.column(
        "select distinct admitted from identities where tenant_id = $1", installation.ann
    )
    assert admitted == ["operator"]


async def test_the_operator_may_confirm_each_address(installation: Installation) -> None:
    archive = await changed_archive(installation, claiming)
    imported = await installation.importer.take_in(archive, admit=[ANNS, f"sms:{OTHERS}"])
    assert imported.left == ()
    kept = await installation.store.db.conversations.one("identity_id", id="cnv_more")
    assert kept == "idn_more"


@pytest.mark.parametrize("row", [["sms"], {"id": "idn_more", "channel": "sms", "account": "", "user_key": 15557770001}])
async def test_an_identity_that_is_not_as_it_is_exported_is_refused(
    installation: Installation, row: JsonObject
) -> None:
    def odd(contents: Contents) -> None:
        keep(contents, "identities", [*rows_of(contents, "identities"), row])

    archive = await changed_archive(installation, odd)
    with pytest.raises(ArchiveRefused, match="do not fit together"):
        await installation.importer.take_in(archive, admit=[ANNS])


@pytest.mark.parametrize("signature", [b"", b"0" * 64, b"0" * 5000, "é".encode()], ids=range(4))
async def test_another_signature_counts_as_none(installation: Installation, signature: bytes) -> None:
    path = await installation.export()
    assert open_archive(path, installation.keys).signed

    def forging(contents: Contents) -> None:
        contents[SIGNATURE] = signature

    assert not open_archive(rewritten(path, forging), installation.keys).signed


async def test_one_changed_byte_of_the_manifest_ends_its_signature(installation: Installation) -> None:
    path = await installation.export()
    assert open_archive(rewritten(path, lambda contents: None), installation.keys).signed

    def later(contents: Contents) -> None:
        contents[MANIFEST] = contents[MANIFEST].replace(b'"person"', b' "person"')

    assert not open_archive(rewritten(path, later), installation.keys).signed


async def test_an_archive_of_another_installation_is_not_signed_here(installation: Installation) -> None:
    path = await installation.export()
    installation.secrets[:] = [SecretKey("other", b"o" * 32)]
    assert not open_archive(path, installation.keys).signed


async def test_an_archive_outlives_a_change_of_keys(installation: Installation) -> None:
    path = await installation.export()
    await installation.delete()
    installation.secrets.insert(0, SecretKey("newer", b"n" * 32))
    archive = open_archive(path, installation.keys)
    assert archive.signed
    assert (await installation.importer.take_in(archive)).left == ()
