    if p_arrival -> 'brings' ? 'place' then
        perform note_place(p_tenant, p_arrival);
    end if;
