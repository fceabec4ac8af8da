    if v.command ->> 'name' in ('halt_all', 'lift') then
        perform take_halt_word(v_tenant, v_conversation, v.id, v.outbound, v.channel, v.command);
    elsif is_halted() then
        perform tell_of_halt(v_tenant, v_conversation);
    end if;
