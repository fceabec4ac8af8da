"""What becomes of each table when a person's data is exported and imported; tests compare it with the schema."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.people.tenant_tables import TENANT_TABLES

type NewValues = Mapping[str | None, str | bool | None]


class Archived(StrEnum):
    """Whether an archive has a table's rows, and whether an import takes them in."""

    MOVED = "moved"
    """They are exported, and imported elsewhere."""
    TOLD = "told"
    """They are exported to be read: elsewhere they would mean nothing."""
    LEFT_OUT = "left_out"
    """Secrets, what ends in minutes, what is computed again, and copies that are kept to find faults."""


@dataclass(frozen=True, slots=True)
class Archiving:
    """A table's rule. `secret` columns are in no archive.

    `ended` says what becomes of rows that are under way where they are imported: the first installation finishes them.
    It maps a column to its new values by the old ones; None stands for every value.
    """

    how: Archived = Archived.MOVED
    secret: tuple[str, ...] = ()
    ended: Mapping[str, NewValues] = field(default_factory=dict)


_LEASE: dict[str, NewValues] = {"owner": {None: None}, "lease_until": {None: None}}
_UNSENT: NewValues = dict.fromkeys(("ready", "sending", "checking"), "failed")

_TOLD = Archiving(Archived.TOLD)
_LEFT_OUT = Archiving(Archived.LEFT_OUT)
_MOVED = Archiving()

ARCHIVING: Mapping[str, Archiving] = {
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
    "mail_watches": _TOLD,
    "connect_links": _LEFT_OUT,
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
    "event_sources": Archiving(Archived.TOLD, ("secret_hash", "key_version", "sealed")),
    "events": _MOVED,
    "event_work": _LEFT_OUT,
    "approvals": Archiving(secret=("token", "confirm_hash"), ended={"state": {"pending": "cancelled"}}),
    "approval_codes": _LEFT_OUT,
    "approval_audit": _MOVED,
    "approval_cards": _MOVED,
    "redraws": _LEFT_OUT,
    "standing_consents": Archiving(ended={"state": {"active": "ended"}}),
    "consent_uses": _MOVED,
    "memory_versions": _MOVED,
    "memory_sessions": _MOVED,
    "memory_messages": _MOVED,
    "memories": _MOVED,
    "memory_vectors": _LEFT_OUT,
    "memory_terms": _LEFT_OUT,
    "memory_jobs": Archiving(ended=_LEASE),
    "memory_forgettings": _TOLD,
    "memory_recalls": _MOVED,
    "memory_members": _TOLD,
    "tasks": _MOVED,
    "task_runs": Archiving(ended={"state": dict.fromkeys(("QUEUED", "RUNNING", "PENDING_APPROVAL"), "CANCELLED")}),
    "run_notices": Archiving(ended={"state": {"open": "failed"}}),
    "notifications": Archiving(ended={"state": {"held": "failed", "queued": "failed"}}),
}
"""Every table of a tenant."""

EXPORTED = tuple(table for table in TENANT_TABLES if table in ARCHIVING and ARCHIVING[table].how != Archived.LEFT_OUT)
"""The tables that an archive has, parents first."""
IMPORTED = tuple(table for table in EXPORTED if ARCHIVING[table].how == Archived.MOVED)
