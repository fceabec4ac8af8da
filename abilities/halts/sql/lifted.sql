        select max(h.lifted_at) from halts h
