-- What an operator accepted of others' definitions: the tools of MCP servers, and skills. Nothing else is used of them.
create table accepted_definitions (
    kind        text not null check (kind in ('mcp', 'skill')),
    -- The MCP server's name, or the skill's.
    source      text not null,
    -- The tool's name at its server; empty for a skill.
    name        text not null,
    -- SHA-256 of what was accepted, as it came.
    hash        text not null,
    definition  jsonb not null,
    accepted_at timestamptz not null default clock_timestamp(),
    primary key (kind, source, name)
);
select shared_table('accepted_definitions', 'select, insert, update, delete');
