-- A message that gets no turn may still get a sentence, once per place and reason: in a group, for example,
-- where we only say that we talk in direct chats. Strangers hear nothing (promise 12).
create function say_once(
    p_channel text, p_account text, p_peer text, p_thread text, p_user_key text, p_reason text,
    p_text text, p_outbound text, p_new_conversation text)
returns text
language plpgsql as $$
declare
    v_tenant text;
    v_identity text;
    v_conversation text;
begin
    select f.tenant_id, f.identity_id into v_tenant, v_identity
    from find_identity(p_channel, p_account, p_user_key) f;
    perform set_config('onevalet.tenant', coalesce(v_tenant, ''), true);
    if not exists (select 1 from identities i where i.tenant_id = v_tenant and i.id = v_identity
                   and i.state = 'active' and i.admitted <> '') then
        return null;
    end if;
    if not ignore_message(p_channel, p_account, array['said:' || p_reason || ':' || p_peer], p_reason) then
        return null;
    end if;
    v_conversation := open_conversation(
        v_tenant, v_identity, p_channel, p_account, p_peer, p_thread, p_new_conversation);
    perform owe(v_tenant, v_conversation, null,
                jsonb_build_array(jsonb_build_object('id', p_outbound, 'kind', 'reply', 'text', p_text)));
    return v_conversation;
end $$;
