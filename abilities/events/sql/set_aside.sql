    select 'event', count(*), 'events retry' from event_work w where w.state = 'poison'
