        select from mail_watches w
        where w.tenant_id = p_tenant and w.service = p_service and w.account_name = p_account
          and w.problem <> 'no_mailbox'
