"""The SQL around a dump: the clearing before it, and the checks after it in the same transaction. Pure."""

from collections.abc import Sequence

from core.db.migrate import DEFAULT_RIGHTS
from core.db.serving import ROLE
from operations.backups.tables import TEXT_FORMS, sum_of
from operations.backups.types import BackupManifest

_CLEAR = """
do $$
declare
    v_name text;
begin
    for v_name in select c.oid::regclass::text from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
          and not exists (select from pg_depend d
                          where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    loop
        execute format('drop table if exists %s cascade', v_name);
    end loop;
    for v_name in select p.oid::regprocedure::text from pg_proc p
        where p.pronamespace = 'public'::regnamespace
          and not exists (select from pg_depend d
                          where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
    loop
        execute format('drop routine if exists %s cascade', v_name);
    end loop;
    for v_name in select t.oid::regtype::text from pg_type t
        left join pg_class c on c.oid = t.typrelid
        where t.typnamespace = 'public'::regnamespace and (t.typtype in ('e', 'd') or c.relkind = 'c')
          and not exists (select from pg_depend d
                          where d.classid = 'pg_type'::regclass and d.objid = t.oid and d.deptype = 'e')
    loop
        execute format('drop type if exists %s cascade', v_name);
    end loop;
end $$;
"""
_CHECK = """
do $check$
declare
    v_table record;
    v_found record;
begin
    for v_table in select * from (values {sums}) v (name, query, rows, hashes) loop
        execute v_table.query into v_found;
        if (v_found.rows, v_found.hashes) is distinct from (v_table.rows, v_table.hashes) then
            raise exception 'table % is not what was backed up: % rows instead of %, or other rows',
                v_table.name, v_found.rows, v_table.rows;
        end if;
    end loop;
end $check$;
"""


def clearing() -> str:
    """Return the SQL that drops all our objects in a database, and leaves extensions."""
    return f"set local search_path = public;\nset local client_min_messages = warning;\n{_CLEAR}\n"


def finishing(manifest: BackupManifest, owned: Sequence[str]) -> str:
    """Return the SQL that gives tables to the restoring role, and fails if rows differ from the manifest."""
    policies = [
        f'create policy owner on public."{table}" to current_user using (true) with check (true);' for table in owned
    ]
    sums = ", ".join(
        f"({_text(table.name)}, {_text(sum_of(table.name))}, {table.rows}::bigint, {_text(table.hashes)})"
        for table in manifest.tables
    )
    gone = ", ".join(map(_text, manifest.gone))
    forget = [f"delete from files where key = any (array[{gone}]::text[]);"] if gone else []  # noqa: S608 - constants
    return "\n".join(
        [
            "",
            "set local search_path = public;",
            "set local row_security = on;",  # which the dump turns off
            *policies,
            f"grant usage on schema public to {ROLE};",
            DEFAULT_RIGHTS,
            TEXT_FORMS,
            _CHECK.format(sums=sums),
            *forget,
            "",
        ]
    )


def _text(value: str) -> str:
    """Return a constant for SQL."""
    return "'" + value.replace("'", "''") + "'"
