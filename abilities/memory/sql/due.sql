        select 'memory', case
            when exists (select from memory_jobs m where m.not_before <= clock_timestamp()
                         and (m.lease_until is null or m.lease_until < clock_timestamp())) then clock_timestamp()
            else (select min(greatest(m.not_before, m.lease_until)) from memory_jobs m) end
        union all
        -- Named while anything is unread: how long people must be quiet is for those who claim.
        select 'talks', min(greatest(j.not_before, j.lease_until)) from profile_jobs j
