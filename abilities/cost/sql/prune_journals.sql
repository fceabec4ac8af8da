    delete from spared_calls s where s.day < v_upto::date;
