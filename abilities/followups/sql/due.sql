        -- A follow-up is looked up for each thing that is still ahead. As a join, all follow-ups that ever were would be read.
        select 'followups', clock_timestamp()
        where exists (select from memories m where m.happens_at > p_now and m.valid_to is null and not m.held
                      and (select true from followups f where f.tenant_id = m.tenant_id and f.memory_id = m.id) is null
                      and not exists (select from followups f where f.tenant_id = m.tenant_id and f.state = 'proposed'
                                      and f.digest_at > p_now)
                      and not is_followup_paused(m.tenant_id))
           or exists (select from followups f where f.state in ('proposed', 'kept') and not exists (
                      select from memories m where m.tenant_id = f.tenant_id and m.id = f.memory_id
                      and m.valid_to is null) and not is_followup_paused(f.tenant_id))
        union all
        select 'followups', clock_timestamp() + (least(
            (select min(f.digest_at) from followups f where f.state = 'proposed' and f.digest_at > p_now),
            (select min(f.ask_at) from followups f where f.state = 'proposed' and f.digest_at <= p_now
             and not is_followup_paused(f.tenant_id))) - p_now)
        union all
        select 'followups', min(c.next_attempt_at) from followup_choices c where c.next_attempt_at > clock_timestamp()
