-- The other end of a conversation, where that is somebody who is no person of ours: a channel, an account of ours and a
-- user key, as an identity's.

-- Returns whether an address may be written to: 'active', or what its person or its provider said.
create function state_of_recipient(p_tenant text, p_recipient text)
returns text
language sql stable as $$
    select coalesce((select f.state from recipients r
                     cross join lateral find_consent(r.channel, r.account, r.user_key) f
                     where r.tenant_id = p_tenant and r.id = p_recipient), 'active')
$$;

-- Tells those who wrote to an address that it can be written to no more.
create function tell_of_recipient(p_channel text, p_account text, p_user_key text, p_state text)
returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    if p_state = 'active' then
        return;
    end if;
    insert into notifications (tenant_id, id, category, urgency, title, notice, notice_channel, text, dedupe_key, state,
                               at, not_before)
    select r.tenant_id, 'ntf_' || replace(gen_random_uuid()::text, '-', ''), 'answer', 'normal', r.name,
           'recipient_stopped', p_channel, '', 'recipient:' || r.id || ':' || p_state, 'held', clock_timestamp(),
           '-infinity'
    from recipients r
    where r.channel = p_channel and r.account = p_account and r.user_key = p_user_key
      and not exists (select from notifications n where n.tenant_id = r.tenant_id
                      and n.dedupe_key = 'recipient:' || r.id || ':' || p_state
                      and n.at > clock_timestamp() - interval '1 day');
end $$;
