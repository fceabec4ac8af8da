    if note_task_run(p_tenant, p_turn, p_note) then
        return true;
    end if;
