-- A press of a button is no message: channels do not publish it. A press belongs to the turn of what it decided, which
-- it does not keep from being deleted with its run.
create or replace function prune_runs(p_kept interval, p_limit int)
returns table (pruned bigint, left_over bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_run record;
    v_pruned bigint := 0;
begin
    for v_run in select r.tenant_id, r.id, r.turn_id from task_runs r
                 where r.finished_at < clock_timestamp() - p_kept
                 order by r.finished_at limit p_limit for update skip locked
    loop
        if v_run.turn_id is not null then
            update history h set turn_id = null where h.tenant_id = v_run.tenant_id and h.turn_id = v_run.turn_id;
            update outbound o set turn_id = null where o.tenant_id = v_run.tenant_id and o.turn_id = v_run.turn_id;
            update inbound i set turn_id = null where i.tenant_id = v_run.tenant_id and i.turn_id = v_run.turn_id;
            delete from lanes l where l.tenant_id = v_run.tenant_id and l.id = v_run.id;
        end if;
        delete from task_runs r where r.tenant_id = v_run.tenant_id and r.id = v_run.id;
        v_pruned := v_pruned + 1;
    end loop;
    return query select v_pruned, greatest(0, p_limit - v_pruned);
end $$;

create or replace function note_received()
returns trigger
language plpgsql as $$
begin
    if (new.text <> '' or new.media <> '[]') and wants_channel_events(new.tenant_id) then
        perform publish_event(new.tenant_id, c.channel, new.id, '', 'message.received',
            jsonb_build_object('message_id', new.id, 'conversation_id', new.conversation_id, 'text', new.text,
                               'media', jsonb_array_length(new.media)), new.received_at)
        from conversations c where c.tenant_id = new.tenant_id and c.id = new.conversation_id
          and wants_channel_event(new.tenant_id, c.channel, 'message.received');
    end if;
    return null;
end $$;
