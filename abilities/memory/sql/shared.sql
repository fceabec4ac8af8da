        select m.shared_id from memory_members m
