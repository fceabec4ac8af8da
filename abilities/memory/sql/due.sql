        -- Not all that wait are read: of those to come the first, and of those whose time has come the leases, as all are
        -- held then. now(), since an index serves no condition with clock_timestamp().
        select 'memory', case
            when exists (select from memory_jobs m where m.not_before <= now()
                         and (m.lease_until is null or m.lease_until < clock_timestamp())) then clock_timestamp()
            else least((select min(m.not_before) from memory_jobs m where m.not_before > now()),
                       (select min(m.lease_until) from memory_jobs m where m.not_before <= now())) end
        union all
        -- Named while anything is unread: how long people must be quiet is for those who claim.
        select 'talks', case
            when exists (select from profile_jobs j where j.not_before <= now()
                         and (j.lease_until is null or j.lease_until < clock_timestamp())) then clock_timestamp()
            else least((select min(j.not_before) from profile_jobs j where j.not_before > now()),
                       (select min(j.lease_until) from profile_jobs j where j.not_before <= now())) end
