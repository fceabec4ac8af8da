    perform move_group(p_channel, p_account, p_old, p_new);
