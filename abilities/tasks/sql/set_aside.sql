    select 'task', count(*), 'tasks retry' from tasks t where t.set_aside <> ''
    union all
    select 'notice', count(*), 'tasks retry' from run_notices n where n.state = 'failed'
