        select g.tenant_id from group_chats g
