        select from halts h where h.lifted_at is null
