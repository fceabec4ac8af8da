        select 'household news', clock_timestamp() where exists (select from household_news)
