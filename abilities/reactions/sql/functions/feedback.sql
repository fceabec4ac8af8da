-- Returns whether an emoji says that something was liked, null if it says neither.
create function is_liked(p_emoji text)
returns boolean
language sql immutable as $$
    select case when p_emoji = any (array['👍', '❤', '🔥', '🥰', '👏', '🎉', '🤩', '🙏', '👌', '😍', '💯', '🏆', '🤗', '😘', '‼'])
                then true
                when p_emoji = any (array['👎', '🤬', '🤮', '💩', '🤡', '🥱', '💔', '🖕', '😡', ':angry:', ':confused:'])
                then false end
$$;

-- Keeps a change of reactions (p_change: see receive_reaction) to an answer or to news: cards and receipts are no answers.
create function keep_feedback(p_tenant text, p_outbound text, p_change jsonb, p_now timestamptz)
returns void
language plpgsql as $$
begin
    insert into feedback as f (tenant_id, outbound_id, emoji, given, liked, at)
    select p_tenant, o.id, c.emoji, c.given, is_liked(c.emoji), coalesce((p_change ->> 'at')::timestamptz, p_now)
    from outbound o,
         lateral (select r.emoji, false as given from jsonb_array_elements_text(p_change -> 'removed') r (emoji)
                  union all
                  select a.emoji, true from jsonb_array_elements_text(p_change -> 'added') a (emoji)) c
    where o.tenant_id = p_tenant and o.id = p_outbound and o.kind in ('reply', 'notification') and o.actions = '[]'
    on conflict on constraint feedback_pkey do update set given = excluded.given, at = excluded.at
    where excluded.at >= f.at;
end $$;

-- Lists the messages with reactions that were not taken back, the last reaction first, for the operator; ids only.
create function list_feedback(p_limit int)
returns table (tenant_id text, outbound_id text)
language sql stable security definer set search_path = public, pg_temp as $$
    select f.tenant_id, f.outbound_id from feedback f where f.given
    group by f.tenant_id, f.outbound_id order by max(f.at) desc limit p_limit
$$;
