    perform leave_shared_memories(p_tenant);
