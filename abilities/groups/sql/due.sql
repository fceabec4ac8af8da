        select 'groups', min(g.next_attempt_at) from group_chats g where g.state = 'asked'
