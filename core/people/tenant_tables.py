"""The tables that belong to a tenant, in a list for merge, export and delete; tests compare it with the schema."""

from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter

from core.language.catalogue import ngettext_noop
from core.people.table_rules import Belonging, Merge, Parent, PersonTable

_MERGE_RULES: Mapping[str, Belonging] = {
    "tenants": Belonging(Merge.PERSON),
    "links": Belonging(Merge.MOVE),
    "linked_rows": Belonging(Merge.MOVE),
    "link_codes": Belonging(Merge.MOVE),
    "person_audit": Belonging(Merge.MOVE),
    "identities": Belonging(Merge.MOVE),
    "recipients": Belonging(Merge.MOVE),
    "conversations": Belonging(Merge.MOVE),
    "lanes": Belonging(Merge.MOVE),
    "turns": Belonging(Merge.MOVE),
    "inbound": Belonging(Merge.MOVE, ngettext_noop("{number} message", "{number} messages")),
    "inbox_keys": Belonging(Merge.MOVE),
    "files": Belonging(Merge.FIRST, ngettext_noop("{number} file", "{number} files")),
    "inbound_files": Belonging(Merge.MOVE),
    "steps": Belonging(Merge.MOVE),
    "prompts": Belonging(Merge.MOVE),
    "undo_records": Belonging(Merge.NUMBER),
    "history": Belonging(Merge.MOVE),
    "outbound": Belonging(Merge.MOVE),
    "outbound_parts": Belonging(Merge.MOVE),
    "deliveries": Belonging(Merge.MOVE),
    "message_words": Belonging(Merge.MOVE),
    "stored_collections": Belonging(Merge.VALUES),
    "stored_values": Belonging(Merge.VALUES, ngettext_noop("{number} kept note", "{number} kept notes")),
    "data_keys": Belonging(Merge.SEALED),
    "credentials": Belonging(Merge.SEALED, ngettext_noop("{number} connected account", "{number} connected accounts")),
    "console_links": Belonging(Merge.DROP),
    "console_sessions": Belonging(Merge.DROP),
    "client_tokens": Belonging(Merge.DROP),
    "console_looks": Belonging(Merge.MOVE),
    "console_actions": Belonging(Merge.MOVE),
    "export_links": Belonging(Merge.DROP),
    "spending": Belonging(Merge.ADD),
    "usage_days": Belonging(Merge.ADD),
    "reservations": Belonging(Merge.MOVE),
    "segment_days": Belonging(Merge.FIRST),
    "profile_facts": Belonging(Merge.NUMBER, ngettext_noop("{number} known fact", "{number} known facts")),
    "profile_jobs": Belonging(Merge.MOVE),
    "pool_entries": Belonging(Merge.MOVE, ngettext_noop("{number} open question", "{number} open questions")),
    "questions": Belonging(Merge.MOVE),
    "question_cards": Belonging(Merge.MOVE),
    "account_prompts": Belonging(Merge.FIRST),
    "approvals": Belonging(
        Merge.MOVE, ngettext_noop("{number} request for approval", "{number} requests for approval")
    ),
    "approval_codes": Belonging(Merge.FIRST),
    "approval_audit": Belonging(Merge.MOVE),
    "approval_cards": Belonging(Merge.MOVE),
    "redraws": Belonging(Merge.MOVE),
    "standing_consents": Belonging(Merge.NUMBER),
    "consent_uses": Belonging(Merge.MOVE),
    "notifications": Belonging(Merge.FIRST),
}
"""Every table of the spine, parents before children."""

_PARTING: Mapping[str, tuple[Parent, ...]] = {
    "identities": (),
    "links": (),
    "linked_rows": (("link_id", "links", "id"),),
    "link_codes": (("identity_id", "identities", "id"),),
    "person_audit": (("identity_id", "identities", "id"),),
    "recipients": (),
    "conversations": (("identity_id", "identities", "id"), ("recipient_id", "recipients", "id")),
    "lanes": (("conversation_id", "conversations", "id"),),
    "turns": (("lane_id", "lanes", "id"),),
    "inbound": (("conversation_id", "conversations", "id"),),
    "inbox_keys": (("inbound_id", "inbound", "id"),),
    "inbound_files": (("inbound_id", "inbound", "id"),),
    "files": (("id", "inbound_files", "file_id"),),
    "steps": (("turn_id", "turns", "id"),),
    "prompts": (("turn_id", "turns", "id"),),
    "undo_records": (("turn_id", "turns", "id"),),
    "history": (("conversation_id", "conversations", "id"),),
    "outbound": (("conversation_id", "conversations", "id"),),
    "outbound_parts": (("outbound_id", "outbound", "id"),),
    "deliveries": (("outbound_id", "outbound", "id"),),
    "message_words": (("conversation_id", "conversations", "id"),),
    "reservations": (("turn_id", "turns", "id"),),
    "profile_facts": (),
    "profile_jobs": (("turn_id", "turns", "id"),),
    "pool_entries": (("turn_id", "turns", "id"),),
    "questions": (("turn_id", "turns", "id"),),
    "question_cards": (("outbound_id", "outbound", "id"),),
    "approvals": (("turn_id", "turns", "id"),),
    "approval_codes": (("holder", "approvals", "id"),),
    "approval_audit": (("approval_id", "approvals", "id"),),
    "approval_cards": (("outbound_id", "outbound", "id"),),
    "redraws": (("outbound_id", "outbound", "id"),),
    "standing_consents": (("approval_id", "approvals", "id"),),
    "consent_uses": (("consent_id", "standing_consents", "id"),),
    "notifications": (("conversation_id", "conversations", "id"),),
}

_KEPT_APART = frozenset(
    {
        "tenants",
        "data_keys",
        "credentials",
        "console_links",
        "console_sessions",
        "client_tokens",
        "console_looks",
        "console_actions",
        "export_links",
        "stored_collections",
        "stored_values",
        "spending",
        "usage_days",
        "segment_days",
        "account_prompts",
    }
)
"""Tables that a parting handles by itself, or that are computed again."""

_of_abilities: list[PersonTable] = []


def use_tables(tables: Iterable[PersonTable]) -> None:
    """Count these tables of abilities among those of people, instead of those given before."""
    _of_abilities[:] = tables


def tables_of_abilities() -> tuple[PersonTable, ...]:
    """Return the tables that abilities declare."""
    return tuple(_of_abilities)


def merge_rules() -> Mapping[str, Belonging]:
    """Return the rule for merging each table, parents before children."""
    return {**_MERGE_RULES, **{table.name: table.merge for table in _of_abilities}}


def tenant_tables() -> tuple[str, ...]:
    """Return the tables; rows may be copied in this order and deleted in the reverse."""
    return tuple(merge_rules())


def parting_rules() -> Mapping[str, tuple[Parent, ...]]:
    """Return the parents that a row follows when a link is undone, besides recorded rows (`move_apart`).

    Parents first.
    """
    rules = {**_PARTING, **{table.name: table.follows for table in _of_abilities if table.follows is not None}}
    for table in _of_abilities:
        for of, column, own in table.leads:
            rules[of] = (*rules[of], (column, table.name, own))
    above = {table: [parent for _, parent, _ in parents if parent in rules] for table, parents in rules.items()}
    return {table: rules[table] for table in TopologicalSorter(above).static_order()}


def kept_apart() -> frozenset[str]:
    """Return the tables that a parting handles by itself, whose rows are computed again, or which stay."""
    return _KEPT_APART | {table.name for table in _of_abilities if table.follows is None}
