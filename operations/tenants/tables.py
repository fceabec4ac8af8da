"""The treatment of each table when a person's data is exported and imported; tests compare it with the schema."""

from collections.abc import Mapping

from core.people.table_rules import Archived, Archiving, NewValues
from core.people.tenant_tables import tables_of_abilities, tenant_tables

_LEASE: dict[str, NewValues] = {"owner": {None: None}, "lease_until": {None: None}}
_UNSENT: NewValues = dict.fromkeys(("ready", "sending", "checking"), "failed")

_TOLD = Archiving(Archived.TOLD)
_LEFT_OUT = Archiving(Archived.LEFT_OUT)
_MOVED = Archiving()

_ARCHIVING: Mapping[str, Archiving] = {
    "tenants": Archiving(ended={"tier": {None: ""}}),
    "links": _TOLD,
    "linked_rows": _TOLD,
    "link_codes": _LEFT_OUT,
    "person_audit": _MOVED,
    "identities": _MOVED,
    "recipients": _MOVED,
    "conversations": _MOVED,
    "lanes": Archiving(
        ended=_LEASE
        | {"pending": {None: False}, "pending_since": {None: None}, "not_before": {None: None}, "process": {None: None}}
    ),
    "turns": Archiving(ended={"state": {"running": "interrupted", "waiting": "interrupted"}}),
    "inbound": Archiving(ended={"state": {"waiting": "ignored", "taken": "ignored"}}),
    "inbox_keys": _MOVED,
    "files": _MOVED,
    "inbound_files": _MOVED,
    "steps": _MOVED,
    "prompts": _LEFT_OUT,
    "undo_records": _MOVED,
    "history": _MOVED,
    "outbound": Archiving(ended=_LEASE | {"state": _UNSENT}),
    "outbound_parts": Archiving(ended={"state": _UNSENT}),
    "deliveries": _MOVED,
    "message_words": _MOVED,
    "stored_collections": _MOVED,
    "stored_values": _MOVED,
    "data_keys": _LEFT_OUT,
    "credentials": Archiving(Archived.TOLD, ("credentials_json", "key_version", "refreshed_by", "refreshing_until")),
    "console_links": _LEFT_OUT,
    "console_sessions": _LEFT_OUT,
    "client_tokens": Archiving(Archived.TOLD, ("token_hash",)),
    "console_looks": _MOVED,
    "console_actions": _MOVED,
    "export_links": _LEFT_OUT,
    "spending": _MOVED,
    "usage_days": _MOVED,
    "reservations": _LEFT_OUT,
    "segment_days": _MOVED,
    "profile_facts": _MOVED,
    "profile_jobs": _LEFT_OUT,
    "pool_entries": Archiving(
        ended={
            "status": dict.fromkeys(
                ("WAITING_FOR_INPUT", "WAITING_FOR_APPROVAL", "WAITING_FOR_ACCOUNT", "PAUSED"), "CANCELLED"
            )
        }
    ),
    "questions": Archiving(secret=("token",), ended={"state": {"open": "closed"}}),
    "question_cards": _MOVED,
    "account_prompts": _LEFT_OUT,
    "approvals": Archiving(secret=("token", "confirm_hash"), ended={"state": {"pending": "cancelled"}}),
    "approval_codes": _LEFT_OUT,
    "approval_audit": _MOVED,
    "approval_cards": _MOVED,
    "redraws": _LEFT_OUT,
    "standing_consents": Archiving(ended={"state": {"active": "ended"}}),
    "consent_uses": _MOVED,
    "notifications": Archiving(ended={"state": {"held": "failed", "queued": "failed"}}),
}
"""Every table of the spine."""


def archive_rules() -> Mapping[str, Archiving]:
    """Return the rule of each table of people."""
    return {**_ARCHIVING, **{table.name: table.archive for table in tables_of_abilities()}}


def exported_tables() -> tuple[str, ...]:
    """Return the tables that an archive has, parents first."""
    rules = archive_rules()
    return tuple(table for table in tenant_tables() if rules[table].how != Archived.LEFT_OUT)


def imported_tables() -> tuple[str, ...]:
    """Return the tables whose archived rows are taken in, parents first."""
    rules = archive_rules()
    return tuple(table for table in exported_tables() if rules[table].how == Archived.MOVED)
