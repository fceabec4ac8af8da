    perform keep_receipts(p_tenant, p_turn);
