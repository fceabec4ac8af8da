        select 'joint consents', clock_timestamp() where exists (select from find_joint(p_now, 1))
