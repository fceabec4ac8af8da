    delete from memories m using links l
    where m.tenant_id = p_tenant and l.tenant_id = p_tenant and l.id = p_link and (
        m.turn_id in (select t.id from turns t where t.tenant_id = p_other)
        or m.created_at > l.linked_at and m.kind <> 'told' and m.turn_id is not null);
    update memories m set superseded_by = null, valid_to = null
    where m.tenant_id in (p_tenant, p_other) and m.superseded_by is not null and not exists (
        select from memories n where n.tenant_id = m.tenant_id and n.id = m.superseded_by);
