        insert into joint_consents (tenant_id, approval_id, other_id, other_name, summary, shown, form, second_id, made_at)
        select p_tenant, p_approval ->> 'id', w.also ->> 'id', w.also ->> 'name', w.also ->> 'summary', w.also -> 'shown',
               w.also -> 'form', 'apr_' || left(encode(sha256(convert_to(
                   concat_ws(chr(31), 'second', p_tenant, p_approval ->> 'id'), 'UTF8')), 'hex'), 26),
               (p_approval ->> 'created_at')::timestamptz
        from (select p_approval -> 'also' as also) w where jsonb_typeof(w.also) = 'object'
        on conflict do nothing;
