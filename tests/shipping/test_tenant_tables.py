"""Whoever adds a table of a person's says what an export and an import do with it."""

from core.people.tenant_tables import TENANT_TABLES
from core.tenants.tables import ARCHIVING, EXPORTED, IMPORTED


def test_every_table_says_what_an_export_does_with_it() -> None:
    assert set(ARCHIVING) == set(TENANT_TABLES)
    assert set(IMPORTED) < set(EXPORTED)
    # Parents first, as rows are taken in.
    assert [table for table in TENANT_TABLES if table in EXPORTED] == list(EXPORTED)
