"""Whoever adds a table of a person's says what an export and an import do with it."""

from core.people.tenant_tables import tenant_tables
from operations.tenants.tables import archive_rules, exported_tables, imported_tables


def test_every_table_says_what_an_export_does_with_it() -> None:
    assert set(archive_rules()) == set(tenant_tables())
    assert set(imported_tables()) < set(exported_tables())
    # Parents first, as rows are taken in.
    assert [table for table in tenant_tables() if table in exported_tables()] == list(exported_tables())
