        select 'accounts', min(c.attend_at) from credentials c where c.attend_at is not null
