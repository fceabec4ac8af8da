-- The turns of runs: begun in a conversation of their person, and ended with what is told.

-- Returns the conversation for unprompted messages, among the channels that are on (none named: all): never one with a
-- program.
create function home_conversation(p_tenant text, p_channel text, p_on text[] default '{}')
returns text
language sql stable as $$
    select c.id from conversations c
    join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
    join tenants t on t.tenant_id = c.tenant_id
    where c.tenant_id = p_tenant and i.state = 'active' and not is_one_way(c.channel, c.account)
      and c.channel <> 'mcp' and (p_on = '{}' or c.channel = any (p_on))
    order by (c.channel = p_channel) desc, (c.channel = t.preferred_channel) desc, (c.thread = '') desc,
             c.last_inbound_at desc nulls last, c.id
    limit 1
$$;

-- Records that a run's turn is running, and fixes the conversation in which its person is addressed.
create function begin_run(p_tenant text, p_turn text, p_on text[] default '{}')
returns table (run_id text, history jsonb, conversation_id text)
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- Whose run it is, that ability returns it by their sql/begin_run.sql.
end $$;

-- Records the end of a run's turn, in the same transaction; even_waiting: of a run that waits for its person, too.
-- Repeating it changes nothing. Returns whether what began the run is disabled, after so many failures in a row.
create function note_run(p_tenant text, p_turn text, p_note jsonb)
returns boolean
language plpgsql as $$
begin
    perform set_config('onevalet.tenant', p_tenant, true);
    -- Whose run it is, that ability notes it by their sql/note_run.sql.
    return false;
end $$;

-- Returns how urgent that is which a run tells its person; null where nothing says so.
create function urgency_of_run(p_tenant text, p_run text)
returns text
language plpgsql stable as $$
begin
    return (select w.urgency from (
        select null::text as urgency where false
        -- The urgency of their runs comes from their sql/urgency.sql.
        ) w limit 1);
end $$;
