"""The shape of a database, as code that works on it sees it: what it calls, and what it reads and writes."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import asyncpg

PREVIOUS_SHAPE = Path(__file__).parent / "previous.json"
"""The shape that the previous release made. Written by `python -m tests.upgrade.previous`; missing before the first."""

_FUNCTIONS = """
select p.oid::regprocedure::text as name, p.proname::text as called, p.pronargdefaults as optional,
    pg_get_function_result(p.oid) as result, argument.named as argument, argument.is_result
from pg_proc p left join lateral (
    select concat_ws(' ', name, format_type(type, null)) as named, coalesce(mode, 'i') in ('o', 't') as is_result, place
    from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]), p.proargnames, p.proargmodes)
        with ordinality as arguments(type, name, mode, place)
) argument on true
where p.pronamespace = 'public'::regnamespace and p.prorettype <> 'trigger'::regtype
    and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
order by 1, argument.place
"""
_FIELDS = """
select case c.relkind when 'c' then 'type' else 'table' end as kind, c.relname::text as relation,
    a.attname::text as name, format_type(a.atttypid, a.atttypmod) as type,
    a.attnotnull and not a.atthasdef as is_needed
from pg_attribute a join pg_class c on c.oid = a.attrelid
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'c') and a.attnum > 0
    and not a.attisdropped
order by 1, 2, a.attnum
"""


@dataclass(slots=True)
class Function:
    """A function: its parameters in order, of which the last `optional` have defaults, and what it returns."""

    name: str
    optional: int
    arguments: list[str] = field(default_factory=list)
    result: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Shape:
    """What code relies on. Columns by relation and name: their type, with ` needed` where a new row must have one."""

    newest: int = 0
    """The last migration."""
    functions: dict[str, Function] = field(default_factory=dict)
    tables: dict[str, dict[str, str]] = field(default_factory=dict)
    types: dict[str, dict[str, str]] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the shape as JSON, a line for each function, table and type."""
        parts = []
        for kind, value in asdict(self).items():
            lines = (
                [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in value.items()] if kind != "newest" else []
            )
            parts.append(f'"{kind}": ' + ("{\n" + ",\n".join(lines) + "\n}" if lines else json.dumps(value)))
        return "{\n" + ",\n".join(parts) + "\n}\n"

    @classmethod
    def from_json(cls, text: str) -> "Shape":
        """Parse the text of `to_json`."""
        parts = json.loads(text)
        functions = {name: Function(**function) for name, function in parts["functions"].items()}
        return cls(parts["newest"], functions, parts["tables"], parts["types"])


async def read_shape(connection: "asyncpg.Connection[asyncpg.Record]") -> Shape:
    """Return the shape of a database."""
    await connection.execute("set search_path = public")
    shape = Shape(await connection.fetchval("select max(number) from schema_migrations"))
    for row in await connection.fetch(_FUNCTIONS):
        function = shape.functions.setdefault(row["name"], Function(row["called"], row["optional"]))
        if row["is_result"]:
            function.result.append(row["argument"])
        elif row["argument"]:
            function.arguments.append(row["argument"])
        if not row["result"].startswith(("TABLE", "record")):
            function.result = [row["result"]]
    for row in await connection.fetch(_FIELDS):
        fields = (shape.types if row["kind"] == "type" else shape.tables).setdefault(row["relation"], {})
        fields[row["name"]] = row["type"] + (" needed" if row["is_needed"] else "")
    return shape


def breaks(old: Shape, new: Shape) -> list[str]:
    """Return what code that was written for the old shape would miss in the new one, a phrase for each."""
    return [*_broken_functions(old, new), *_broken_tables(old, new), *_broken_types(old, new)]


def _broken_functions(old: Shape, new: Shape) -> list[str]:
    return [
        f"function {name} cannot be called, or returns something else"
        for name, function in old.functions.items()
        if not any(_serves(function, other) for other in new.functions.values())
    ]


def _serves(old: Function, new: Function) -> bool:
    """Return whether every call of the old function is one of the new."""
    needed = len(old.arguments) - old.optional
    return (
        old.name == new.name
        and new.arguments[: len(old.arguments)] == old.arguments
        and len(new.arguments) - new.optional <= needed
        and set(old.result) <= set(new.result)
    )


def _broken_tables(old: Shape, new: Shape) -> list[str]:
    """Compare what is read and written: a column may be added where it needs no value, and none may go or change."""
    found: list[str] = []
    for table, columns in old.tables.items():
        now = new.tables.get(table)
        if now is None:
            found.append(f"table {table} is gone")
            continue
        for column, kind in columns.items():
            if column not in now:
                found.append(f"column {table}.{column} is gone")
            elif now[column] not in (kind, kind.removesuffix(" needed")):
                found.append(f"column {table}.{column} was {kind}, and is {now[column]}")
        found += [
            f"column {table}.{column} is new and has no default"
            for column, kind in now.items()
            if column not in columns and kind.endswith(" needed")
        ]
    return found


def _broken_types(old: Shape, new: Shape) -> list[str]:
    """Compare composite types. Code sends arrays of some, by place: they stay as they are. Others may get fields."""
    arrays = {argument.split()[-1] for function in old.functions.values() for argument in function.arguments}
    found = []
    for name, fields in old.types.items():
        now, before = list(new.types.get(name, {}).items()), list(fields.items())
        if (now if f"{name}[]" in arrays else now[: len(before)]) != before:
            found.append(f"type {name} is gone or has other fields")
    return found
