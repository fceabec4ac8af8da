    delete from followups f using turns t
    where t.finished_at > v_from and t.finished_at <= v_upto and f.tenant_id = t.tenant_id and f.turn_id = t.id
      and f.state not in ('proposed', 'kept') and f.happens_at < v_upto;
