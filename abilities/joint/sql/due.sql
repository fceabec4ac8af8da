        select 'joint consents', min(f.due_at) from find_joint(p_now) f
