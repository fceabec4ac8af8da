        select 'household news', clock_timestamp()
        where exists (select from household_news) or exists (select from household_limits l where l.state = 'lift')
