"""The tables that belong to a tenant, in one list: merge, export and delete walk it, tests hold it true."""

TENANT_TABLES = (
    "tenants",
    "identities",
    "conversations",
    "lanes",
    "turns",
    "inbound",
    "inbox_keys",
    "steps",
    "history",
    "outbound",
    "outbound_parts",
    "deliveries",
    "stored_collections",
    "stored_values",
    "data_keys",
    "credentials",
    "spending",
    "reservations",
    "pool_entries",
)
"""Parents before children, so that rows may be copied in this order and deleted in the reverse."""
